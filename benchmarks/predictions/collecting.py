"""Answers about each item, combined into records for the metrics. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.formats.base import ProblemLog
from benchmarks.metrics.base import Typed
from benchmarks.predictions import stored
from benchmarks.predictions.base import Answer, Reference
from benchmarks.predictions.cut_captions import READ_ALIKE, counted, counted_by_type
from benchmarks.predictions.kinds import Kind
from benchmarks.records import ItemRecord, Origin


@dataclass(slots=True)
class ItemAnswers:
    """All answers about an item, by question or score name. `record`: the item, once matched. `read_alike`: there are
    none, because the model reads two of its captions as identical. `cut`: it does not read all of them."""

    item: Reference
    type: str
    subtype: str
    origin: Origin  # of the first answer
    answers: dict[str, Answer] = field(default_factory=dict)
    record: ItemRecord | None = None
    read_alike: bool = False
    cut: bool = False

    @property
    def scores(self) -> dict[str, float]:
        return {name: answer.score for name, answer in self.answers.items() if answer.score is not None}


def collect(answers: Iterable[Answer], log: ProblemLog) -> list[ItemAnswers]:
    """Group answers by item, in the order of first answers; log repeated answers and conflicting types."""
    found: dict[Reference, ItemAnswers] = {}
    for answer in answers:
        about = found.get(answer.item)
        if about is None:
            about = found[answer.item] = ItemAnswers(answer.item, answer.type, answer.subtype, answer.origin)
        about.read_alike |= answer.read_alike
        about.cut |= answer.cut
        first = answer if answer.read_alike else about.answers.setdefault(answer.question, answer)
        if first is not answer:
            where = f"Row {first.origin.row} of {first.origin.file}"
            advice = f"{where} also answers this for “{str(answer.item)[:80]}”. Keep one."
            log.error("DUPLICATE_ID", answer.origin.file, answer.origin.row, answer.question, advice)
        if about.read_alike and about.answers:
            advice = f"“{str(answer.item)[:80]}” is marked as {READ_ALIKE}, and has answers. Keep either."
            log.error("WRONG_VALUE", answer.origin.file, answer.origin.row, READ_ALIKE, advice)
        check_type(about, answer, log)
    return list(found.values())


def check_type(about: ItemAnswers, answer: Answer, log: ProblemLog) -> None:
    """Check the type; a line may omit type and subtype if another has them."""
    for name in ("type", "subtype"):
        had, said = getattr(about, name), getattr(answer, name)
        if had and said and had != said:
            advice = f"Another row has “{had[:80]}” for this item. Keep one of them."
            log.error("WRONG_VALUE", answer.origin.file, answer.origin.row, name, advice)
        setattr(about, name, had or said)


def complete(items: Sequence[ItemAnswers], kind: Kind, log: ProblemLog) -> list[tuple[ItemAnswers, Typed]]:
    """Return the complete items, each with its record for the kind's metric.

    An item must have every answer that any item of its type has, or it counts as a gap: omitting hard items would
    flatter a model. The questions depend on the type, because ARO's types have different ones.
    """
    items = [item for item in items if not item.read_alike]
    columns = {name: _column(name, items) for name in dict.fromkeys(name for item in items for name in item.answers)}
    types = {place: (item.type, item.subtype) for place, item in enumerate(items)}
    captions = {place: _first_captions(item) for place, item in enumerate(items)}
    found = stored.records(columns, types, kind, captions)
    asked: dict[str, set[str]] = defaultdict(set)
    for item, record in zip(items, found, strict=True):
        asked[item.type] |= {name for name in kind.questions if getattr(record, name) is not None}
        _log_answers_twice(item, kind, log)
    pairs = zip(items, found, strict=True)
    return [(item, record) for item, record in pairs if _whole(item, record, kind, asked[item.type], log)]


def cut_in(items: Sequence[ItemAnswers]) -> dict[str, Any]:
    """Return the items whose captions the model truncates, if any is marked, and those it reads as identical, as
    scoring reports them; JSON-able."""
    alike = [one for one in items if one.read_alike]
    cut = [_key(one) for one in items if one.cut]
    found = {"alike": counted_by_type([*map(_key, alike)], ((one.type, one.subtype) for one in alike))}
    return {"in_items": counted(cut), **found} if cut else found


def _key(one: ItemAnswers) -> str:
    return one.record.key if one.record else str(one.item)


def _column(name: str, items: Sequence[ItemAnswers]) -> stored.Column:
    """Return the answers under a name, with items by their positions."""
    given = [(place, answer) for place, item in enumerate(items) if (answer := item.answers.get(name))]
    places, answers = zip(*given, strict=True)
    return stored.Column(places, [one.score for one in answers], [one.choice for one in answers])


def _first_captions(item: ItemAnswers) -> dict[str, str]:
    """Return captions by role: the item's, or those in the answers that refer to it."""
    written = [(one.role, one.text) for one in item.record.captions] if item.record else item.item.captions
    return dict(reversed(written))


def _log_answers_twice(item: ItemAnswers, kind: Kind, log: ProblemLog) -> None:
    for name in kind.questions:
        said = item.answers.get(name)
        if said and all(score in item.scores for pair in kind.measured.questions[name] for score in pair):
            advice = "The item also has scores for this question. Keep either the choice or the scores."
            log.error("WRONG_VALUE", said.origin.file, said.origin.row, name, advice)


def _whole(item: ItemAnswers, record: Typed, kind: Kind, asked: set[str], log: ProblemLog) -> bool:
    """Return whether the item is answered completely; log a gap if not."""
    lacking = [name for name in kind.questions if getattr(record, name) is None and (name in asked or not asked)]
    if lacking:
        lacks = f"“{str(item.item)[:80]}” has neither a choice nor all scores for this question."
        log.gap("INCOMPLETE_ROW", item.origin.file, item.origin.row, ", ".join(lacking), lacks)
    return not lacking
