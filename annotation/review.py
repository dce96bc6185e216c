"""What a manager looks at with their own eyes: tasks whose annotators disagree, and what annotators flagged."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation import saying
from annotation.models import Flag, Stage
from annotation.protocols.base import Answer, Carried, Protocol, carried_captions
from annotation.protocols.registry import PROTOCOLS
from annotation.pseudonyms import pseudonym
from annotation.rows import fetch
from annotation.saying import SAME
from benchmarks import queries
from benchmarks.models import Image, Item

# Disagreement on the kind of answer stands before that on which image, with an option before without; newest first.
DISAGREEING = f"""
SELECT task.id, task.item_id, task.shows, task.options, task.carried,
       array_agg(judgment.answer ORDER BY annotator.number),
       array_agg(judgment.content::text ORDER BY annotator.number),
       array_agg(annotator.number ORDER BY annotator.number),
       count(DISTINCT CASE WHEN %(alike)s AND judgment.answer <> ALL(%(fixed)s) THEN '' ELSE {SAME} END) > 1 AS kinds
FROM annotation_slot slot
JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
JOIN annotation_annotator annotator ON annotator.id = slot.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
WHERE slot.stage_id = %(stage)s AND task.live AND task.kind = 'judge'
GROUP BY task.id HAVING count(DISTINCT {SAME}) > 1
ORDER BY kinds DESC, bool_or(judgment.answer <> ALL(%(fixed)s)) DESC, max(judgment.id) DESC
OFFSET %(start)s LIMIT %(count)s
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A caption or an image of an item, by the identity that answers name it by; neither, of a fixed answer."""

    identity: str
    text: str = ""
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the answers on a task, in words, and who gave it."""

    part: Part
    said: str = ""
    who: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A task's item with what was asked about and what is to be looked at."""

    task: int
    item: Item
    shown: Sequence[Part]
    sides: Sequence[Side]
    kinds: bool = False
    worded: bool = False  # its answers are more than picks: they are read, not looked at
    flag: Flag | None = None

    @property
    def caption(self) -> str:
        return next((part.text for part in self.shown if part.text), "")


def parts(item: Item, carried: Carried) -> dict[str, Part]:
    """Every caption and image of the item, with the words that earlier stages gave it. Reads only what
    `queries.with_material` fetched.
    """
    found = [Part(f"caption-{one.role}-{one.position}", text=one.text) for one in item.captions.all()]
    found += [Part(use.key, image=use.image) for use in item.item_images.all()]
    found += [Part(identity, text=text) for identity, text in carried_captions(carried).items()]
    return {part.identity: part for part in found}


def disagreements(stage: Stage, count: int, start: int = 0) -> list[Seen]:
    """Four queries, whatever `count` is."""
    return as_seen(stage, disagreeing(stage, count, start))


def disagreeing(stage: Stage, count: int, start: int = 0) -> list[tuple]:
    """Rows for `as_seen`, JSON-able: the one query that looks at every judgment of the stage."""
    values = saying.for_sql(PROTOCOLS[stage.protocol])
    return fetch(DISAGREEING, stage=stage.pk, start=start, count=count, **values)


def as_seen(stage: Stage, rows: Sequence[Sequence]) -> list[Seen]:
    protocol = PROTOCOLS[stage.protocol]
    items = queries.with_material(Item.objects.all()).in_bulk([row[1] for row in rows])
    found = []
    for task, item, shows, options, carried, labels, contents, people, kinds in rows:
        there = parts(items[item], json.loads(carried))
        given = [Answer(label, json.loads(content)) for label, content in zip(labels, contents, strict=True)]
        sides, worded = _sides(protocol, there, given, people), protocol.form is not None
        named = options if worded and protocol.measures else []  # such answers say the roles, not the words
        found.append(Seen(task, items[item], _those(there, [*shows, *named]), sides, kinds, worded))
    return found


def _those(there: Mapping[str, Part], identities: Iterable[str]) -> list[Part]:
    return [there.get(identity) or Part(identity) for identity in identities]


def _sides(protocol: Protocol, there: Mapping[str, Part], given: Sequence[Answer], people: Sequence[int]) -> list[Side]:
    """Options before fixed answers; of those that say the same, the first."""
    who, first = defaultdict(list), {}
    for answer, number in zip(given, people, strict=True):
        key = saying.same(protocol, answer)
        who[key].append(pseudonym(number))
        first.setdefault(key, answer)
    ordered = sorted(first, key=lambda key: (first[key].label not in there, first[key].label))
    parts_ = _those(there, [first[key].label for key in ordered])
    return [
        Side(part, saying.in_words(protocol, first[key]), who[key]) for key, part in zip(ordered, parts_, strict=True)
    ]


def open_flags(stage: Stage, count: int) -> list[Seen]:
    """Oldest first: what waits longest stands on top."""
    flags = Flag.objects.filter(lease__task__stage=stage, settled_at=None).order_by("created_at", "id")
    flags = list(flags.select_related("lease__task", "lease__annotator")[:count])
    items = queries.with_material(Item.objects.all()).in_bulk({flag.lease.task.item_id for flag in flags})
    return [_flagged(flag, items[flag.lease.task.item_id]) for flag in flags]


def _flagged(flag: Flag, item: Item) -> Seen:
    task = flag.lease.task
    there = parts(item, task.carried)
    sides = [Side(part) for part in _those(there, task.options)]
    return Seen(task.pk, item, _those(there, task.shows), sides, flag=flag)
