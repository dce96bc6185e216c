"""A stage's result for its items: kept, dropped for a reason, or open. Only live tasks count."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Stage, Study
from annotation.protocols.base import passed_on
from annotation.protocols.decision_rule import DROPPED, KEPT
from annotation.sql import fetch

# A stage's result for an item, from its live `task` rows with their `outcome`, if any, grouped by item: dropped as
# soon as a task is, for the reason of the first such task, open while any is, and kept when all are. The label is the
# why the item was dropped, otherwise its state.
STATE = """CASE WHEN bool_or(outcome.state = 'dropped') THEN 'dropped'
            WHEN bool_or(outcome.state IS NULL) THEN 'open' ELSE 'kept' END"""
REASON = "(array_agg(outcome.reason ORDER BY task.question) FILTER (WHERE outcome.state = 'dropped'))[1]"
LABEL = f"""CASE WHEN bool_or(outcome.state = 'dropped') THEN {REASON}
            WHEN bool_or(outcome.state IS NULL) THEN 'open' ELSE 'kept' END"""

# A row for each item: its result, what was carried in, the first task's outcome, and the content of all outcomes.
RESULTS = f"""
SELECT task.item_id, {STATE}, coalesce({REASON}, ''), (array_agg(task.carried ORDER BY task.question))[1],
       (array_agg(outcome.outcome ORDER BY task.question))[1],
       jsonb_agg(outcome.content ORDER BY task.question) FILTER (WHERE outcome.task_id IS NOT NULL)
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live {{among}}
GROUP BY task.item_id ORDER BY task.item_id
"""
OF_ITEMS = "AND task.item_id = ANY(%(items)s)"


@dataclass(frozen=True, slots=True)
class Result:
    """A stage's result for an item: kept, dropped (for `reason`) or open, and what it passes on."""

    state: str
    reason: str = ""
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.reason if self.state == DROPPED else self.state


def results(stage: Stage, items: Sequence[int] | None = None) -> dict[int, Result]:
    """Return results for the stage's items: all, or these."""
    among, of_items = ("", {}) if items is None else (OF_ITEMS, {"items": list(items)})
    rows = fetch(RESULTS.format(among=among), stage=stage.pk, **of_items)
    return {item: _result(stage, *found) for item, *found in rows}


def _result(stage: Stage, state: str, reason: str, carried: str, outcome: str | None, contents: str | None) -> Result:
    """Build a result; raw SQL returns JSON as text."""
    passes = json.loads(carried)
    if state == KEPT:
        passes = passed_on(passes, stage.carries, outcome, json.loads(contents or "[]"))
    return Result(state, reason, passes)


def fallen_out(study: Study, items: Sequence[int] | None = None, root: Stage | None = None) -> set[int]:
    """Return items that a stage dropped and that no later stage took in, among all or these. With a `root`, only stages

    that follow from it count.
    """
    stages = list(study.stages.order_by("position")) if root is None else from_root(root)
    found = {stage.pk: results(stage, items) for stage in stages}
    out: set[int] = set()
    for stage in stages:
        taken = {item for taker in stages if taker.source_id == stage.pk for item in found[taker.pk]}
        out |= {item for item, result in found[stage.pk].items() if result.state == DROPPED} - taken
    return out


def from_root(root: Stage) -> list[Stage]:
    """Return the stage and all stages that take items from it, directly or not."""
    reached = {root.pk: root}
    for stage in Stage.objects.filter(study=root.study_id).order_by("position"):
        if stage.source_id in reached:
            reached[stage.pk] = stage
    return list(reached.values())
