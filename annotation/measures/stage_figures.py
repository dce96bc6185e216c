"""A stage's statistics as one dictionary, for the study page, the API and exports. Pure: figures/stage.py reads the
rows from the database, releases/verification from the files of a release.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from annotation.measures import agreement, warning_signs
from annotation.measures import counts as measures_counts
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import chief_on, is_common
from annotation.measures.audits.figures import to_come
from annotation.measures.counts import TaskRow
from annotation.measures.judgments import Judgments
from annotation.measures.pairwise_kappa import mean_kappas
from annotation.measures.pay import Pay
from annotation.measures.scores import scores
from annotation.protocols import base
from annotation.protocols.base import Attributes
from annotation.protocols.decision_rule import Rule

SETTINGS = (
    "protocol", "strategy", "overlap", "cap", "rule", "tie_rule", "batch_size", "agreement_items", "agreement_overlap",
    "sample", "quota", "check_rate",
)  # fmt: skip


@dataclass(frozen=True)
class StageRows:
    """The input for a stage's statistics.

    `settings` has the study's `name`, pay (pay.py) and `currency`, the stage's position (`stage`) and `stage_name`, and
    SETTINGS. `judgments` are of every kind, revisions included, and `tasks` the live ones without checks; both in the
    order of items, a task's judgments in the order given. `flags` are the number of flags and of open ones.
    `annotators` are (number, simulated, excluded, exclusion_reason, left, batch, skipped) of everybody with a seat in
    the stage. `paper` has the statistics of the protocol's paper, under that name, an audit's result under `audit`, and
    those of adaptive overlap under `adaptive`. `attributes` are those of items' parts, by the item's position,
    `options` those of all live tasks.
    """

    settings: Mapping[str, Any]
    rule: Rule
    judgments: Judgments
    tasks: Sequence[TaskRow]
    flags: tuple[int, int]
    annotators: Sequence[tuple[Any, ...]]
    paper: Mapping[str, dict[str, Any]]
    attributes: Mapping[int, Attributes] = field(default_factory=dict)
    options: Sequence[str] = ()

    @cached_property
    def counted(self) -> Judgments:
        """Return counted judgments, including those of tasks that are no longer live."""
        return self.judgments[self.judgments.is_judge & self.judgments.counted]

    @cached_property
    def standing(self) -> Judgments:
        """Return the counted judgments of live tasks."""
        return self.counted[self.counted.live]

    @cached_property
    def table(self) -> RatingTable:
        return measures_counts.rating_table(self.standing)

    @property
    def wanted(self) -> int:
        """Return the number of judgments required for the live tasks; in an audit, for the items that it is expected to
        need, or needs at most if there is no expectation yet.
        """
        if "audit" in self.paper:
            return self._wanted_by_audit(self.paper["audit"])
        return sum(task.overlap for task in self.tasks)

    def _wanted_by_audit(self, audit: Mapping[str, Any]) -> int:
        judged = self.standing.task.counts()
        items = {task.task[0] for task in self.tasks}
        missing: Counter[int] = Counter()
        for task in self.tasks:
            if task.state is None:
                missing[task.task[0]] += max(0, task.overlap - judged.get(task.task, 0))
        needed = audit["most"] if audit["expected"] is None else audit["expected"]
        holding = audit["ahead"]["open"] if "ahead" in audit else 0
        coming = to_come(missing.values(), len(items) - len(missing), needed, holding, audit["met"] is True)
        return sum(judged.values()) + sum(coming)


def figures(found: StageRows, step: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Compute every statistic of the stage that does not depend on the clock, JSON-able (docs/reference/measures.md).

    `step()` is called after each view of agreement.
    """
    counted, standing = found.counted, found.standing
    gone = len(counted) - len(standing)
    return {
        "study": {**found.settings, "views": list(found.rule.projections())},
        "progress": _progress(found, gone),
        "outcomes": measures_counts.outcome_counts(found.tasks),
        "pace": measures_counts.pace(counted),
        "cost": measures_counts.stage_cost(found.judgments, len(counted), found.wanted + gone, Pay.of(found.settings)),
        **_agreement(found, step),
        "series": measures_counts.judgments_over_time(counted),
        **found.paper,
        **_scores(found, standing),
    }


def _scores(found: StageRows, standing: Judgments) -> dict[str, Any]:
    """Return `scores` if the protocol file defines scores for its answers; otherwise nothing."""
    file = found.rule.protocol.file
    made = scores(file, list(standing), found.tasks, found.attributes) if file else {}
    return {"scores": made} if any(made.values()) else {}


def answer_shares(found: StageRows) -> list[float]:
    """Return the share of each counted answer, on the view shown first, the most common first."""
    views = found.rule.projections()
    return found.table.projected(views[base.main_view(views)]).shares


def with_steady(found: StageRows, figures: Mapping[str, Any], shares: Sequence[float]) -> dict[str, Any]:
    """Add AC1 on each view without order, and by type, if one answer is so common that AC1 is the chief measure
    (`chief_on`); `shares` are answer_shares. Pages and reports show it; exports do not contain it.
    """
    if not is_common(shares):
        return dict(figures)
    coarse, views = figures["by_type_on"], found.rule.projections()
    seen = {one["on"]: found.table.projected(views[one["on"]]) for one in figures["agreement"] if "level" not in one}
    offered = {name: found.rule.offered(name, found.options) for name in seen}

    def added(row: Mapping[str, Any], on: str, table: RatingTable) -> dict[str, Any]:
        return {**row, "measures": row["measures"] | measures_counts.steady(table, offered[on])}

    found_on = [added(one, one["on"], seen[one["on"]]) if one["on"] in seen else one for one in figures["agreement"]]
    kinds = measures_counts.by_type(found.tasks) if coarse in seen else []
    parts = [
        added(row, coarse, seen[coarse].for_items({task.task for task in tasks}))
        for row, (_, tasks) in zip(figures["by_type"], kinds, strict=bool(kinds))
    ]
    return {**figures, "agreement": found_on, "by_type": parts or figures["by_type"]}


def headline(figures: Mapping[str, Any], shares: Sequence[float]) -> dict[str, Any]:
    """Return the agreement that a page shows first: the chief `measure` on the view shown first (`on`), or percent
    agreement if that has no value; `shares` are answer_shares. A scale adds its `level`, and `unit` if an item is a
    statement or a word.
    """
    on = figures["by_type_on"]
    view = next(one for one in figures["agreement"] if one["on"] == on)
    chief = chief_on(view.get("level", base.NOMINAL), shares).key
    if view["measures"][chief]["value"] is None and view["measures"]["percent"]["value"] is not None:
        chief = "percent"
    named = {name: view[name] for name in ("level", "unit") if name in view}
    return {"on": on, "measure": chief, **view["measures"][chief], **named}


def _agreement(found: StageRows, step: Callable[[], None]) -> dict[str, Any]:
    """Return all comparisons of annotators on each view of counted answers, for the stage, annotators and types."""
    agreements = []
    seen = {name: found.table.projected(view) for name, view in found.rule.projections().items()}
    for name, table in seen.items():
        agreements.append(measures_counts.agreement_figures(name, table, found.rule.offered(name, found.options)))
        step()
    coarse = base.main_view(found.rule.projections())
    return {
        "agreement": agreements,
        "disagreements": {name: agreement.count_disagreements(table) for name, table in seen.items()},
        "annotators": _annotators(found, seen, agreements),
        "by_type_on": coarse,
        "by_type": measures_counts.figures_by_type(found.tasks, found.standing, seen[coarse]),
    }


def _progress(found: StageRows, gone: int) -> dict[str, Any]:
    rows = found.judgments[found.judgments.is_judge]
    flags, unsettled = found.flags
    return {
        "items": len({task.task[0] for task in found.tasks}),
        "tasks": len(found.tasks),
        "settled": sum(task.state is not None for task in found.tasks),
        "judgments_wanted": found.wanted,
        "judgments_counted": int(rows.counted.sum()) - gone,
        "judgments_gone": gone,
        "judgment_rows": len(rows),
        "withdrawn": int(rows.withdrawn.sum()),
        "surplus": int((rows.surplus & ~rows.withdrawn).sum()),
        "flags": flags,
        "flags_open": unsettled,
    }


def _annotators(
    found: StageRows, seen: Mapping[str, RatingTable], agreements: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return a row for everybody who has been in the stage, in order of joining."""
    mine, none = found.judgments.by_annotator(), found.judgments[:0]
    everyone = warning_signs.usual_times(found.counted.active_ms, found.counted.annotator)
    majority = {name: agreement.agreement_with_majority(table) for name, table in seen.items()}
    kappas = {
        one["on"]: mean_kappas((pair["first"], pair["second"], pair["value"]) for pair in one["kappa_pairs"])
        for one in agreements
    }
    fixed = [choice.identity for choice in found.rule.protocol.fixed]
    pay = Pay.of(found.settings)
    names = ("simulated", "excluded", "exclusion_reason", "left", "batch", "skipped")
    return [
        {
            **measures_counts.annotator_summary(number, mine.get(number, none), everyone, pay, fixed),
            "with_majority": {name: _share(one.get(number)) for name, one in majority.items()},
            "kappa_mean": {name: means.get(number) for name, means in kappas.items()},
            **dict(zip(names, who, strict=True)),
        }
        for number, *who in found.annotators
    ]


def _share(same: tuple[int, int] | None) -> dict[str, Any]:
    """Return how often, of `n`, an annotator agreed with the others, or why they cannot be compared."""
    agreed, n = same or (0, 0)
    reason = measures_counts.NOTHING_JUDGED if same is None else "" if n else agreement.NO_OTHERS
    return {"value": measures_counts.ratio(agreed, n), "n": n, "reason": reason}
