"""Tasks for managers to inspect: those with disagreement, and those that annotators flagged."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.models import Flag, Kind, Stage
from annotation.pipeline.ranks import random_rank
from annotation.protocols import answer_words, answers, values
from annotation.protocols.base import Answer, Carried, Protocol, carried_captions
from annotation.protocols.decision_rule import ADJUDICATOR, KEPT
from annotation.protocols.registry import protocol_named
from annotation.screens import drawn
from annotation.screens.drawn import Drawing
from annotation.sql import fetch
from annotation.wording import readable_label
from benchmarks import queries
from benchmarks.differences import marked_apart
from benchmarks.models import Image, Item
from benchmarks.naming import role_name

# For each task: its answers in order, with the annotators' numbers, and the outcome.
ANSWERS = """
SELECT task.id, task.item_id, task.shows, task.options, task.carried, task.overlap,
       coalesce(array_agg(json_build_array(judgment.answer, judgment.content, annotator.number)::text
                          ORDER BY judgment.id) FILTER (WHERE judgment.id IS NOT NULL), '{}'),
       outcome.state, outcome.reason, outcome.by
FROM annotation_task task LEFT JOIN annotation_slot slot ON slot.task_id = task.id
LEFT JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
LEFT JOIN annotation_lease lease ON lease.id = judgment.lease_id
LEFT JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.id = ANY(%(tasks)s) AND task.stage_id = %(stage)s AND (task.entropy > 0 OR %(agreed)s)
GROUP BY task.id, outcome.task_id
"""


@dataclass(frozen=True, slots=True)
class Part:
    """An item's caption or image, under the identity used in answers; a fixed answer has neither."""

    identity: str
    text: str = ""
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """An option or another answer in words, with the numbers of the annotators who gave it. `marked` is an option's
    text with the words that differ from the others highlighted.
    """

    part: Part
    words: str = ""
    who: Sequence[int] = ()
    marked: str = ""
    role: str = ""  # an option's role, which the desk does not show

    @property
    def count(self) -> int:
        return len(self.who)


@dataclass(frozen=True, slots=True)
class Seen:
    """A task's item with the material shown: its options, picked or not, and then other answers. `stands` is the
    current result, in words.
    """

    task: int
    item: Item
    shown: Sequence[Part]
    sides: Sequence[Side]
    worded: bool = False  # answers are more than a choice of option, so they are shown as text
    stands: str = ""
    undecided: bool = False
    flag: Flag | None = None
    can_decide: bool = True  # not a check, and still in the stage

    @property
    def picture(self) -> Image | None:
        """Return the image in question, or else the first that could be picked."""
        return next((part.image for part in [*self.shown, *(side.part for side in self.sides)] if part.image), None)

    @property
    def caption(self) -> str:
        return next((part.text for part in self.shown if part.text), "")

    @property
    def split(self) -> str:
        """Return the split as text, such as `votes 2–1`."""
        counts = sorted((side.count for side in self.sides if side.who), reverse=True)
        return f"votes {'–'.join(map(str, counts))}" if counts else ""

    @property
    def votes(self) -> frozenset[tuple[str, int]]:
        """Return the answers and their counts; tasks with the same votes get equal values."""
        return frozenset((side.part.identity, side.count) for side in self.sides if side.who)


def parts(item: Item, carried: Carried) -> dict[str, Part]:
    """Return every caption and image of the item, in the wording of earlier stages, using only what
    `queries.with_material` fetched.
    """
    found = [Part(f"caption-{one.role}-{one.position}", text=one.text) for one in item.captions.all()]
    found += [Part(use.key, image=use.image) for use in item.item_images.all()]
    found += [Part(identity, text=text) for identity, text in carried_captions(carried).items()]
    return {part.identity: part for part in found}


def drawings(
    protocol: Protocol, shows: Sequence[str], there: Mapping[str, Part], given: Iterable[tuple[str, str]]
) -> Mapping[str, Drawing]:
    """Return, by picture, each answer's marks on it (tag, label), if the protocol asks for marks."""
    sizes = {one: (part.image.width, part.image.height) for one, part in there.items() if part.image}
    return drawn.drawings(protocol.file, shows, sizes, given) if protocol.file else {}


def drawn_order(task: int, options: Sequence[str]) -> list[str]:
    """Return a task's options in an adjudicator's order, which reveals nothing about their roles."""
    return sorted(options, key=lambda option: random_rank("adjudicate", task, option))


def label(part: Part, place: int) -> str:
    """Label an option by its place in that order, from 1."""
    return f"{'picture' if part.image else 'sentence'} {place}"


def as_seen(stage: Stage, tasks: Sequence[int], agreed: bool = False, drawn: bool = False) -> list[Seen]:
    """Return the tasks with differing answers, in this order; `agreed` includes all others. Options are in the order of
    their roles, or the one `drawn` for adjudicators. Takes four queries for any number of tasks.
    """
    rows = {row[0]: row for row in fetch(ANSWERS, stage=stage.pk, tasks=list(tasks), agreed=agreed)}
    items = queries.with_material(Item.objects.all()).in_bulk([row[1] for row in rows.values()])
    protocol = protocol_named(stage.protocol)
    return [_disagreed(protocol, items[rows[task][1]], drawn, *rows[task]) for task in tasks if task in rows]


def _disagreed(
    protocol: Protocol, item: Item, drawn: bool, task: int, _, shows, options, carried, overlap, given, *outcome
) -> Seen:
    there, worded = parts(item, json.loads(carried)), protocol.form is not None
    answers = [(Answer(label, content), number) for label, content, number in map(json.loads, given)]
    order = drawn_order(task, options) if drawn and not worded else options
    sides = _sides(protocol, parts_named(there, order), answers)
    stands = _stands(protocol, len(given), overlap, *outcome)
    shown = parts_named(there, [one for one in shows if one not in options])
    return Seen(task, item, shown, sides, worded, stands, undecided=outcome[0] is None and len(given) >= overlap)


def parts_named(there: Mapping[str, Part], identities: Iterable[str]) -> list[Part]:
    return [there.get(identity) or Part(identity) for identity in identities]


def _sides(protocol: Protocol, options: Sequence[Part], given: Sequence[tuple[Answer, int]]) -> list[Side]:
    """Return the options in this order, then other answers, most frequent first; ties by which came first."""
    who: dict[str, list[int]] = {}
    first: dict[str, Answer] = {}
    for answer, number in given:
        key = answer_words.agreement_key(protocol, answer)
        who.setdefault(key, []).append(number)
        first.setdefault(key, answer)
    texts = iter(marked_apart([part.text for part in options if part.text]))
    found = []
    for place, part in enumerate(options, 1):
        words = option_words(protocol, part) if protocol.form else label(part, place)
        picked = part.identity if part.identity in first and not first[part.identity].content else ""
        marked = next(texts) if part.text else ""
        found.append(Side(part, words, who.pop(picked, ()), marked, option_words(protocol, part)))
    others = sorted(who, key=lambda key: -len(who[key]))
    said = {key: answer_words.answer_in_words(protocol, first[key]) for key in others}
    return [*found, *(Side(Part(first[key].label), said[key], who[key]) for key in others)]


def option_words(protocol: Protocol, part: Part) -> str:
    """Name the part as an item's page does, for example `hard negative`."""
    file = protocol.made_from
    words = answers.part_in_words(values.option_name(file, part.identity)) if file else readable_label(part.identity)
    return role_name(words, "captions" if part.text else "images")


def _stands(protocol: Protocol, given: int, overlap: int, state: str | None, reason: str | None, by: str | None) -> str:
    if state is None:
        return f"{given} of {overlap} judgments so far" if given < overlap else "undecided"
    if protocol.measures and state == KEPT and by != ADJUDICATOR:
        return "answered"
    return f"{state}{f', {readable_label(reason)},' if reason else ''} by {'hand' if by == ADJUDICATOR else 'the rule'}"


def open_flags(stage: Stage, count: int) -> list[Seen]:
    """Return open flags, the longest-waiting first."""
    unsettled = Flag.objects.filter(lease__task__stage=stage, settled_at=None).order_by("created_at", "id")
    flags = unsettled.select_related("lease__task", "lease__annotator")[:count]
    items = queries.with_material(Item.objects.all()).in_bulk({flag.lease.task.item_id for flag in flags})
    protocol = protocol_named(stage.protocol)
    return [_flagged(protocol, flag, items[flag.lease.task.item_id]) for flag in flags]


def as_asked(protocol: Protocol, item: Item, shows: Sequence[str], options: Sequence[str], carried: Carried) -> Seen:
    """Return an item with what a task shows and offers, in this order, without answers."""
    there = parts(item, carried)
    shown = parts_named(there, [one for one in shows if one not in options])
    sides = _sides(protocol, parts_named(there, options), [])
    return Seen(0, item, shown, sides, protocol.form is not None, can_decide=False)


def _flagged(protocol: Protocol, flag: Flag, item: Item) -> Seen:
    task = flag.lease.task
    options = task.options if protocol.form else drawn_order(task.pk, task.options)
    asked = task.kind == Kind.JUDGE and task.live
    seen = as_asked(protocol, item, task.shows, options, task.carried)
    return replace(seen, task=task.pk, undecided=asked, flag=flag, can_decide=asked)
