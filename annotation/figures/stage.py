"""The figures of a stage: one dictionary that the study page shows, the API answers and the export carries.

Five queries, however many items, judgments and annotators there are, and up to three more for what a paper
reports besides (annotation/figures/paper.py). Everything under `now` depends on the clock and is left out of exports.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from sys import intern

from annotation.figures.attributes import attributes_of
from annotation.figures.edit_names import edits_of
from annotation.figures.paper import paper
from annotation.measures import adaptive_overlap, stage_figures
from annotation.measures import counts as measures_counts
from annotation.measures.audits.figures import audit_figures
from annotation.measures.counts import HOUR, JudgmentRow, TaskRow, iso_time
from annotation.measures.stage_figures import SETTINGS, StageRows
from annotation.models import Kind, Stage, StageState, Strategy, StudyState
from annotation.pipeline import audits
from annotation.pipeline.outcomes import rule_of
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.sql import fetch, stream

LONGEST = 10 * 365 * 24  # hours; longer forecasts are not shown

JUDGMENTS = """
SELECT item.position, task.question, task.round, task.kind, task.live, item.type, item.subtype, slot.number,
       annotator.number, judgment.answer, array_position(lease.shown, judgment.answer), cardinality(lease.shown),
       judgment.active_ms, coalesce(slot.judgment_id = judgment.id, false), judgment.surplus, judgment.withdrawn,
       (extract(epoch FROM judgment.created_at) * 1000000)::bigint
FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE task.stage_id = %(stage)s {of}
ORDER BY item.position, task.question, task.round, judgment.created_at, slot.number, judgment.id
"""

# The tasks on annotators' screens, until when they are held at the latest, and the time now, in microseconds.
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


def judgment_rows(stage: Stage, annotator: int | None = None) -> list[JudgmentRow]:
    """Every judgment of the stage, including checks, revisions and surplus ones, by item and time.

    With an annotator's id, only theirs.
    """
    of = "" if annotator is None else "AND lease.annotator_id = %(annotator)s"
    rows = list(_given(stream(JUDGMENTS.format(of=of), stage=stage.pk, annotator=annotator)))
    if not any(row.answer.startswith(EDIT_PREFIX) for row in rows):
        return rows
    names = {identity: edit.name for identity, edit in edits_of([stage]).items()}
    return [row._replace(answer=names.get(row.answer, row.answer)) for row in rows]


def _given(rows: Iterable[tuple]) -> Iterator[JudgmentRow]:
    """Stores equal texts and task positions once, which halves the memory of a million rows."""
    last: tuple = ()
    for item, question, round, kind, live, group, subgroup, slot, annotator, answer, *rest in rows:
        task = (item, intern(question), round)
        last = last if task == last else task
        words = (intern(kind), live, intern(group), intern(subgroup), slot, annotator, intern(answer))
        yield JudgmentRow._make((last, *words, *rest))


def task_rows(stage: Stage) -> list[TaskRow]:
    """The stage's live tasks in item order, without checks and practice."""
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True).order_by("item__position", "question", "round")
    rows = tasks.values_list(
        "item__position", "question", "round", "item__type", "item__subtype", "overlap",
        "decided__state", "decided__reason", "decided__by",
    )  # fmt: skip
    return [TaskRow(row[:3], *row[3:]) for row in rows]


def stage_rows(stage: Stage) -> StageRows:
    """Everything that the stage's figures are computed from."""
    ((flags, unsettled),) = fetch(FLAGS, stage=stage.pk)
    rule, judgments, tasks = rule_of(stage), judgment_rows(stage), task_rows(stage)
    more = {**paper(stage), **_audit(stage), **adaptive_overlap.of_stage(rule, stage.certainty, judgments, tasks)}
    return StageRows(
        _settings(stage), rule, judgments, tasks, (flags, unsettled), fetch(ANNOTATORS, stage=stage.pk), more,
        attributes_of(stage),
    )  # fmt: skip


def _audit(stage: Stage) -> dict[str, dict]:
    """The result of an audit, under that name; {} for other stages."""
    if stage.strategy != Strategy.AUDIT:
        return {}
    rows = audits.audited(stage)
    settings = {name: getattr(stage, name) for name in ("stratify", "target_half_width", "target_bound", "any_look")}
    found = audit_figures(
        [row.wrong for row in rows], [row.stratum for row in rows], settings, stage.order_sha256,
        audits.scores_in(stage, rows), stage.scores_sha256,
    )  # fmt: skip
    return {"audit": found}


def study_figures(stage: Stage, rows: StageRows | None = None, step: Callable[[], None] = lambda: None) -> dict:
    """Every figure of the stage, JSON-able (docs/reference/measures.md). The same rows give the same dictionary.

    `rows` are the stage's, if they have been read. `step()` is called when all is read, after each view of agreement,
    and at the end.
    """
    rows = rows or stage_rows(stage)
    step()
    counted = rows.counted
    found = stage_figures.figures(rows, step)
    found["now"] = _now(stage, counted, rows.wanted - sum(row.live for row in counted))
    step()
    return found


def _settings(stage: Stage) -> dict:
    study = stage.study
    return {
        "name": study.name,
        "stage": stage.position,
        "stage_name": stage.name,
        **{name: getattr(stage, name) for name in SETTINGS},
        "pay_per_hour": float(study.pay_per_hour),
        "currency": study.currency,
    }


def _now(stage: Stage, counted: list[JudgmentRow], remaining: int) -> dict:
    ((leased, until, at),) = fetch(LEASED, stage=stage.pk)
    recent = sum(row.at > at - HOUR for row in counted)
    hours = min(1.0, max(1 / 60, (at - min((row.at for row in counted), default=at)) / HOUR))
    stopped = halted(stage)
    return {
        "at": iso_time(at),
        "leased": leased,
        "held_until": iso_time(until),
        "last_hour": {"judgments": recent, "hours": hours, "per_hour": measures_counts.hourly_rate(recent, hours)},
        "forecast": no_forecast(stopped) if stopped else forecast(at, recent, hours, counted, remaining),
    }


def halted(stage: Stage) -> str:
    """Why nothing can be judged, if a manager has paused or closed the study or stage."""
    if stage.study.state != StudyState.OPEN:
        return f"the study is {stage.study.state}"
    return "the stage is closed" if stage.state == StageState.CLOSED else ""


def no_forecast(reason: str) -> dict:
    return {"finish": None, "earliest": None, "latest": None, "basis": "", "reason": reason}


def forecast(at: int, recent: int, hours: float, counted: list[JudgmentRow], remaining: int) -> dict:
    """When the rest will be judged at the pace of the last hour, or of the whole time if the last hour has too little
    for a rate.

    `earliest` and `latest` take the count behind the pace as a Poisson count: n ± 1.96 √n.
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
    return {**found, "basis": basis, "reason": "" if found["finish"] else "more than ten years at this pace"}


def _reached(at: int, remaining: int, per_hour: float) -> str | None:
    """The time at which the rest will be judged; None if it is too far away to be useful."""
    hours = remaining / per_hour if per_hour > 0 else math.inf
    return iso_time(at + round(hours * HOUR)) if hours < LONGEST else None
