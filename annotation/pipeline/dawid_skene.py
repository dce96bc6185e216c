"""Dawid and Skene's estimate as a stage's decision rule: all answers together decide each task.

Each outcome depends on the answers of the whole stage, so judgments do not write outcomes. The worker estimates when
the stage closes, when a manager requests it, and before an export. A judgment added or excluded after an estimate
leaves its task open until the next one; the other tasks keep their outcomes until then.

The estimate is of kinds of answers (protocols/decision_rule.py), since a candidate's place means nothing across items.
It uses every counted answer to a live task, even if the task still lacks answers. An adjudicator's decision is final
and is not used in the estimate.
"""

import time
from collections import Counter
from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from annotation import outbox
from annotation.measures.aggregation import Aggregate
from annotation.models import CachedFigures, Outcome, Stage, StageState, Study, Task
from annotation.pipeline import outcomes, promotion
from annotation.pipeline.stage_rules import CountedAnswers, counted_answers, fit, rule_about
from annotation.protocols.decision_rule import ADJUDICATOR, DAWID_SKENE, DROPPED, OPEN, Decision, Posterior
from benchmarks import audit, locks
from benchmarks.jobs import jobs
from benchmarks.jobs.jobs import Tell, no_progress
from benchmarks.models import Job, JobState
from benchmarks.transactions import retry_deadlocks

KIND = "estimate"
BATCH = 200  # tasks decided per transaction


def estimate(stage: Stage, by: str, tell: Tell = no_progress) -> dict:
    """Fit the model and write each task's outcome. Return a summary, which is kept as the stage's estimate."""
    with locks.held(f"{KIND} {audit.named(stage)}"):  # one at a time, so that outcomes never mix two estimates
        began, found = time.monotonic(), counted_answers(stage)
        fitted = fit(stage, found)
        did: Counter[str] = Counter()
        tasks = sorted(found)
        parts = [tasks[start : start + BATCH] for start in range(0, len(tasks), BATCH)]
        for done, part in enumerate(parts, 1):
            did += decide(stage, {task: found[task] for task in part}, fitted.posteriors, by)
            tell(done, len(parts))
        counts = {name: did[name] for name in ("decided", "open", "changed", "passed_over")}
        summary = {**_summary(fitted, found), **counts}
        kept = {"state": "", "made_at": timezone.now(), "data": summary, "seconds": time.monotonic() - began}
        CachedFigures.objects.update_or_create(stage=stage, kind=KIND, key="", defaults=kept)
    return summary


@retry_deadlocks
@transaction.atomic
def decide(stage: Stage, found: CountedAnswers, posteriors: Mapping[int, Posterior], by: str) -> Counter[str]:
    """Write these tasks' outcomes, skipping tasks whose answers have changed since the fit."""
    did: Counter[str] = Counter()
    events: list[outbox.NewEvent] = []
    feeds = stage.takers.exists()
    tasks = list(Task.objects.filter(pk__in=found).order_by("pk").select_for_update(no_key=True))
    now = counted_answers(stage, list(found))
    standing = {row.task_id: row for row in Outcome.objects.filter(task__in=found)}
    for task in tasks:
        if now.get(task.pk) != found[task.pk]:
            did["passed_over"] += 1
            continue
        rule = rule_about(stage, task.item_id)
        decision = rule.settle([answer for *_, answer in now[task.pk]], task.overlap, posteriors[task.pk])
        did["open" if decision.state == OPEN else "decided"] += 1
        before = standing.get(task.pk)
        if _settled_as(before) != _settled_as(decision) or (before and before.posterior != decision.posterior):
            outcomes.write_outcome(task, stage, decision, events)
        if _settled_as(before) != _settled_as(decision) and (before is None or before.by != ADJUDICATOR):
            did["changed"] += 1
            if feeds:
                promotion.follow_outcome(stage, task.item_id)
            if decision.state == DROPPED:
                promotion.ask_again_if_newer(stage, task.item_id)
    if events:
        outbox.write(events, study=stage.study_id)
    if did["changed"]:  # in the same transaction, so that cached results become stale even if this is interrupted
        audit.record(by=by, verb="estimated", subject=stage, changed=did["changed"])
    return did


def _settled_as(of: Outcome | Decision | None) -> tuple | None:
    """Return the part of an outcome that statistics and later stages depend on, without the probability. None: open."""
    if of is None or of.state == OPEN:
        return None
    return of.state, of.outcome, of.reason, of.by, dict(of.content)


def _summary(fitted: Aggregate, found: CountedAnswers) -> dict:
    return {
        "judgments": sum(map(len, found.values())),
        "tasks": len(found),
        "steps": fitted.steps,
        "converged": fitted.converged,
        "class_shares": fitted.class_shares,
        "confusion": {str(number): fitted.confusion[number] for number in sorted(fitted.confusion)},
    }


# Timing


def bring_up_to_date(study: Study, by: str) -> None:
    """Estimate every stage with this rule, sources first, and promote items from closed stages.
    Must not run inside a transaction.
    """
    for stage in study.stages.filter(rule=DAWID_SKENE).select_related("study__benchmark").order_by("position"):
        estimate(stage, by)
        closing = Job.objects.filter(kind=KIND, params__stage=stage.pk, params__closing=True).first()
        if closing and closing.state != JobState.DONE:
            _promote(stage)


def last_estimate(stage: Stage) -> CachedFigures | None:
    return CachedFigures.objects.filter(stage=stage, kind=KIND).first()


def confusion_of(stage: Stage, number: int) -> dict[str, dict[str, float]]:
    """Return an annotator's confusion matrix from the last estimate: P(answer | true kind). {} if there is none."""
    found = last_estimate(stage)
    return found.data["confusion"].get(str(number), {}) if found else {}


def jobs_of(stage: Stage) -> tuple[Job | None, Job | None]:
    """Return the newest job that estimates the stage: the first if it is queued or running, the second if it failed or
    was cancelled.
    """
    newest = Job.objects.filter(kind=KIND, params__stage=stage.pk).first()
    if newest is None or newest.state == JobState.DONE:
        return None, None
    return (newest, None) if newest.state in (JobState.QUEUED, JobState.RUNNING) else (None, newest)


def request_estimate(*, stage: Stage, by: str, created_by=None) -> Job | None:
    """Queue an estimate, unless one is running. It also does the work of one at closing that did not finish."""
    going, last = jobs_of(stage)
    if going:
        return None
    return queue_estimate(stage=stage, by=by, closing=bool(last and last.params["closing"]), created_by=created_by)


def queue_estimate(*, stage: Stage, by: str, closing: bool = False, created_by=None) -> Job:
    """Queue the job after the commit. `closing`: it then promotes the items that wait for the stage to close."""
    title = f"Estimate of {stage.study.name}, {stage.title}"
    params = {"study": stage.study_id, "stage": stage.pk, "closing": closing}
    job = jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)
    jobs.dispatch(job)
    return job


def run_estimate(job: Job, progress: jobs.Progress) -> None:
    stage = Stage.objects.select_related("study__benchmark").get(pk=job.params["stage"])
    progress.begin("estimating")

    def tell(done: int, total: int) -> None:
        progress.total = total
        progress.step()

    summary = estimate(stage, "worker", tell)
    _finish(job, stage, summary)


@retry_deadlocks
@transaction.atomic
def _finish(job: Job, stage: Stage, summary: Mapping) -> None:
    went = _promote(stage) if job.params["closing"] else 0
    report = {name: summary[name] for name in ("judgments", "steps", "decided", "open", "changed", "passed_over")}
    jobs.finish_job(job=job, by="worker", report={**report, "promoted": went})


@retry_deadlocks
@transaction.atomic
def _promote(stage: Stage) -> int:
    """Promote items to stages that wait for this one to close, unless it was reopened; returns the number of items."""
    stage = promotion.lock_stage(stage)
    return sum(promotion.promote(stage).values()) if stage.state == StageState.CLOSED else 0
