"""The human baseline: how well annotators answer the questions that models are asked, from a study's measuring stages.

An item makes two questions in the image-to-text stage and two in the text-to-image stage. A question is right where its
task's outcome is the right option: with more than one judgment a task that is what most said. A tie, `cannot_judge` and
a dropped task are not right; a task without an outcome is not answered, and what needs it waits. The measures are those
of benchmarks/metrics/bivlc.py, so that people and models are scored alike.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from annotation.designs.presets import BASELINE_PROTOCOLS, DIFFERENT_ANNOTATORS, I2T, ONE_ANNOTATOR, T2I
from annotation.models import Stage, Study
from annotation.protocols.decision_rule import KEPT
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
from annotation.wording import pseudonym
from benchmarks.metrics import bivlc
from benchmarks.metrics.base import Figure
from benchmarks.metrics.bivlc import Answered

MIXED = "mixed"

# Every question that is asked, with what came of it.
OUTCOMES = """
SELECT task.stage_id, item.position, item.type, item.subtype, task.question, task.options,
       outcome.state, outcome.outcome
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
ORDER BY item.position
"""

# Every counted judgment of these questions, with whose it is.
JUDGMENTS = """
SELECT task.stage_id, item.position, item.type, item.subtype, task.question, task.options,
       annotator.number, judgment.answer
FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
JOIN annotation_annotator annotator ON annotator.id = slot.annotator_id
JOIN annotation_task task ON task.id = slot.task_id JOIN benchmarks_item item ON item.id = task.item_id
WHERE slot.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
ORDER BY annotator.number, item.position
"""


class Question(NamedTuple):
    """One of the four questions of an item; `name` is a name of bivlc.QUESTIONS."""

    position: int
    type: str
    subtype: str
    name: str


@dataclass(slots=True)
class Pair:
    """The stages of one baseline, by I2T and T2I. A study may have one of them alone, or several baselines."""

    stages: dict[str, Stage] = field(default_factory=dict)

    def takes(self, name: str, stage: Stage) -> bool:
        other = self.stages.get(I2T if name == T2I else T2I)
        if name in self.stages or other is None:
            return False
        return stage.after_id == other.pk if stage.after_id else stage.source_id == other.source_id


def baselines(study: Study) -> list[dict]:
    """The figures of each baseline of the study, JSON-able; docs/reference/measures.md defines them."""
    return of_stages(study.stages.order_by("position"))


def of_stages(stages: Iterable[Stage]) -> list[dict]:
    """The same of some of its stages, in their order."""
    return [figures(pair) for pair in pairs_of(stages)]


def pairs_of(stages: Iterable[Stage]) -> list[Pair]:
    """Each text-to-image stage with the image-to-text stage that it follows, or else with one of the same source."""
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


def figures(pair: Pair) -> dict:
    """Two queries, however many items, questions and annotators there are."""
    verdicts = {asked: verdict(right, *outcome) for asked, right, *outcome in _read(OUTCOMES, pair)}
    judged = [(asked, number, answer == right) for asked, right, number, answer in _read(JUDGMENTS, pair)]
    items = scored(verdicts)
    return {
        "stages": [_naming(name, stage) for name, stage in pair.stages.items()],
        "design": designs((asked, number) for asked, number, _ in judged),
        "items": len(items),
        "questions": len(verdicts),
        "answered": sum(found is not None for found in verdicts.values()),
        "measures": _rows(bivlc.accuracies(items)),
        "by_type": [
            {"type": group.type, "subtype": group.subtype, "items": group.items, "measures": _rows(group.measures)}
            for group in bivlc.by_type(items)
        ],
        "annotators": list(_annotators(judged)),
    }


def _read(statement: str, pair: Pair) -> Iterator[tuple]:
    """(which question, its right option, what else was selected) for each row."""
    protocols = {stage.pk: (name, PROTOCOLS[stage.protocol]) for name, stage in pair.stages.items()}
    for stage, position, kind, subtype, question, options, *rest in fetch(statement, stages=list(protocols)):
        name, protocol = protocols[stage]
        right = protocol.right_answer(question, options)
        yield Question(position, kind, subtype, which(name, right)), right, *rest


def which(name: str, right: str) -> str:
    """The question that has this right option: the positive caption or image belongs to a question about a positive."""
    role = "pos" if "positive" in right else "neg"
    return f"i_{role}2t" if name == I2T else f"t_{role}2i"


def verdict(right: str, state: str | None, outcome: str | None) -> bool | None:
    """Whether the question was answered rightly; None while it has no outcome."""
    return None if state is None else state == KEPT and outcome == right


def scored(verdicts: Mapping[Question, bool | None]) -> list[Answered]:
    """An item's questions together, in the order of items."""
    items: dict[tuple, dict[str, bool | None]] = defaultdict(dict)
    for asked, found in verdicts.items():
        items[asked[:3]][asked.name] = found
    return [Answered(**found, type=kind, subtype=subtype) for (_, kind, subtype), found in sorted(items.items())]


def designs(given: Iterable[tuple[Question, int]]) -> dict[str, int]:
    """Items with two answers or more by who gave them: one annotator all, each annotator one, or neither (mixed)."""
    people: dict[int, list[int]] = defaultdict(list)
    for asked, number in given:
        people[asked.position].append(number)
    found = Counter(
        ONE_ANNOTATOR
        if len(set(numbers)) == 1
        else DIFFERENT_ANNOTATORS
        if len(set(numbers)) == len(numbers)
        else MIXED
        for numbers in people.values()
        if len(numbers) > 1
    )
    return {name: found[name] for name in (ONE_ANNOTATOR, DIFFERENT_ANNOTATORS, MIXED)}


def _annotators(judged: Iterable[tuple[Question, int, bool]]) -> Iterator[dict]:
    """Each annotator's own answers, by the same measures; a composite rests on items that they answered whole."""
    mine: dict[int, dict[Question, bool]] = defaultdict(dict)
    for asked, number, found in judged:
        mine[number][asked] = found
    for number, verdicts in sorted(mine.items()):
        measures = _rows(bivlc.accuracies(scored(verdicts)))
        answered, right = len(verdicts), sum(verdicts.values())
        yield {"annotator": pseudonym(number), "answered": answered, "right": right, "measures": measures}


def _rows(found: Mapping[str, Figure]) -> dict[str, dict]:
    return {name: asdict(accuracy) for name, accuracy in found.items()}


def _naming(name: str, stage: Stage) -> dict:
    return {"stage": stage.position, "name": stage.name, "direction": name, "overlap": stage.overlap}
