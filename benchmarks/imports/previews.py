"""A preview of a checked import: its types, the sizes of its images, and its first items with their images."""

import base64
from collections import Counter

from benchmarks.imports import store as imports_store
from benchmarks.imports.images import Gathered
from benchmarks.imports.staging import Staging
from benchmarks.models import Image
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord
from benchmarks.storage.files import kept
from workers.images import fitted, jpeg, pixels_of

ITEMS, PICTURES = 3, 4  # items shown; images of each
SIDE = 160  # maximum side of an image in pixels: the images stay in the job's report
KINDS, SIZES = 100, 8  # listed


def preview(records: list[ItemRecord], gathered: Gathered, staged: Staging) -> dict:
    """Make a JSON-able preview while the images are still staged. `sizes`: the most frequent, of `size_count`; `bytes`:
    of the original images, each counted once."""
    images = _images(gathered)
    kinds = Counter((record.type, record.subtype) for record in records)
    sizes = Counter((image.width, image.height) for image in images.values())
    return {
        "kinds": [[*kind, count] for kind, count in kinds.most_common(KINDS)],
        "kind_count": len(kinds),
        "sizes": [[*size, count] for size, count in sizes.most_common(SIZES)],
        "size_count": len(sizes),
        "bytes": sum(image.size for image in images.values()),
        "first": [_item(record, images, gathered, staged) for record in records[:ITEMS]],
    }


def _images(gathered: Gathered) -> dict[str, Image]:
    """Return all named images by their content."""
    images = dict(gathered.new)
    known = [sha256 for sha256 in set(gathered.sha256.values()) if sha256 not in images]
    for batch in imports_store.batches(known):
        images |= {image.sha256: image for image in Image.objects.filter(sha256__in=batch)}
    return images


def _item(record: ItemRecord, found: dict[str, Image], gathered: Gathered, staged: Staging) -> dict:
    pictures = []
    for use in record.images[:PICTURES]:
        sha256 = gathered.sha256[use.part]
        path = found[sha256].thumbnail_path
        data = staged.file(path).read_bytes() if sha256 in gathered.new else kept.read(path)
        picture = {"role": use.role, "name": use.name, "source": small(data)}
        pictures.append(picture | _attributes(use))
    captions = [{"role": one.role, "text": one.text} | _attributes(one) for one in record.captions]
    kind = {"type": record.type, "subtype": record.subtype}
    return {"key": record.key, **kind, "captions": captions, "pictures": pictures, "images": len(record.images)}


def small(data: bytes) -> str:
    """Return a checked image as a data URL."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg(fitted(pixels_of(data), SIDE))).decode()}"


def _attributes(part: CaptionRecord | ImageRecord) -> dict:
    return {"attributes": dict(part.attributes)} if part.attributes else {}
