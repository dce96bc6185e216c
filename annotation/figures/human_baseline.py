"""The human baseline of a study: reads the rows for measures/human_baseline.py, which scores them."""

from collections.abc import Iterable, Iterator

from annotation.measures.human_baseline import Pair, QuestionRow, figures, pairs_of
from annotation.models import Stage, Study
from annotation.sql import fetch

# Every question that is asked, with its outcome.
OUTCOMES = """
SELECT task.stage_id, item.position, item.type, item.subtype, task.question, task.options,
       outcome.state, outcome.outcome
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
ORDER BY item.position
"""

# Every counted judgment of these questions, with its annotator.
JUDGMENTS = """
SELECT task.stage_id, item.position, item.type, item.subtype, task.question, task.options,
       annotator.number, judgment.answer
FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
JOIN annotation_annotator annotator ON annotator.id = slot.annotator_id
JOIN annotation_task task ON task.id = slot.task_id JOIN benchmarks_item item ON item.id = task.item_id
WHERE slot.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
ORDER BY annotator.number, item.position
"""


def baselines(study: Study) -> list[dict]:
    """The figures of each baseline of the study, JSON-able; docs/reference/measures.md defines them."""
    return of_stages(study.stages.order_by("position"))


def of_stages(stages: Iterable[Stage]) -> list[dict]:
    """The same for some of its stages, in order. Two queries, however many items and annotators there are."""
    return [figures(pair, _rows(OUTCOMES, pair), _rows(JUDGMENTS, pair)) for pair in pairs_of(stages)]


def _rows(statement: str, pair: Pair) -> Iterator[tuple]:
    """(QuestionRow, what else was selected) for each row."""
    for row in fetch(statement, stages=[stage.pk for stage in pair.stages.values()]):
        yield QuestionRow._make(row[:6]), *row[6:]
