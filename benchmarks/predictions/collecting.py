"""The answers about each item, combined into the records on which metrics are computed. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks.formats.base import ProblemLog
from benchmarks.metrics.base import TIED, Typed
from benchmarks.metrics.inputs import beats
from benchmarks.predictions.base import Answer, Reference
from benchmarks.predictions.kinds import NONE, RIGHT, Kind
from benchmarks.records import ItemRecord, Origin


@dataclass(slots=True)
class ItemAnswers:
    """All answers about an item, by question or score name. `record`: the item, once it is matched."""

    item: Reference
    type: str
    subtype: str
    origin: Origin  # of the first answer
    answers: dict[str, Answer] = field(default_factory=dict)
    record: ItemRecord | None = None

    @property
    def scores(self) -> dict[str, float]:
        return {name: answer.score for name, answer in self.answers.items() if answer.score is not None}


def collect(answers: Iterable[Answer], log: ProblemLog) -> list[ItemAnswers]:
    """Answers by item, in the order of first answers. Repeated answers and conflicting types are logged."""
    found: dict[Reference, ItemAnswers] = {}
    for answer in answers:
        about = found.get(answer.item)
        if about is None:
            about = found[answer.item] = ItemAnswers(answer.item, answer.type, answer.subtype, answer.origin)
        first = about.answers.setdefault(answer.question, answer)
        if first is not answer:
            where = f"Row {first.origin.row} of {first.origin.file}"
            advice = f"{where} also answers this for “{str(answer.item)[:80]}”. Keep one."
            log.error("DUPLICATE_ID", answer.origin.file, answer.origin.row, answer.question, advice)
        check_type(about, answer, log)
    return list(found.values())


def check_type(about: ItemAnswers, answer: Answer, log: ProblemLog) -> None:
    """A line may omit type and subtype if another has them."""
    for name in ("type", "subtype"):
        had, said = getattr(about, name), getattr(answer, name)
        if had and said and had != said:
            advice = f"Another row has “{had[:80]}” for this item. Keep one of them."
            log.error("WRONG_VALUE", answer.origin.file, answer.origin.row, name, advice)
        setattr(about, name, had or said)


def records(items: Iterable[ItemAnswers], kind: Kind, log: ProblemLog) -> list[Typed]:
    """A record of the kind's metric for each complete item."""
    return [
        kind.measured.record(**answered, **_further(item, kind), type=item.type, subtype=item.subtype)
        for item, answered in complete(items, kind, log)
    ]


def _further(item: ItemAnswers, kind: Kind) -> dict[str, bool]:
    """What follows from its answers beside its questions: whether it is tied; and, from its captions, which the item
    has, or the answers that name it by them, what the kind derives."""
    if kind.measured.notes_ties:
        none_chosen = any(answer.choice == NONE for answer in item.answers.values())
        return {TIED: none_chosen or bool(kind.measured.tied(item.scores))}
    if kind.measured.from_captions is None:
        return {}
    written = [(one.role, one.text) for one in item.record.captions] if item.record else item.item.captions
    return kind.measured.from_captions(item.scores, dict(reversed(written)))


def complete(
    items: Iterable[ItemAnswers], kind: Kind, log: ProblemLog
) -> Iterator[tuple[ItemAnswers, dict[str, bool | None]]]:
    """The complete items, each with its verdicts.

    An item must have every answer that any item of its type has, or it counts as a gap: omitting the hard items would
    flatter a model. The questions depend on the type, since ARO asks different ones.
    """
    found = [(item, verdicts(item, kind, log)) for item in items]
    asked: dict[str, set[str]] = defaultdict(set)
    for item, answered in found:
        asked[item.type] |= {name for name, verdict in answered.items() if verdict is not None}
    yield from ((item, answered) for item, answered in found if whole(item, answered, asked[item.type], log))


def verdicts(item: ItemAnswers, kind: Kind, log: ProblemLog) -> dict[str, bool | None]:
    """Question → right, not right, or None (not answered)."""
    scores = item.scores
    found: dict[str, bool | None] = {}
    for name, question in kind.questions.items():
        by_scores = beats(scores, kind.measured.questions[name]) if scores else None
        said = item.answers.get(name)
        if said is not None and by_scores is not None:
            advice = "The item also has scores for this question. Keep either the choice or the scores."
            log.error("WRONG_VALUE", said.origin.file, said.origin.row, name, advice)
        if said is not None:
            found[name] = said.choice in (question.right, RIGHT)
        else:
            found[name] = None if by_scores is None else bool(by_scores)
    return found


def whole(item: ItemAnswers, answered: dict[str, bool | None], asked: set[str], log: ProblemLog) -> bool:
    """Whether the item is answered completely. Logs a gap if it is not."""
    lacking = [name for name, verdict in answered.items() if verdict is None and (name in asked or not asked)]
    if lacking:
        lacks = f"“{str(item.item)[:80]}” has neither a choice nor all scores for this question."
        log.gap("INCOMPLETE_ROW", item.origin.file, item.origin.row, ", ".join(lacking), lacks)
    return not lacking
