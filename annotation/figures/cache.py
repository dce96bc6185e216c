"""Slow statistics are computed once per state of their study, and by the worker if the study is large.

A kind of statistics is a function `compute(stage, key, tell) -> dict` (JSON-able; `tell(done, total)` reports
progress), registered with `@computes("agreement")` in its own module, which `tasks.py` imports for the worker. `latest`
returns the latest result; if it is out of date, a new one is computed at once for a small study and queued for a large
one. The page shows the latest result, its time and the progress of a newer one (templates/components/_as_of.html). The
section "Freshness" defines when a result is current.
"""

import hashlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from django.db import transaction
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotation.models import CachedFigures, Slot, Stage, Study
from annotation.sql import fetch
from benchmarks import locks, transactions
from benchmarks.jobs import jobs
from benchmarks.jobs.jobs import Tell, no_progress
from benchmarks.models import Job, JobState

KIND = "figures"
SMALL = 2_000  # with up to this many wanted judgments and items, the request computes the result itself
EVERY = 10  # minimum seconds from the start of one computation to the next …
SHARE = 8  # … and this many times its CPU time: an open page, which polls every 4 s, takes a tenth of a core
RETRY = 600  # seconds after a failure
CLOCK = 3600  # seconds for which clock-dependent results stay valid if nothing else changes
PATIENCE = 5.0  # seconds that the worker waits for open transactions
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)

Compute = TypeVar("Compute", bound=Callable[..., dict])  # called with (stage, key, tell)
KINDS: dict[str, Callable[[Stage, str, Tell], dict]] = {}


# In index order; otherwise finding a study's first rows may scan all other studies' rows.
# Items are numbered from 0 without gaps. CASE, since the planner may begin with either side of OR.
IS_LARGE = """CASE WHEN
  {small} <= (SELECT max(position) FROM benchmarks_item WHERE benchmark_id = annotation_study.benchmark_id) THEN true
  ELSE {small} < (SELECT sum(asked.overlap) FROM annotation_stage stage CROSS JOIN LATERAL (
     SELECT overlap FROM annotation_task WHERE stage_id = stage.id ORDER BY rank LIMIT {small} + 1) asked
   WHERE stage.study_id = annotation_study.id) END"""


# Freshness  Whether stored results are still current, without counting rows. Everything that affects them writes a
# judgment, a task or an event, whose ids are assigned in order. A *state* is the last assigned ids: results are current
# while nothing in their study has a later one. Other studies, jobs, and anything no result shows do not matter.  An id
# is assigned before its row is visible, and a transaction that took an earlier id may commit later. But it locks the
# table before it takes the id, until its row is visible to all. So the lock holders are noted after the ids are read,
# and waited for; if one of them does not end in time, there is no state ("") and the result is not kept as current.


MOST = 1000  # later rows to check; if there are more, assume that something has changed
STEP = 0.02  # seconds between checks for open transactions

GIVEN_OUT = """
SELECT judgment.last_value - (NOT judgment.is_called)::int, task.last_value - (NOT task.is_called)::int,
       event.last_value - (NOT event.is_called)::int, clock_timestamp()
FROM annotation_judgment_id_seq judgment, annotation_task_id_seq task, benchmarks_event_id_seq event
"""
# An INSERT takes this lock first, and its transaction holds it until its result is visible.
WRITING = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relation IN ('annotation_judgment'::regclass, 'annotation_task'::regclass, 'benchmarks_event'::regclass)
"""
LATER = """
WITH stage AS MATERIALIZED (SELECT id FROM annotation_stage WHERE study_id = %(study)s),
judged AS (SELECT lease_id FROM annotation_judgment WHERE id > %(judgment)s ORDER BY id LIMIT %(most)s),
asked AS (SELECT stage_id FROM annotation_task WHERE id > %(task)s ORDER BY id LIMIT %(most)s),
told AS (
  SELECT split_part(subject, ':', 1) AS what, substring(subject FROM ':([0-9]+)$')::bigint AS id, verb
  FROM benchmarks_event WHERE id > %(event)s ORDER BY id LIMIT %(most)s
)
SELECT (SELECT count(*) FROM judged) = %(most)s OR (SELECT count(*) FROM asked) = %(most)s
  OR (SELECT count(*) FROM told) = %(most)s
  OR EXISTS (SELECT FROM asked WHERE stage_id IN (SELECT id FROM stage))
  OR EXISTS (SELECT FROM told WHERE verb <> 'exported' AND CASE what
    WHEN 'study' THEN id = %(study)s
    WHEN 'benchmark' THEN id = %(benchmark)s
    WHEN 'stage' THEN id IN (SELECT id FROM stage)
    WHEN 'annotator' THEN EXISTS (SELECT FROM annotation_annotator who WHERE who.id = told.id AND study_id = %(study)s)
    WHEN 'task' THEN (SELECT stage_id FROM annotation_task task WHERE task.id = told.id) IN (SELECT id FROM stage)
    WHEN 'flag' THEN (SELECT task.stage_id FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = lease_id
                      JOIN annotation_task task ON task.id = task_id WHERE flag.id = told.id) IN (SELECT id FROM stage)
    WHEN 'job' THEN false WHEN 'user' THEN false WHEN 'instructions' THEN false ELSE true END)
  OR EXISTS (SELECT FROM judged JOIN annotation_lease lease ON lease.id = lease_id
             JOIN annotation_task task ON task.id = task_id WHERE stage_id IN (SELECT id FROM stage))
"""


@dataclass(frozen=True, slots=True)
class State:
    """`state` has the last ids of judgments, tasks and events; empty if a transaction did not end in time."""

    state: str
    at: datetime


def state_of(patience: float = 0.0) -> State:
    """Read the state before the data. Waits at most `patience` seconds for transactions that are writing."""
    *last, at = fetch(GIVEN_OUT)[0]
    return State("/".join(map(str, last)) if _ended(_writing(), patience) else "", at)


def _ended(writers: set[str], patience: float) -> bool:
    """Return whether all of these transactions have ended; later ones have later ids."""
    until = time.monotonic() + patience
    while writers and time.monotonic() < until:
        time.sleep(STEP)
        writers &= _writing()
    return not writers


def _writing() -> set[str]:
    return {one for (one,) in fetch(WRITING)}


def lasts(study: Study, state: str) -> bool:
    """Return whether nothing in the study has changed since."""
    if not state:
        return False
    judgment, task, event = map(int, state.split("/"))
    values = {"study": study.pk, "benchmark": study.benchmark_id, "most": MOST}
    return not fetch(LATER, judgment=judgment, task=task, event=event, **values)[0][0]


# Looking


@dataclass(frozen=True, slots=True)
class LatestFigures:
    """`data` is None before the first result. If it is not `current`: the newest `job` for it, running or failed, or
    None while the next job waits until `due`.
    """

    data: dict | None
    made_at: datetime | None
    current: bool
    job: Job | None = None
    due: datetime | None = None

    @property
    def progress(self) -> tuple[object, ...]:
        """Return a value that changes whenever the part shown on a page does."""
        job = self.job and (self.job.pk, str(self.job.state), self.job.done, self.job.total)
        return self.made_at, self.current, self.due, job

    @property
    def under_way(self) -> bool:
        return self.job is not None and self.job.state in UNDER_WAY

    @property
    def pace(self) -> jobs.Pace | None:
        return jobs.pace(self.job) if self.job and self.under_way else None


def hashed(what: object) -> str:
    """Hash what a page shows, so that the open page can ask whether anything has changed."""
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def computes(kind: str) -> Callable[[Compute], Compute]:
    def keep(compute: Compute) -> Compute:
        KINDS[kind] = compute
        return compute

    return keep


def is_small(study: Study) -> bool:
    return not large([study.pk])


def few_judged(slots: QuerySet[Slot]) -> bool:
    """Return whether these slots have few enough judgments for the request to compare their annotators."""
    return len(slots.exclude(judgment=None).values("pk")[: SMALL + 1]) <= SMALL


def large(studies: Collection[int]) -> set[int]:
    """Return the studies whose results the worker computes, reading only as many rows as make each one large."""
    return set(Study.objects.filter(is_large(), pk__in=studies).values_list("pk", flat=True))


def is_large() -> RawSQL:
    """Return the same condition for use in a query."""
    return RawSQL(IS_LARGE.format(small=SMALL), (), BooleanField())


def latest(
    stage: Stage, kind: str, key: str = "", by: str = "app", small: bool | None = None, good: float | None = None
) -> LatestFigures:
    """Return the latest result, computing or queueing a newer one if needed. `small`: the study's size, if known;
    `good`: the most seconds for which a result is valid.
    """
    last = _last(stage, kind, key)
    age = (timezone.now() - last.made_at).total_seconds() if last else 0
    if last is not None and (good is None or 0 <= age < good) and lasts(stage.study, last.state):
        return LatestFigures(last.data, last.made_at, True)
    if is_small(stage.study) if small is None else small:
        made = compute_now(stage, kind, key)
        return LatestFigures(made.data, made.made_at, True)
    params = {"stage": stage.pk, "kind": kind, "key": key}
    job = _newest_job(params)
    due = _due(last, job)
    if job is None or job.state not in UNDER_WAY:
        if due is None or due <= timezone.now():
            job = _queue(stage, params, by)
        elif job and not _failed(job):
            job = None
    data, made_at = (last.data, last.made_at) if last else (None, None)
    return LatestFigures(data, made_at, False, _revived(job), due)


def current(stage: Stage, kind: str, key: str = "") -> dict | None:
    """Return the last result if nothing has changed since, without computing or queueing anything."""
    last = _last(stage, kind, key)
    return last.data if last and lasts(stage.study, last.state) else None


def _last(stage: Stage, kind: str, key: str) -> CachedFigures | None:
    return CachedFigures.objects.filter(stage=stage, kind=kind, key=key).first()


def _due(last: CachedFigures | None, job: Job | None) -> datetime | None:
    """Return when it may be computed again: not so soon that an open page keeps a worker busy. None means at once, even
    if the clock was set back and the last time is in the future.
    """
    now = timezone.now()
    if job and job.finished_at and _failed(job):
        return job.finished_at + timedelta(seconds=RETRY) if job.finished_at <= now else None
    if last is None or last.made_at > now:
        return None
    return last.made_at + timedelta(seconds=max(EVERY, SHARE * last.seconds))


def _failed(job: Job) -> bool:
    return job.state in (JobState.FAILED, JobState.CANCELLED)


def compute_now(stage: Stage, kind: str, key: str = "", tell: Tell = no_progress) -> CachedFigures:
    """Compute and store the result. The state is read first, so a judgment in the meantime makes it outdated."""
    return _keep(stage, kind, key, state_of(), partial(KINDS[kind], stage, key, tell))


def _keep(stage: Stage, kind: str, key: str, found: State, compute: Callable[[], dict]) -> CachedFigures:
    begun = time.thread_time()
    data = compute()
    fields = {"state": found.state, "made_at": found.at, "data": data, "seconds": time.thread_time() - begun}
    return CachedFigures.objects.update_or_create(stage=stage, kind=kind, key=key, defaults=fields)[0]


# Jobs


def _newest_job(params: dict) -> Job | None:
    return Job.objects.filter(kind=KIND, params__contains=params).first()


def _queue(stage: Stage, params: dict, by: str) -> Job:
    """Queue a job, which simultaneous requests share. Finished jobs are deleted, as there is nothing left to report."""
    with transaction.atomic():
        locks.wait_for(f"figures {params}")
        there = _newest_job(params)
        if there and there.state in UNDER_WAY:
            return there
        Job.objects.filter(kind=KIND, params__contains=params).delete()
        job = jobs.queue_job(kind=KIND, title=f"Figures of {stage.study.name}, {stage.title}", params=params, by=by)
        jobs.dispatch(job)
    return job


def _revived(job: Job | None) -> Job | None:
    """Requeue a job whose process is gone, without waiting for a worker to start."""
    if job is not None and job.state == JobState.RUNNING:
        jobs.revive_job(job=job, by="app")
    return job


def compute_figures(job: Job, progress: jobs.Progress) -> None:
    """Compute everything from one snapshot, without blocking others."""
    stage = Stage.objects.select_related("study__benchmark").get(pk=job.params["stage"])
    kind, key, begun = job.params["kind"], job.params["key"], time.monotonic()
    found = state_of(PATIENCE)
    with jobs.separate_progress(progress) as separate:
        separate.begin("counting")
        _keep(stage, kind, key, found, partial(_of_one_moment, stage, kind, key, separate.tell))
    jobs.finish_job(job=job, by="worker", report={"seconds": round(time.monotonic() - begun, 1)})


def _of_one_moment(stage: Stage, kind: str, key: str, tell: Tell) -> dict:
    with transactions.snapshot():
        return KINDS[kind](stage, key, tell)
