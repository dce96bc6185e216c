"""What a manager looks at with their own eyes: tasks whose annotators disagree, and what annotators flagged."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.postgres.aggregates import JSONBAgg
from django.db.models.functions import JSONObject

from annotation.models import Flag, Stage, Task
from annotation.pipeline import task_creation
from annotation.protocols import answers as protocols_answers
from annotation.protocols.base import Answer, Carried, Protocol, carried_captions
from annotation.protocols.decision_rule import ADJUDICATOR, KEPT
from annotation.protocols.registry import PROTOCOLS
from annotation.wording import readable_label
from benchmarks import queries
from benchmarks.models import Image, Item


@dataclass(frozen=True, slots=True)
class Part:
    """A caption or an image of an item, by the identity that answers name it by; neither, of a fixed answer."""

    identity: str
    text: str = ""
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the answers on a task, in words, and of how many annotators."""

    part: Part
    said: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A task's item with what was asked about and what is to be looked at. `stands` says what came of it so far."""

    task: int
    item: Item
    shown: Sequence[Part]
    sides: Sequence[Side]
    worded: bool = False  # its answers are more than picks: they are read, not looked at
    entropy: float = 0
    stands: str = ""
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


def drawn_order(task: int, options: Sequence[str]) -> list[str]:
    """A task's options in the order in which an adjudicator sees them: it says nothing about which is which."""
    return sorted(options, key=lambda option: task_creation.random_rank("adjudicate", task, option))


def label(part: Part, place: int) -> str:
    """Of an option, by its place in that order, from 1."""
    return f"{'picture' if part.image else 'sentence'} {place}"


def as_seen(stage: Stage, tasks: Sequence[int], agreed: bool = False) -> list[Seen]:
    """Those of the tasks whose answers differ, in this order; `agreed`: also those of one answer. Four queries, however
    many they are.
    """
    answer = JSONObject(label="slots__judgment__answer", content="slots__judgment__content")
    judged = stage.tasks.filter(pk__in=tasks, slots__judgment__isnull=False)
    judged = judged if agreed else judged.filter(entropy__gt=0)
    found = judged.select_related("decided").annotate(answers=JSONBAgg(answer, order_by="slots__judgment")).in_bulk()
    items = queries.with_material(Item.objects.all()).in_bulk([task.item_id for task in found.values()])
    return [_disagreed(stage, items[found[pk].item_id], found[pk], found[pk].answers) for pk in tasks if pk in found]


def _disagreed(stage: Stage, item: Item, task: Task, answers: Sequence[Mapping]) -> Seen:
    protocol = PROTOCOLS[stage.protocol]
    there, worded = parts(item, task.carried), protocol.form is not None
    given = [Answer(answer["label"], answer["content"]) for answer in answers]
    named = task.options if worded and protocol.measures else []  # such answers say the roles, not the words
    sides = _sides(protocol, there, given, drawn_order(task.pk, task.options))
    stands = _stands(protocol, len(given), task)
    return Seen(task.pk, item, parts_named(there, [*task.shows, *named]), sides, worded, task.entropy, stands)


def parts_named(there: Mapping[str, Part], identities: Iterable[str]) -> list[Part]:
    return [there.get(identity) or Part(identity) for identity in identities]


def _sides(protocol: Protocol, there: Mapping[str, Part], given: Sequence[Answer], order: Sequence[str]) -> list[Side]:
    """Options as an adjudicator sees them, before other answers; of those that say the same, the first."""
    counts = Counter(protocols_answers.agreement_key(protocol, answer) for answer in given)
    first = {protocols_answers.agreement_key(protocol, answer): answer for answer in reversed(given)}
    places = {option: place for place, option in enumerate(order, 1)}
    found = []
    for key in sorted(counts, key=lambda key: (places.get(first[key].label, len(places) + 1), -counts[key])):
        answer = first[key]
        part = there.get(answer.label) or Part(answer.label)
        picked = protocol.form is None and answer.label in places
        said = label(part, places[answer.label]) if picked else protocols_answers.answer_in_words(protocol, answer)
        found.append(Side(part, said, counts[key]))
    return found


def _stands(protocol: Protocol, given: int, task: Task) -> str:
    outcome = getattr(task, "decided", None)
    if outcome is None:
        return f"{given} of {task.overlap} judgments so far" if given < task.overlap else "undecided"
    came = "decided" if protocol.measures and outcome.state == KEPT else outcome.state
    reason = f", {readable_label(outcome.reason)}," if outcome.reason else ""
    return f"{came}{reason} by {'hand' if outcome.by == ADJUDICATOR else 'the rule'}"


def open_flags(stage: Stage, count: int) -> list[Seen]:
    """Oldest first: what waits longest stands on top."""
    unsettled = Flag.objects.filter(lease__task__stage=stage, settled_at=None).order_by("created_at", "id")
    flags = unsettled.select_related("lease__task", "lease__annotator")[:count]
    items = queries.with_material(Item.objects.all()).in_bulk({flag.lease.task.item_id for flag in flags})
    return [_flagged(flag, items[flag.lease.task.item_id]) for flag in flags]


def _flagged(flag: Flag, item: Item) -> Seen:
    task = flag.lease.task
    there = parts(item, task.carried)
    sides = [Side(part) for part in parts_named(there, task.options)]
    return Seen(task.pk, item, parts_named(there, task.shows), sides, flag=flag)
