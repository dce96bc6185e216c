"""The texts and pictures behind identities, for one screen or many.

A text that an earlier stage wrote replaces the item's own caption of that role.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from annotation.models import Lease, Task
from annotation.protocols.base import carried_captions
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.sql import fetch
from benchmarks.records import VIDEOS
from workers import limits
from workers.images import are_alike, fitted_size, frame_size, small_size


def _parts(which: str) -> str:
    """Return SQL for items' captions and images, by identity; images with names (plain, framed), pixels, format."""
    return f"""
SELECT item_id, 'caption-' || role || '-' || position, text, NULL, NULL, NULL, NULL, NULL
FROM benchmarks_caption WHERE item_id {which}
UNION ALL
SELECT used.item_id, used.role || '-' || used.position, used.role, image.opaque, used.opaque, image.width, image.height,
  image.format
FROM benchmarks_itemimage used JOIN benchmarks_image image ON image.id = used.image_id
WHERE used.item_id {which}
"""


_PARTS = _parts("= ANY(%(items)s)")
_PARTS_OF_ONE = _parts("= %(item)s")  # used most, because PostgreSQL would plan the other query again at every click
_CAPTIONS = """
SELECT 'caption-' || role || '-' || position, text FROM benchmarks_caption WHERE item_id = %(item)s
"""
_ATTRIBUTE = """
SELECT attributes->%(name)s FROM benchmarks_itemimage WHERE item_id = %(item)s AND role || '-' || position = %(image)s
"""
_EDITS = """
SELECT 'edit-' || id, value FROM annotation_judgment, jsonb_each_text(content->'texts') WHERE id = ANY(%(judgments)s)
"""

# For a caption: text. For an image: url, width and height in pixels; srcset and video, or ""; in a frame, the part
# that is the image (`inside`: left, top, width and height, of 1), and the image’s own `pixels`.
Part = Mapping[str, Any]


class _Stored(NamedTuple):
    """An image of an item: served under `opaque` unchanged, and under `framed` in the frame of the item. A video is
    served under `opaque`, and its poster like an image."""

    role: str
    opaque: str
    framed: str
    width: int
    height: int
    format: str


def parts_of_leases(leases: Sequence[Lease]) -> list[dict[str, Part]]:
    """Return the parts for each lease, by identity. Makes one query; two if an annotator's edit is an option."""
    captions, pictures = _stored_parts({lease.task.item_id for lease in leases})
    edits = _edited_texts(
        {identity for lease in leases for identity in lease.shown if identity.startswith(EDIT_PREFIX)}
    )
    written = {identity: {"text": text} for identity, text in edits.items()}
    return [
        captions[lease.task.item_id]
        | _pictures(pictures[lease.task.item_id], {*lease.task.shows, *lease.shown})
        | _carried(lease.task)
        | written
        for lease in leases
    ]


def _carried(task: Task) -> dict[str, Part]:
    return {identity: {"text": text} for identity, text in carried_captions(task.carried).items()}


def texts_of(task: Task, shown: Iterable[str] = ()) -> dict[str, str]:
    """Return the texts, by identity, of all captions of the task's item, and of edits among the identities `shown`."""
    found = dict(fetch(_CAPTIONS, item=task.item_id))
    found |= carried_captions(task.carried)
    return found | _edited_texts(identity for identity in shown if identity.startswith(EDIT_PREFIX))


def attribute_of(item: int | None, image: str, name: str) -> Any:
    """Return an image's attribute by name, given the image's identity; None if it has none."""
    found = fetch(_ATTRIBUTE, item=item, image=image, name=name)
    return found[0][0] if found else None


def _edited_texts(identities: Iterable[str]) -> dict[str, str]:
    """Return edited texts: `edit-17` is judgment 17's text for the one sentence its protocol lets people edit."""
    judgments = [int(identity.removeprefix(EDIT_PREFIX)) for identity in identities]
    return dict(fetch(_EDITS, judgments=judgments)) if judgments else {}


def _stored_parts(items: Iterable[int]) -> tuple[dict[int, dict[str, Part]], dict[int, dict[str, _Stored]]]:
    """Return each item's captions and images, by identity."""
    captions: dict[int, dict[str, Part]] = defaultdict(dict)
    pictures: dict[int, dict[str, _Stored]] = defaultdict(dict)
    first, *more = items
    rows = fetch(_PARTS, items=[first, *more]) if more else fetch(_PARTS_OF_ONE, item=first)
    for item, identity, said, *names_and_size in rows:
        if None in names_and_size:
            captions[item][identity] = {"text": said}
        else:
            pictures[item][identity] = _Stored(said, *names_and_size)
    return captions, pictures


def _pictures(stored: Mapping[str, _Stored], on_screen: Collection[str]) -> dict[str, Part]:
    """Return an item's images: unchanged if neither role nor size distinguishes one, else all in the same frame.

    An image is compared with the others on the screen, and a single one with those of the item's other tasks.
    """
    beside = [one for identity, one in stored.items() if identity in on_screen]
    compared = beside if len(beside) > 1 else list(stored.values())
    if are_alike((one.role, one.width, one.height) for one in compared):
        return {identity: _picture(one.opaque, one.width, one.height, one) for identity, one in stored.items()}
    size = frame_size((one.width, one.height) for one in stored.values())
    return {
        identity: {**_picture(one.framed, *size, one), "inside": _inside(one, size), "pixels": (one.width, one.height)}
        for identity, one in stored.items()
    }


def _inside(image: _Stored, frame: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return where an image is in a frame: in the middle, as large as fits."""
    fits = min(frame[0] / image.width, frame[1] / image.height)
    width, height = (fits * side / of for side, of in zip((image.width, image.height), frame, strict=True))
    return (1 - width) / 2, (1 - height) / 2, width, height


def _picture(opaque: str, width: int, height: int, of: _Stored) -> Part:
    """Return the picture, marked as safe: its numbers and addresses don't need escaping, which takes time."""
    start, end = _address_around_name("image")
    url = f"{start}{opaque}{end}"
    part = {"url": SafeString(url), "srcset": "", "width": SafeString(width), "height": SafeString(height), "video": ""}
    if ending := VIDEOS.get(of.format):
        start, end = _address_around_name("video", ending)
        part["video"] = SafeString(f"{start}{of.opaque}{end}")
        return part  # its poster is rarely seen
    if widths := _widths(width, height):
        start, end = _address_around_name("small-image")
        part["srcset"] = SafeString(f"{start}{opaque}{end} {widths[0]}w, {url} {widths[1]}w")
    return part


@lru_cache(4096)
def _widths(width: int, height: int) -> tuple[int, int] | None:
    """Return the width of the smaller copy, if there is one, and of the full one."""
    small = small_size((width, height))
    return small and (small[0], fitted_size((width, height), limits.SERVED_SIDE)[0])


@cache
def _address_around_name(view: str, *more: str) -> tuple[str, str]:
    """Return an image's address before and after its opaque name, computed once instead of at every click."""
    name = "0" * 32
    start, _, end = reverse(view, args=[name, *more]).partition(name)
    return start, end
