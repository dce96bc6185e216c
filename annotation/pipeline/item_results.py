"""The result of a stage for its items: kept, dropped for a reason, or open. Only live tasks count."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Stage, Study
from annotation.protocols.base import as_carried
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.sql import fetch

# A row for each live task of the items: what was carried in, and its outcome.
RESULTS = """
SELECT task.item_id, task.carried, outcome.state, outcome.outcome, outcome.reason, outcome.content
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live {among} ORDER BY task.item_id, task.question
"""
OF_ITEMS = "AND task.item_id = ANY(%(items)s)"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a stage for an item: kept, dropped (for `reason`) or open, and what it passes on."""

    state: str
    reason: str = ""
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.reason if self.state == DROPPED else self.state


def results(stage: Stage, items: Sequence[int] | None = None) -> dict[int, Result]:
    """Results of the items in the stage: of all, or of these."""
    rows: dict[int, list[list]] = defaultdict(list)
    among, of_items = ("", {}) if items is None else (OF_ITEMS, {"items": list(items)})
    for item, *row in fetch(RESULTS.format(among=among), stage=stage.pk, **of_items):
        rows[item].append(row)
    return {item: _result(stage, of_item) for item, of_item in rows.items()}


def _result(stage: Stage, rows: Sequence[Sequence]) -> Result:
    """Dropped as soon as one of its tasks is; kept when all are."""
    carried = json.loads(rows[0][0])  # raw SQL returns JSON as text
    for _, state, _, reason, _ in rows:
        if state == DROPPED:
            return Result(DROPPED, reason, carried)
    if any(state is None for _, state, *_ in rows):
        return Result(OPEN, "", carried)
    if stage.carries:
        carried[stage.carries] = rows[0][2]
    for *_, content in rows:
        carried |= as_carried(json.loads(content).get("texts", {}))
    return Result(KEPT, "", carried)


def fallen_out(study: Study, items: Sequence[int] | None = None, root: Stage | None = None) -> set[int]:
    """Items that a stage dropped and that no later stage took in; of all, or of these.

    With a `root`, only stages on the way from that one.
    """
    stages = list(study.stages.order_by("position")) if root is None else from_root(root)
    found = {stage.pk: results(stage, items) for stage in stages}
    out: set[int] = set()
    for stage in stages:
        taken = {item for taker in stages if taker.source_id == stage.pk for item in found[taker.pk]}
        out |= {item for item, result in found[stage.pk].items() if result.state == DROPPED} - taken
    return out


def from_root(root: Stage) -> list[Stage]:
    """The stage and all stages that take items from it, directly or not."""
    reached = {root.pk: root}
    for stage in Stage.objects.filter(study=root.study_id).order_by("position"):
        if stage.source_id in reached:
            reached[stage.pk] = stage
    return list(reached.values())
