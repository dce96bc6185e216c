"""The tasks that a manager inspects: those with disagreement, and those that annotators flagged."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Flag, Stage
from annotation.pipeline.ranks import random_rank
from annotation.protocols import answer_words
from annotation.protocols.base import Answer, Carried, Protocol, carried_captions
from annotation.protocols.decision_rule import ADJUDICATOR, KEPT
from annotation.protocols.registry import protocol_named
from annotation.screens import drawn
from annotation.screens.drawn import Drawing
from annotation.sql import fetch
from annotation.wording import readable_label
from benchmarks import queries
from benchmarks.models import Image, Item

# For each task: its answers in the order given, and the outcome.
ANSWERS = """
SELECT task.id, task.item_id, task.shows, task.options, task.carried, task.entropy, task.overlap,
       array_agg(judgment.answer ORDER BY judgment.id), array_agg(judgment.content::text ORDER BY judgment.id),
       outcome.state, outcome.reason, outcome.by
FROM annotation_task task JOIN annotation_slot slot ON slot.task_id = task.id
JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.id = ANY(%(tasks)s) AND task.stage_id = %(stage)s AND (task.entropy > 0 OR %(agreed)s)
GROUP BY task.id, outcome.task_id
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A caption or image of an item, under the identity used in answers; a fixed answer has neither."""

    identity: str
    text: str = ""
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of a task's answers in words, and how many annotators gave it."""

    part: Part
    words: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A task's item with the material asked about and shown. `stands` is the result so far, in words."""

    task: int
    item: Item
    shown: Sequence[Part]
    sides: Sequence[Side]
    worded: bool = False  # its answers are more than a choice of option: they are shown as text
    entropy: float = 0
    stands: str = ""
    flag: Flag | None = None

    @property
    def caption(self) -> str:
        return next((part.text for part in self.shown if part.text), "")


def parts(item: Item, carried: Carried) -> dict[str, Part]:
    """Every caption and image of the item, in the wording of earlier stages. Reads only what `queries.with_material`
    fetched.
    """
    found = [Part(f"caption-{one.role}-{one.position}", text=one.text) for one in item.captions.all()]
    found += [Part(use.key, image=use.image) for use in item.item_images.all()]
    found += [Part(identity, text=text) for identity, text in carried_captions(carried).items()]
    return {part.identity: part for part in found}


def drawings(
    protocol: Protocol, shows: Sequence[str], there: Mapping[str, Part], given: Iterable[tuple[str, str]]
) -> Mapping[str, Drawing]:
    """Identity of a picture → what answers (tag, label) mark on it, if the protocol asks for marks."""
    sizes = {one: (part.image.width, part.image.height) for one, part in there.items() if part.image}
    return drawn.drawings(protocol.file, shows, sizes, given) if protocol.file else {}


def drawn_order(task: int, options: Sequence[str]) -> list[str]:
    """A task's options in the order that an adjudicator sees, which reveals nothing about their roles."""
    return sorted(options, key=lambda option: random_rank("adjudicate", task, option))


def label(part: Part, place: int) -> str:
    """An option's label, by its place in that order, from 1."""
    return f"{'picture' if part.image else 'sentence'} {place}"


def as_seen(stage: Stage, tasks: Sequence[int], agreed: bool = False) -> list[Seen]:
    """The tasks with differing answers, in this order; `agreed` includes those with a single answer. Four queries for
    any number of tasks.
    """
    rows = {row[0]: row for row in fetch(ANSWERS, stage=stage.pk, tasks=list(tasks), agreed=agreed)}
    items = queries.with_material(Item.objects.all()).in_bulk([row[1] for row in rows.values()])
    protocol = protocol_named(stage.protocol)
    return [_disagreed(protocol, items[rows[task][1]], *rows[task]) for task in tasks if task in rows]


def _disagreed(protocol: Protocol, item: Item, task: int, _, shows, options, carried, entropy, overlap, *rest) -> Seen:
    labels, contents, *outcome = rest
    there, worded = parts(item, json.loads(carried)), protocol.form is not None
    given = [Answer(label, json.loads(content)) for label, content in zip(labels, contents, strict=True)]
    named = options if worded and (protocol.measures or protocol.file) else []  # such answers have roles, not words
    sides = _sides(protocol, there, given, drawn_order(task, options))
    stands = _stands(protocol, len(given), overlap, *outcome)
    return Seen(task, item, parts_named(there, dict.fromkeys([*shows, *named])), sides, worded, entropy, stands)


def parts_named(there: Mapping[str, Part], identities: Iterable[str]) -> list[Part]:
    return [there.get(identity) or Part(identity) for identity in identities]


def _sides(protocol: Protocol, there: Mapping[str, Part], given: Sequence[Answer], order: Sequence[str]) -> list[Side]:
    """The options as an adjudicator sees them, before other answers; the first of equal ones."""
    counts = Counter(answer_words.agreement_key(protocol, answer) for answer in given)
    first = {answer_words.agreement_key(protocol, answer): answer for answer in reversed(given)}
    places = {option: place for place, option in enumerate(order, 1)}
    found = []
    for key in sorted(counts, key=lambda key: (places.get(first[key].label, len(places) + 1), -counts[key])):
        answer = first[key]
        part = there.get(answer.label) or Part(answer.label)
        picked = protocol.form is None and answer.label in places
        words = label(part, places[answer.label]) if picked else answer_words.answer_in_words(protocol, answer)
        found.append(Side(part, words, counts[key]))
    return found


def _stands(protocol: Protocol, given: int, overlap: int, state: str | None, reason: str | None, by: str | None) -> str:
    if state is None:
        return f"{given} of {overlap} judgments so far" if given < overlap else "undecided"
    came = "decided" if protocol.measures and state == KEPT else state
    return f"{came}{f', {readable_label(reason)},' if reason else ''} by {'hand' if by == ADJUDICATOR else 'the rule'}"


def open_flags(stage: Stage, count: int) -> list[Seen]:
    """Oldest first: the flag that has waited longest is on top."""
    unsettled = Flag.objects.filter(lease__task__stage=stage, settled_at=None).order_by("created_at", "id")
    flags = unsettled.select_related("lease__task", "lease__annotator")[:count]
    items = queries.with_material(Item.objects.all()).in_bulk({flag.lease.task.item_id for flag in flags})
    return [_flagged(flag, items[flag.lease.task.item_id]) for flag in flags]


def _flagged(flag: Flag, item: Item) -> Seen:
    task = flag.lease.task
    there = parts(item, task.carried)
    sides = [Side(part) for part in parts_named(there, task.options)]
    return Seen(task.pk, item, parts_named(there, task.shows), sides, flag=flag)
