"""A study's human baseline: read the rows for measures/human_baseline.py, which scores them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from annotation.measures.human_baseline import Pair, QuestionRow, figures, pairs_of
from annotation.models import Stage, Study
from annotation.sql import fetch

# Every question asked, with its outcome.
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
    """Return the scores of each of the study's baselines, JSON-able; docs/reference/measures.md defines them."""
    return of_stages(study.stages.order_by("position"))


def of_stages(stages: Iterable[Stage]) -> list[dict]:
    """Return the same for some of the study's stages, in order."""
    return of_pairs(pairs_of(stages))


def of_pairs(pairs: Sequence[Pair]) -> list[dict]:
    """Return the same for baselines of any studies, in two queries for any number of pairs, items and annotators."""
    outcomes, judgments = (_by_stage(statement, pairs) for statement in (OUTCOMES, JUDGMENTS))
    return [figures(pair, _of_pair(outcomes, pair), _of_pair(judgments, pair)) for pair in pairs]


def _by_stage(statement: str, pairs: Iterable[Pair]) -> dict[int, list[tuple]]:
    """Return (QuestionRow, other selected columns) for each row."""
    found: dict[int, list[tuple]] = defaultdict(list)
    stages = [stage.pk for pair in pairs for stage in pair.stages.values()]
    for row in fetch(statement, stages=stages) if stages else ():
        found[row[0]].append((QuestionRow._make(row[:6]), *row[6:]))
    return found


def _of_pair(rows: Mapping[int, list[tuple]], pair: Pair) -> Iterator[tuple]:
    return chain.from_iterable(rows.get(stage.pk, ()) for stage in pair.stages.values())
