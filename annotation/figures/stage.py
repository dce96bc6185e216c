"""A stage's statistics: one dictionary for the study page, the API and the export.

Takes seven queries for any number of items, judgments and annotators, and up to three more for a paper's own statistics
(annotation/figures/paper.py). Everything under `now` depends on the clock and is left out of exports.
"""

import math
from collections.abc import Callable, Mapping

from annotation import wording
from annotation.figures import blocked_items
from annotation.figures.attributes import attributes_of
from annotation.figures.judgments import judgments_of, stage_tasks, task_rows
from annotation.figures.paper import paper
from annotation.measures import adaptive_overlap, stage_figures
from annotation.measures import counts as measures_counts
from annotation.measures.audits.figures import audit_figures
from annotation.measures.counts import HOUR, iso_time
from annotation.measures.judgments import Judgments
from annotation.measures.stage_figures import SETTINGS, StageRows
from annotation.models import Kind, Stage, StageState, Strategy, StudyState
from annotation.pipeline import audits
from annotation.pipeline.stage_rules import rule_of
from annotation.sql import fetch

LONGEST = 10 * 365 * 24  # hours; longer forecasts are not shown

# The tasks on annotators' screens, when the last of them expires, and the time now, in microseconds.
LEASED = """
SELECT count(DISTINCT task_id), (extract(epoch FROM max(held_until)) * 1000000)::bigint,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM annotation_slot WHERE stage_id = %(stage)s AND held_until > clock_timestamp()
"""

# Everybody who has been in the stage, in order of joining.
ANNOTATORS = """
SELECT annotator.number, annotator.simulated, annotator.excluded_at IS NOT NULL, annotator.exclusion_reason,
       annotator.left_at IS NOT NULL, seat.batch, count(lease.id) FILTER (WHERE lease.state = 'skipped')
FROM annotation_seat seat JOIN annotation_annotator annotator ON annotator.id = seat.annotator_id
LEFT JOIN (annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id AND task.stage_id = %(stage)s)
  ON lease.annotator_id = annotator.id
WHERE seat.stage_id = %(stage)s GROUP BY annotator.id, seat.id ORDER BY annotator.number
"""

FLAGS = """
SELECT count(*), count(*) FILTER (WHERE flag.settled_at IS NULL)
FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
JOIN annotation_task task ON task.id = lease.task_id WHERE task.stage_id = %(stage)s
"""


def without_pairs(figures: dict) -> dict:
    """Return the statistics without the kappa of every pair (`kappa_pairs`): 500 annotators have 124,750."""
    agreement = [{name: of[name] for name in of if name != "kappa_pairs"} for of in figures["agreement"]]
    return figures | {"agreement": agreement}


def stage_rows(stage: Stage) -> StageRows:
    """Return everything from which the stage's statistics are computed."""
    ((flags, unsettled),) = fetch(FLAGS, stage=stage.pk)
    rule, asked = rule_of(stage), stage_tasks(stage)
    judgments, tasks = judgments_of(stage, asked), task_rows(asked)
    more = {**paper(stage), **_audit(stage), **adaptive_overlap.of_stage(rule, stage.certainty, judgments, tasks)}
    return StageRows(
        _settings(stage), rule, judgments, tasks, (flags, unsettled), fetch(ANNOTATORS, stage=stage.pk), more,
        attributes_of(stage), options_of(stage),
    )  # fmt: skip


def options_of(stage: Stage) -> list[str]:
    """Return all options of the stage's live tasks."""
    asked = stage.tasks.filter(kind=Kind.JUDGE, live=True).order_by().values_list("options", flat=True).distinct()
    return sorted({one for options in asked for one in options})


def _audit(stage: Stage) -> dict[str, dict]:
    """Return the result of an audit, as `audit`; {} for other stages."""
    if stage.strategy != Strategy.AUDIT:
        return {}
    rows = audits.audited(stage)
    settings = {"stratify": stage.stratify, **audits.settings_of(stage)}
    found = audit_figures(
        [row.wrong for row in rows], [row.stratum for row in rows], settings, stage.order_sha256,
        audits.scores_in(stage, rows), stage.scores_sha256, lambda n: audits.corrected_of(stage, rows, n),
    )  # fmt: skip
    return {"audit": found}


def study_figures(stage: Stage, rows: StageRows | None = None, step: Callable[[], None] = lambda: None) -> dict:
    """Compute every statistic of the stage, JSON-able (docs/reference/measures.md), deterministically from the rows.

    `rows` are the stage's, if already read. `step()` is called when all is read, after each view of agreement, and at
    the end.
    """
    rows = rows or stage_rows(stage)
    step()
    counted = rows.counted
    found = stage_figures.figures(rows, step)
    found["now"] = _now(stage, counted, rows.wanted - int(counted.live.sum()))
    step()
    return found


def _settings(stage: Stage) -> dict:
    study = stage.study
    return {
        "name": study.name,
        "stage": stage.position,
        "stage_name": stage.name,
        **{name: getattr(stage, name) for name in SETTINGS},
        **study.pay,
        "currency": study.currency,
    }


def _now(stage: Stage, counted: Judgments, remaining: int) -> dict:
    ((leased, until, at),) = fetch(LEASED, stage=stage.pk)
    recent = int((counted.at > at - HOUR).sum())
    hours = min(1.0, max(1 / 60, (at - int(counted.at.min(initial=at))) / HOUR))
    blocked = blocked_items.counts(stage)
    stopped = halted(stage) or (_nobody_left(blocked) if len(counted) else "")
    return {
        "at": iso_time(at),
        "leased": leased,
        "held_until": iso_time(until),
        "last_hour": {"judgments": recent, "hours": hours, "per_hour": measures_counts.hourly_rate(recent, hours)},
        "blocked": blocked,
        "forecast": no_forecast(stopped, stopped=True) if stopped else forecast(at, recent, hours, counted, remaining),
    }


def halted(stage: Stage) -> str:
    """Return why nothing can be judged, if a manager has paused or closed the study or stage."""
    if stage.study.state != StudyState.OPEN:
        return f"the study is {stage.study.state}"
    return "the stage is closed" if stage.state == StageState.CLOSED else ""


def _nobody_left(blocked: Mapping[str, int]) -> str:
    items = blocked_items.unstaffed(blocked)
    return f"nobody is left to judge {wording.counted(items, 'item')}" if items else ""


def no_forecast(reason: str, stopped: bool = False) -> dict:
    """Return an empty forecast. `stopped`: judging will not continue by itself."""
    return {"finish": None, "earliest": None, "latest": None, "basis": "", "reason": reason, "stopped": stopped}


def forecast(at: int, recent: int, hours: float, counted: Judgments, remaining: int) -> dict:
    """Forecast when the rest will be judged at the pace of the last hour, or of the whole time if that hour has too few
    judgments.

    `earliest` and `latest` treat the count behind the pace as Poisson: n ± 1.96 √n.
    """
    n, span, basis = recent, hours, "the last hour"
    if measures_counts.hourly_rate(n, span) is None:
        n, span, basis = len(counted), measures_counts.pace(counted)["hours"], "the whole time"
    if remaining <= 0:
        return no_forecast("everything is judged")
    if measures_counts.hourly_rate(n, span) is None:
        return no_forecast("too early for a forecast")
    counts = {"finish": n, "earliest": n + 1.96 * math.sqrt(n), "latest": n - 1.96 * math.sqrt(n)}
    found = {name: _reached(at, remaining, count / span) for name, count in counts.items()}
    reason = "" if found["finish"] else "more than ten years at this pace"
    return {**found, "basis": basis, "reason": reason, "stopped": False}


def _reached(at: int, remaining: int, per_hour: float) -> str | None:
    """Return when the rest will be judged; None if that is too far away to be useful."""
    hours = remaining / per_hour if per_hour > 0 else math.inf
    return iso_time(at + round(hours * HOUR)) if hours < LONGEST else None
