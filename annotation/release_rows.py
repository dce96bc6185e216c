"""What stands in each line of an export, read from the database in the items' order."""

from collections import Counter
from collections.abc import Iterator

from django.core.files.storage import default_storage
from django.db import connection

from annotation.decisions import Decision
from annotation.models import Stage, Task
from annotation.release_files import EXTENSIONS
from benchmarks import queries
from benchmarks.models import Item, ItemImage

BATCH = 100  # items read at a time

JUDGMENTS = """
SELECT item.key, item.position, task.question, item.type, item.subtype, annotator.number, slot.number,
       dense_rank() OVER (PARTITION BY task.id, annotator.id ORDER BY lease.granted_at, lease.id), judgment.revision,
       nullif(judgment.answer, ''), array_position(lease.shown, judgment.answer), lease.shown, judgment.created_at,
       judgment.active_ms, judgment.elapsed_ms, coalesce(slot.judgment_id = judgment.id, false), judgment.withdrawn,
       judgment.surplus, instructions.version, judgment.reason,
       ARRAY(SELECT flag.reason FROM annotation_flag flag WHERE flag.lease_id = lease.id ORDER BY flag.id)
FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_instructions instructions ON instructions.id = judgment.instructions_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE slot.stage_id = %s
ORDER BY item.position, task.question, slot.number, annotator.number, lease.granted_at, lease.id, judgment.revision
"""

FLAGS = """
SELECT item.key, task.question, annotator.number, flag.reason, flag.settled_at IS NOT NULL
FROM annotation_flag flag
JOIN annotation_lease lease ON lease.id = flag.lease_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = lease.task_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE task.stage_id = %s ORDER BY item.position, task.question, annotator.number, flag.id
"""


def tasks_of(stage: Stage) -> Iterator[Task]:
    """In the items' order, each item with its captions and images, some at a time."""
    tasks = stage.tasks.select_related("item").order_by("item__position", "question")
    tasks = tasks.prefetch_related("item__captions", "item__item_images__image")
    return tasks.iterator(chunk_size=BATCH)


def split_row(item: Item, outcome: str) -> dict:
    """The item as BiVLC's fields; what it lacks is null."""
    captions = {caption.role: caption.text for caption in reversed(queries.record_of(item).captions)}
    images = {use.key: use for use in item.item_images.all()}
    return {
        "image": _embedded(images.get("positive-0")),
        "caption": captions.get("positive"),
        "negative_caption": captions.get("negative"),
        "negative_image": _embedded(images.get(outcome)),
        "type": item.type,
        "subtype": item.subtype,
        "id": item.key,
    }


def _embedded(use: ItemImage | None) -> dict | None:
    """The original bytes, under a name that is their hash."""
    if use is None:
        return None
    with default_storage.open(use.image.original_path) as file:
        return {"bytes": file.read(), "path": f"{use.image.sha256}.{EXTENSIONS[use.image.format]}"}


def identity(task: Task, decision: Decision, votes: Counter) -> dict:
    """An item and its outcome, down to the hash of every image."""
    item = task.item
    uses = sorted(item.item_images.all(), key=lambda use: (use.role, use.position))
    return {
        "id": item.key,
        "position": item.position,
        "question": task.question,
        "type": item.type,
        "subtype": item.subtype,
        "outcome": decision.outcome or None,
        "reason": decision.reason or None,
        "decided_by": decision.by,
        "votes": dict(sorted(votes.items())),
        "captions": [{"role": c.role, "text": c.text} for c in queries.record_of(item).captions],
        "images": [_image(use, decision.outcome) for use in uses],
        "meta": item.meta,
    }


def _image(use: ItemImage, outcome: str) -> dict:
    return {
        "key": use.key,
        "chosen": use.key == outcome,
        "sha256": use.image.sha256,
        "format": use.image.format,
        "width": use.image.width,
        "height": use.image.height,
        "source_name": use.source_name,
        "licence": use.licence,
        "attribution": use.attribution,
    }


def _pseudonym(number: int) -> str:
    return f"A-{number:02d}"


def judgments(stage: Stage) -> Iterator[tuple]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(JUDGMENTS, [stage.pk])
        for row in cursor:
            yield *row[:5], _pseudonym(row[5]), *row[6:]


def flags(stage: Stage) -> Iterator[dict]:
    names = ("item", "question", "annotator", "reason", "settled")
    with connection.chunked_cursor() as cursor:
        cursor.execute(FLAGS, [stage.pk])
        for item, question, number, *rest in cursor:
            yield dict(zip(names, (item, question, _pseudonym(number), *rest), strict=True))
