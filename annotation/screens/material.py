"""The texts and pictures of identities, for one screen or many.

A text that an earlier stage wrote replaces the item's own caption of that role.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from django.urls import reverse
from django.utils.safestring import SafeString

from annotation.models import Lease, Task
from annotation.protocols.base import carried_captions
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.sql import fetch

# Every caption and image of the items, by identity; of an image, where it is served and its pixels.
_PARTS = """
SELECT item_id, 'caption-' || role || '-' || position, text, NULL, NULL FROM benchmarks_caption
WHERE item_id = ANY(%(items)s)
UNION ALL
SELECT used.item_id, used.role || '-' || used.position, image.opaque, image.width, image.height
FROM benchmarks_itemimage used JOIN benchmarks_image image ON image.id = used.image_id
WHERE used.item_id = ANY(%(items)s)
"""
_CAPTIONS = """
SELECT 'caption-' || role || '-' || position, text FROM benchmarks_caption WHERE item_id = %(item)s
"""
_EDITS = """
SELECT 'edit-' || id, value FROM annotation_judgment, jsonb_each_text(content->'texts') WHERE id = ANY(%(judgments)s)
"""

Part = Mapping[str, str]  # of a caption: text; of an image: url, width and height in pixels


def parts_of_leases(leases: Sequence[Lease]) -> list[dict[str, Part]]:
    """For each lease: identity → part. One query, and another if an annotator's edit is among the options."""
    of_item = _parts_of_items({lease.task.item_id for lease in leases})
    edits = _edited_texts(
        {identity for lease in leases for identity in lease.shown if identity.startswith(EDIT_PREFIX)}
    )
    written = {identity: {"text": text} for identity, text in edits.items()}
    return [of_item[lease.task.item_id] | _carried(lease.task) | written for lease in leases]


def _carried(task: Task) -> dict[str, Part]:
    return {identity: {"text": text} for identity, text in carried_captions(task.carried).items()}


def texts_of(task: Task, shown: Iterable[str] = ()) -> dict[str, str]:
    """Identity → text of all captions of the task's item, and of the edits among the identities `shown`."""
    found = dict(fetch(_CAPTIONS, item=task.item_id))
    found |= carried_captions(task.carried)
    return found | _edited_texts(identity for identity in shown if identity.startswith(EDIT_PREFIX))


def _edited_texts(identities: Iterable[str]) -> dict[str, str]:
    """`edit-17` → the words that judgment 17 made of the one sentence that its protocol lets people edit."""
    judgments = [int(identity.removeprefix(EDIT_PREFIX)) for identity in identities]
    return dict(fetch(_EDITS, judgments=judgments)) if judgments else {}


def _parts_of_items(items: Iterable[int]) -> dict[int, dict[str, Part]]:
    """For each item: identity → part."""
    found: dict[int, dict[str, Part]] = defaultdict(dict)
    for item, identity, said, *size in fetch(_PARTS, items=list(items)):
        found[item][identity] = {"text": said} if None in size else _picture(said, *size)
    return found


def _picture(opaque: str, width: int, height: int) -> Part:
    """Marked as safe: numbers and addresses made here need no escaping, which would take the template longer."""
    start, end = _address_around_name()
    return {"url": SafeString(f"{start}{opaque}{end}"), "width": SafeString(width), "height": SafeString(height)}


@cache
def _address_around_name() -> tuple[str, str]:
    """The parts of an image's address before and after its opaque name, computed once instead of at every click."""
    name = "0" * 32
    start, _, end = reverse("image", args=[name]).partition(name)
    return start, end
