"""What a manager looks at with their own eyes: tasks whose annotators disagree, and what annotators flagged."""

from collections import defaultdict
from dataclasses import dataclass

from django.db import connection

from annotation.models import Flag, Stage
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.registry import PROTOCOLS
from benchmarks import queries
from benchmarks.models import Image, Item

# Disagreement on the kind of answer stands before that on which image, with an image before without; newest first.
DISAGREEING = """
SELECT task.item_id, array_agg(judgment.answer ORDER BY annotator.number),
       array_agg(annotator.number ORDER BY annotator.number),
       count(DISTINCT CASE WHEN judgment.answer = ANY(%(fixed)s) THEN judgment.answer ELSE '' END) > 1 AS kinds
FROM annotation_slot slot
JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
JOIN annotation_annotator annotator ON annotator.id = slot.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
WHERE slot.stage_id = %(stage)s
GROUP BY task.id HAVING count(DISTINCT judgment.answer) > 1
ORDER BY kinds DESC, bool_or(judgment.answer <> ALL(%(fixed)s)) DESC, max(judgment.id) DESC
OFFSET %(start)s LIMIT %(count)s
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the answers on a task, who gave it, and its picture where it is one."""

    answer: str
    who: list[str]
    image: Image | None


@dataclass(frozen=True, slots=True)
class Seen:
    """An item with the caption that was shown and what is to be looked at."""

    item: Item
    caption: str
    sides: list[Side]
    kinds: bool = False
    flag: Flag | None = None


def disagreements(stage: Stage, count: int, start: int = 0) -> list[Seen]:
    """Four queries, whatever `count` is."""
    protocol = PROTOCOLS[stage.protocol]
    fixed = [*(choice.identity for choice in protocol.fixed), CANNOT_JUDGE]
    with connection.cursor() as cursor:
        cursor.execute(DISAGREEING, {"stage": stage.pk, "fixed": fixed, "start": start, "count": count})
        rows = cursor.fetchall()
    items = queries.with_material(Item.objects.all()).in_bulk([row[0] for row in rows])
    return [
        Seen(items[item], _caption(items[item], "negative"), _sides(items[item], answers, people), kinds)
        for item, answers, people, kinds in rows
    ]


def _sides(item: Item, answers: list[str], people: list[int]) -> list[Side]:
    who = defaultdict(list)
    for answer, number in zip(answers, people, strict=True):
        who[answer].append(f"A-{number:02d}")
    pictures = _pictures(item)
    return [
        Side(answer, who[answer], pictures.get(answer)) for answer in sorted(who, key=lambda a: (a not in pictures, a))
    ]


def _pictures(item: Item) -> dict[str, Image]:
    return {use.key: use.image for use in item.item_images.all()}


def _caption(item: Item, role: str) -> str:
    return next((caption.text for caption in item.captions.all() if caption.role == role), "")


def open_flags(stage: Stage, count: int) -> list[Seen]:
    """Oldest first: what waits longest stands on top."""
    flags = Flag.objects.filter(lease__task__stage=stage, settled_at=None).order_by("created_at", "id")
    flags = list(flags.select_related("lease__task", "lease__annotator")[:count])
    items = queries.with_material(Item.objects.all()).in_bulk({flag.lease.task.item_id for flag in flags})
    role = "negative"
    return [_flagged(flag, items[flag.lease.task.item_id], role) for flag in flags]


def _flagged(flag: Flag, item: Item, role: str) -> Seen:
    pictures = _pictures(item)
    sides = [Side(answer, [], pictures.get(answer)) for answer in flag.lease.task.options]
    return Seen(item, _caption(item, role), sides, flag=flag)
