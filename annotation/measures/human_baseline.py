"""The human baseline: annotators' results on the questions asked of models, from a study's measuring stages.

An item has two questions in the image-to-text stage and two in the text-to-image stage. A question is answered
correctly if its task's outcome is the right option; with more than one judgment, the majority decides. A tie,
`cannot_judge` or a dropped task is not correct; a task without an outcome is unanswered, and measures that need it
wait. The measures are those of benchmarks/metrics/bivlc.py, so that people and models are scored alike. Unlike for
models, intervals are over annotators (measures/over_annotators.py): each answers many questions, and they differ.

Pure: figures/human_baseline.py reads the rows from the database, releases/verification from a release's files.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from annotation.measures.over_annotators import interval
from annotation.measures.types import Figures, Stage
from annotation.protocols.decision_rule import KEPT
from annotation.protocols.registry import protocol_named
from annotation.wording import pseudonym
from benchmarks.metrics import bivlc
from benchmarks.metrics.base import Figure, by_type
from benchmarks.metrics.bivlc import Answered

I2T, T2I = "i2t", "t2i"
BASELINE_PROTOCOLS = {I2T: "bivlc-i2t", T2I: "bivlc-t2i"}
ONE_ANNOTATOR, DIFFERENT_ANNOTATORS, MIXED = "one", "different", "mixed"  # who answers an item's questions


class Question(NamedTuple):
    """One of the four questions about an item; `name` is a name in bivlc.QUESTIONS."""

    position: int
    type: str
    subtype: str
    name: str


@dataclass(frozen=True, slots=True)
class Judged(Answered):
    """`judged_by`: the annotator of each counted judgment, by question."""

    judged_by: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FigureOverAnnotators(Figure):
    """A score with the interval of measures/over_annotators.py, based on `effective` items and taken over `over`."""

    effective: float | None = None
    over: str | None = None


class QuestionRow(NamedTuple):
    """A live task of one of the stages (its `pk`), or a counted judgment of it, without the answer."""

    stage: object
    position: int
    type: str
    subtype: str
    question: str
    options: Sequence[str]


@dataclass(slots=True)
class Pair:
    """The stages of one baseline, by I2T and T2I. A study may have only one of the two, or several baselines."""

    stages: dict[str, Stage] = field(default_factory=dict)

    def takes(self, name: str, stage: Stage) -> bool:
        other = self.stages.get(I2T if name == T2I else T2I)
        if name in self.stages or other is None:
            return False
        return stage.after_id == other.pk if stage.after_id else stage.source_id == other.source_id


def pairs_of(stages: Iterable[Stage]) -> list[Pair]:
    """Pair each text-to-image stage with the image-to-text stage it follows, or else with one of the same source."""
    names = {protocol: name for name, protocol in BASELINE_PROTOCOLS.items()}
    pairs: list[Pair] = []
    for stage in stages:
        name = names.get(stage.protocol)
        if name is None:
            continue
        pair = next((pair for pair in reversed(pairs) if pair.takes(name, stage)), None)
        if pair is None:
            pair = Pair()
            pairs.append(pair)
        pair.stages[name] = stage
    return pairs


def figures(pair: Pair, outcomes: Iterable[tuple[Any, ...]], judgments: Iterable[tuple[Any, ...]]) -> Figures:
    """Compute the scores of one baseline, JSON-able; docs/reference/measures.md defines them.

    `outcomes` are (QuestionRow, state or None, outcome) of its live tasks; `judgments` are (QuestionRow, annotator,
    answer).
    """
    stages = {stage.pk: (name, protocol_named(stage.protocol)) for name, stage in pair.stages.items()}

    def question(task: QuestionRow) -> tuple[Question, str]:
        """Return which of the four questions it is, and its right option."""
        name, protocol = stages[task.stage]
        right = protocol.right_answer(task.question, task.options)
        return Question(task.position, task.type, task.subtype, _which(name, right)), right

    verdicts, judged = {}, []
    for task, *outcome in outcomes:
        one, right = question(task)
        verdicts[one] = _verdict(right, *outcome)
    for task, number, answer in judgments:
        one, right = question(task)
        judged.append((one, number, answer == right))
    given = [(one, number) for one, number, _ in judged]
    items = _scored(verdicts, given)
    return {
        "stages": [_naming(name, stage) for name, stage in pair.stages.items()],
        "design": designs(given),
        "items": len(items),
        "questions": len(verdicts),
        "answered": sum(found is not None for found in verdicts.values()),
        "measures": _rows(_accuracies(items)),
        "by_type": [
            {"type": group.type, "subtype": group.subtype, "items": group.items, "measures": _rows(group.measures)}
            for group in by_type(items, _accuracies)
        ],
        "annotators": list(_annotators(judged)),
    }


def _which(name: str, right: str) -> str:
    """Return the question with this right option: a positive one belongs to a question about a positive."""
    role = "pos" if "positive" in right else "neg"
    return f"i_{role}2t" if name == I2T else f"t_{role}2i"


def _verdict(right: str, state: str | None, outcome: str | None) -> bool | None:
    """Return whether the question was answered correctly; None while it has no outcome."""
    return None if state is None else state == KEPT and outcome == right


def _scored(verdicts: Mapping[Question, bool | None], given: Iterable[tuple[Question, int]]) -> list[Judged]:
    """Collect each item's questions, in the order of items; `given`: the annotator of each counted judgment."""
    items: dict[tuple[int, str, str], dict[str, bool | None]] = defaultdict(dict)
    judged_by: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for asked, found in verdicts.items():
        items[asked[:3]][asked.name] = found
    for asked, number in given:
        judged_by[asked.position][asked.name].append(number)
    return [
        Judged(**found, type=kind, subtype=subtype, judged_by=judged_by[position])
        for (position, kind, subtype), found in sorted(items.items())
    ]


def _accuracies(items: Iterable[Judged]) -> dict[str, Figure]:
    """Return every measure by its name, in the paper's order, with its interval over annotators."""
    items = list(items)
    return {name: _over_annotators(items, name, found) for name, found in bivlc.accuracies(items).items()}


def _over_annotators(items: Iterable[Judged], measure: str, found: Figure) -> FigureOverAnnotators:
    answered = [(item, right) for item in items if (right := bivlc.right(item, measure)) is not None]
    needs = bivlc.MEASURES[measure].needs
    judged_by = [[who for name in needs for who in item.judged_by.get(name, ())] for item, _ in answered]
    return FigureOverAnnotators(**asdict(found) | interval([right for _, right in answered], judged_by))


def designs(given: Iterable[tuple[Question, int]]) -> dict[str, int]:
    """Count items with two or more answers by who gave them: one annotator, different annotators, or a mix."""
    people: dict[int, list[int]] = defaultdict(list)
    for asked, number in given:
        people[asked.position].append(number)
    found = Counter(_design(numbers) for numbers in people.values() if len(numbers) > 1)
    return {name: found[name] for name in (ONE_ANNOTATOR, DIFFERENT_ANNOTATORS, MIXED)}


def _design(numbers: Sequence[int]) -> str:
    """Return who gave an item's answers: one annotator, different ones, or a mix."""
    different = len(set(numbers))
    return ONE_ANNOTATOR if different == 1 else DIFFERENT_ANNOTATORS if different == len(numbers) else MIXED


def _annotators(judged: Iterable[tuple[Question, int, bool]]) -> Iterator[dict[str, Any]]:
    """Score each annotator's own answers with the same measures; composites use only items they answered in full."""
    mine: dict[int, dict[Question, bool]] = defaultdict(dict)
    for asked, number, found in judged:
        mine[number][asked] = found
    for number, verdicts in sorted(mine.items()):
        measures = _rows(bivlc.accuracies(_scored(verdicts, ())))
        answered, right = len(verdicts), sum(verdicts.values())
        yield {"annotator": pseudonym(number), "answered": answered, "right": right, "measures": measures}


def _rows(found: Mapping[str, Figure]) -> dict[str, Figures]:
    return {name: asdict(accuracy) for name, accuracy in found.items()}


def _naming(name: str, stage: Stage) -> dict[str, Any]:
    return {"stage": stage.position, "name": stage.name, "direction": name, "overlap": stage.overlap}
