"""Rehearse a protocol file: its screens, every answer, and a simulated crowd through its rules. Nothing is stored."""

import itertools
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

from annotation.measures.declared import agreement, decided
from annotation.models import Lease, Task
from annotation.protocols import answers, base, item_data, schema
from annotation.protocols.base import Attributes
from annotation.protocols.compile import as_protocol, is_plain, value_of
from annotation.protocols.conditions import Never
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN, Posterior
from annotation.protocols.decisions import decide_item, kinds_of
from annotation.protocols.ratings import Rated
from annotation.protocols.reading import line_of
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.simulated import simulate
from annotation.protocols.tasks import file_about, tasks_of
from annotation.protocols.walk import MOST, SEVERAL, Fields, Screen, every_answer, made_up_item, texts_of
from annotation.screens.painted import unpainted
from annotation.screens.screens import build_screen, screens_under
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from benchmarks.records import ItemRecord

_MOST_LABELS, _MIXTURES = 400, 2000
# A short file can have a million answers; with these limits it takes only seconds.
_MOST_SCREENS = 500
_MOST_ANSWERED = 5_000  # questions answered by the simulated annotators
_MOST_WALKED = 60_000  # questions
_MOST_DECIDED = 600_000  # answers in mixtures, by all rules
_MOST_RIGHT = 3  # right answers used for deciding mixtures
_REASONS = 10  # reasons for unsuitable items
Path = tuple[str | int, ...]


@dataclass
class Rehearsal:
    """The results. `failures` are answers that were not read back as given."""

    items: int = 0
    tasks: int = 0
    left_out: int = 0  # further tasks for these items, left out because they would take too long
    screens: int = 0
    walked: int = 0
    whole: bool = True  # every answer was tried, not just a sample
    failures: list[str] = field(default_factory=list)
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)  # state and reason
    judgments: int = 0
    agreement: dict[str, Any] = field(default_factory=dict)
    unsuitable: Counter[str] = field(default_factory=Counter)  # what an item lacks → items
    examples: dict[str, str] = field(default_factory=dict)  # for each of these, a sentence about an item
    no_attribute: list[str] = field(default_factory=list)  # attributes in the file that no part of the items has
    unreachable: list[dict[str, Any]] = field(default_factory=list)
    unpainted: dict[str, str] = field(default_factory=dict)  # what a browser could not show → an item's key


def rehearse(text: str, file: ProtocolFile, benchmark: Benchmark | None, items: int, people: int) -> Rehearsal:
    """Rehearse on the first suitable items of the benchmark, or on items made up to suit the file. All items of a
    benchmark are checked for suitability; a study needs every one.
    """
    found, dice = Rehearsal(), Random(file.name)
    labels: dict[str, None] = {}
    attributes: dict[str, Attributes] = {}  # task → attributes of its item's parts
    ratings: list[Rated] = []
    there: set[str] = set()  # names of attributes
    asked: set[str] = set()  # names of answers
    most = min(_MOST_SCREENS, max(1, _MOST_ANSWERED // (len(file.answers) * file.judgments)))
    for item, record, tasks in _items(file, benchmark, items, found):
        texts, own = texts_of(record), file_about(file, record, {})
        asked |= {one.name for one in own.answers if not isinstance(one.when, Never)}
        of_item = item_data.attributes_of(file, record)
        there |= {name for identity, of in of_item.items() if identity != base.RIGHT for name in of}
        tried = tasks[: most - found.tasks]
        found.items += 1
        found.tasks += len(tried)
        found.left_out += len(tasks) - len(tried)
        for place, task in enumerate(tried):
            screen = Screen(dice.sample(task.options, len(task.options)), texts, task.question)
            _paint(own, item, record.key, task, screen, found)
            labels |= dict.fromkeys(_walk(own, screen, dice, found))
            name = f"{record.key}#{place}"
            attributes[name] = of_item
            crowd = _crowd(own, record.key, task, texts, people, dice, of_item)
            ratings += [Rated(name, annotator, label) for annotator, label in crowd]
    if benchmark and found.items:
        found.no_attribute = [name for name in [*file.item.attributes, *item_data.columns(file)] if name not in there]
    found.judgments = len(ratings)
    if ratings:
        decisions = decided(file, ratings, attributes=attributes).values()
        found.decisions.update((one.state, one.reason) for one in decisions)
        found.agreement = agreement(file, [(row.item, row.annotator, row.label) for row in ratings])
        found.unreachable = [
            *_never_asked(text, file, asked),
            *_unreachable(text, file, [*labels][:_MOST_LABELS], dice, attributes.values()),
        ]
    return found


def _items(
    file: ProtocolFile, benchmark: Benchmark | None, wanted: int, found: Rehearsal
) -> Iterator[tuple[Item | None, ItemRecord, list[base.TaskSpec]]]:
    """Yield the first suitable items with their tasks, and count the unsuitable ones."""
    if benchmark is None:
        for number in range(wanted):
            if made_up := _made_up(file, number, found):
                yield None, *made_up
        return
    there = 0
    for item in queries.with_material(benchmark.present.order_by("position")).iterator(500):
        record = queries.record_of(item)
        try:
            tasks = tasks_of(file, record, {})
        except base.UnsuitableItem as reason:
            _count_unsuitable(found, reason)
            continue
        there += 1
        if there <= wanted:
            yield item, record, tasks


def _made_up(file: ProtocolFile, number: int, found: Rehearsal) -> tuple[ItemRecord, list[base.TaskSpec]] | None:
    """Make up an item: every other one has as many members as the limit on tasks allows, the rest the fewest."""
    fewest = partial(made_up_item, file, number)
    larger = [partial(made_up_item, file, number, most=True, limit=limit) for limit in range(SEVERAL, 0, -1)]
    for make in [*larger, fewest] if number % 2 else [fewest, *reversed(larger)]:
        try:
            record = make()
            return record, tasks_of(file, record, {})
        except base.UnsuitableItem as error:
            reason = error
    _count_unsuitable(found, reason)
    return None


def _count_unsuitable(found: Rehearsal, reason: base.UnsuitableItem) -> None:
    lacks = f"{reason.needs} per item; it has {reason.has or 'none'}" if reason.needs else str(reason)
    found.unsuitable[lacks] += 1
    found.examples.setdefault(lacks, str(reason))


def _rendered(
    file: ProtocolFile, item: Item | None, task: base.TaskSpec, shown: Sequence[str], texts: base.TextsByIdentity
) -> str:
    """Return the screen's HTML, with the item's pictures, or with made-up ones."""
    row = Task(item=item, question=task.question, shows=list(task.shows), options=list(task.options), carried={})
    lease = Lease(token=UUID(int=1), task=row, shown=list(shown))
    protocol = as_protocol(file, file.name)
    if item is not None:
        return screens_under([lease], protocol, "en")[0].html()
    picture = {"url": "/picture", "srcset": "", "width": "512", "height": "512"}
    parts = {one: {"text": texts[one]} if one in texts else picture for one in (*task.shows, *shown)}
    return build_screen(lease, protocol, parts, "en").html()


def _paint(
    file: ProtocolFile, item: Item | None, key: str, task: base.TaskSpec, screen: Screen, found: Rehearsal
) -> None:
    """Render the screen, and note what a browser could not show."""
    found.screens += 1
    if lacks := unpainted(_rendered(file, item, task, screen.shown, screen.texts)):
        found.unpainted.setdefault(lacks, key)


def _walk(file: ProtocolFile, screen: Screen, dice: Random, found: Rehearsal) -> Iterable[str]:
    """Return the labels of all answers. An answer that is not read back as given is a failure."""
    most = (_MOST_WALKED - found.walked * len(file.answers)) // len(file.answers)
    fields, whole = every_answer(file, screen, dice, max(1, min(MOST, most)))
    found.whole &= whole
    for sent in fields:
        found.walked += 1
        answer = answers.parse(file, sent, screen.shown, screen.texts, screen.question)
        again = answers.fill(file, answer, screen.shown)
        if answers.parse(file, again, screen.shown, screen.texts, screen.question) != answer:
            found.failures.append(f"{sent} is stored as {answer.label}, which is shown as {again}")
        if (
            is_plain(file)
            and (stored := _identity(file, sent, screen.shown))
            and value_of(file, stored) != answer.label
        ):
            found.failures.append(f"{stored} is called {value_of(file, stored)}, not {answer.label}")
        yield answer.label


def _identity(file: ProtocolFile, sent: Fields, shown: Sequence[str]) -> str:
    """Return what a plain protocol stores for these fields: the option at a place, or the fixed answer."""
    answer = file.answers[0]
    said = sent.get(answer.name, "")
    return shown[int(said) - 1] if said.isdecimal() and not isinstance(answer, schema.Scale) else said


def _crowd(
    file: ProtocolFile,
    item: str,
    task: base.TaskSpec,
    texts: base.TextsByIdentity,
    people: int,
    dice: Random,
    of_item: base.Attributes,
) -> Iterator[tuple[str, str]]:
    """Yield as many judgments as the file requires, each by a different annotator: who, and the label."""
    for number in dice.sample(range(max(people, file.judgments)), file.judgments):
        shown = dice.sample(task.options, len(task.options))
        sent = simulate(file, dice, shown, texts, task.question, item, of_item=of_item)
        yield f"A-{number + 1:02}", answers.parse(file, sent, shown, texts, task.question).label


# Outcomes to which no answers lead


def _never_asked(text: str, file: ProtocolFile, asked: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield questions that were not asked about any tried item."""
    for place, one in enumerate(file.answers):
        if one.name not in asked:
            path = ("answers", place, "when")
            advice = f"None of the items tried is asked {one.name}. Correct its condition, or try items that meet it."
            yield {"outcome": one.name, "line": line_of(text, path), "key": ".".join(map(str, path)), "advice": advice}


def _unreachable(
    text: str, file: ProtocolFile, labels: Sequence[str], dice: Random, of_items: Iterable[Attributes]
) -> list[dict[str, Any]]:
    """Return the file's reasons to which none of many mixtures of answers led, and `kept` if none led to it."""
    right = list({str(one.get(base.RIGHT)): {base.RIGHT: one.get(base.RIGHT, {})} for one in of_items}.values())
    reached = {
        decision.reason if decision.state == DROPPED else KEPT
        for mixture in _mixtures([*labels, base.CANNOT_JUDGE], file, dice)
        for of_item in right[:_MOST_RIGHT]
        if (decision := decide_item(file, mixture, None, _shares(file, mixture), of_item)).state != OPEN
    }
    found = [
        {
            "outcome": reason, "line": line_of(text, path), "key": ".".join(map(str, path)),
            "advice": f"No answers lead to {reason}. Remove it, or change the rule that should lead there.",
        }
        for reason, path in _reasons(file) if reason not in reached
    ]  # fmt: skip
    if file.decide and KEPT not in reached:
        path = ("decide", 0)
        advice = "No answers keep an item. Keep at least one value."
        found.append({"outcome": KEPT, "line": line_of(text, path), "key": "decide.0", "advice": advice})
    return found


def _mixtures(labels: Sequence[str], file: ProtocolFile, dice: Random) -> Iterator[list[str]]:
    judgments = file.judgments
    most = min(_MIXTURES, _MOST_DECIDED // (judgments * max(1, len(file.decide))))
    yield from ([one] * judgments for one in labels)
    few = labels if len(labels) <= 40 else dice.sample(labels, 40)
    for one, other in itertools.islice(itertools.permutations(few, 2), most):
        for count in {1, judgments // 2}:
            yield [one] * (judgments - count) + [other] * count
    yield from (dice.choices(few, k=judgments) for _ in range(most))


def _shares(file: ProtocolFile, labels: Sequence[str]) -> dict[str, Posterior]:
    """Return the shares of the answers themselves, in place of an estimate."""
    found: dict[str, Posterior] = {}
    for rule in file.decide:
        if isinstance(rule, schema.DawidSkene):
            said = [one if one == base.CANNOT_JUDGE else answers.given(one, rule.answer, file) for one in labels]
            kinds = kinds_of(file, rule, [one for one in said if one])
            found[rule.answer] = {kind: count / len(kinds) for kind, count in Counter(kinds).items()}
    return found


def _reasons(file: ProtocolFile) -> Iterator[tuple[str, Path]]:
    """Yield the file's reasons for dropping items, with their keys."""
    for place, rule in enumerate(file.decide):
        for value, reason in getattr(rule, "drop", {}).items():
            yield reason, ("decide", place, "drop", value)
        for key in ("below", "no_value"):
            if key in rule.model_fields_set:
                yield getattr(rule, key), ("decide", place, key)


def as_json(file: ProtocolFile, benchmark: Benchmark | None, people: int, found: Rehearsal) -> dict[str, Any]:
    """Return the result as `manage.py try_protocol --json` prints it, without the problems of the file itself."""
    dropped = {reason: count for (state, reason), count in sorted(found.decisions.items()) if state == DROPPED}
    states = Counter(dict.fromkeys((KEPT, OPEN), 0))
    for (state, _), count in found.decisions.items():
        states[state] += count
    return {
        "protocol": file.name,
        "benchmark": benchmark.name if benchmark else None,
        "items": found.items,
        "tasks": found.tasks,
        "tasks_left_out": found.left_out,
        "tasks_per_item": (found.tasks + found.left_out) / found.items if found.items else None,
        "screens_rendered": found.screens,
        "answers_walked": found.walked,
        "all_answers_walked": found.whole,
        "crowd": {
            "people": max(people, file.judgments), "judgments": found.judgments, "kept": states[KEPT],
            "dropped": dropped, "open": states[OPEN],
        },
        "agreement": found.agreement,
        "unsuitable": {
            "items": found.unsuitable.total(),
            "reasons": [
                {"needs": lacks, "items": count, "example": found.examples[lacks]}
                for lacks, count in found.unsuitable.most_common(_REASONS)
            ],
        },
        "unreachable": found.unreachable,
    }  # fmt: skip
