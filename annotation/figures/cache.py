"""Figures that take long are computed once for each state of what they describe, and by the worker where it is much.

A kind of figures is a function `compute(stage, key, tell) -> dict` (JSON-able; `tell(done, total)` says how far it is),
made known with `@reckons("agreement")` in its own module, which `tasks.py` imports so that the worker knows it too.
`look` gives what was computed last; where that is not of the present, a small study's is computed at once and a large
one's queued: the page shows what there is, as of when, and how far the newer one is (templates/components/_as_of.html).
The section "Freshness" says what "of the present" means.
"""

import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from django.db import connections, transaction
from django.utils import timezone

from annotation.models import Reckoning, Stage, Study
from annotation.sql import fetch
from benchmarks.exports import source_layout
from benchmarks.jobs import jobs
from benchmarks.jobs.jobs import Tell, silent
from benchmarks.models import Job, JobState

KIND = "reckon"
SMALL = 2_000  # judgments that a study asks for, and items, up to which figures are computed while the page waits
REST = 30  # seconds at least from one computation to the next …
SHARE = 10  # … and so many times as long as the last one took: a large study that is looked at keeps no worker busy
RETRY = 600  # seconds after one that failed
CLOCK = 3600  # seconds for which figures that move with the clock are good, though nothing has changed
PATIENCE = 5.0  # seconds for which the worker waits for those who are writing
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)

Compute = TypeVar("Compute", bound=Callable[..., dict])  # of (stage, key, tell)
KINDS: dict[str, Callable[[Stage, str, Tell], dict]] = {}


# In the order of an index: else the first rows of a table may be looked for through all that others have.
LARGE = """
SELECT study.id FROM annotation_study study
WHERE study.id = ANY(%(studies)s) AND %(small)s < greatest(
  (SELECT sum(asked.overlap) FROM annotation_stage stage CROSS JOIN LATERAL (
     SELECT overlap FROM annotation_task WHERE stage_id = stage.id ORDER BY rank LIMIT %(small)s + 1) asked
   WHERE stage.study_id = study.id),
  (SELECT count(*) FROM (
     SELECT FROM benchmarks_item WHERE benchmark_id = study.benchmark_id ORDER BY position LIMIT %(small)s + 1) items))
"""
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0))"


# Freshness
#
# Whether figures that were computed are still of the present, without counting rows.
#
# Everything that figures rest on writes a judgment, a task or an event, and their ids are given out in order. A *state*
# is the last ids that were given out: figures are of the present while nothing that belongs to their study has a later
# one. What other studies do, jobs, and what no figure shows change nothing.
#
# An id is given out before its row can be seen, and whoever took one earlier may commit later. But they hold a lock on
# the table from before they take it until their row is there for all to see. So those who hold one are noted after the
# ids are read and waited for; where one of them does not end in time, there is no state ("") and the figures do not
# last.


MOST = 1000  # later rows that are looked through; with more, something may have changed
STEP = 0.02  # seconds between two looks at those who write

GIVEN_OUT = """
SELECT judgment.last_value - (NOT judgment.is_called)::int, task.last_value - (NOT task.is_called)::int,
       event.last_value - (NOT event.is_called)::int, clock_timestamp()
FROM annotation_judgment_id_seq judgment, annotation_task_id_seq task, benchmarks_event_id_seq event
"""
# A transaction keeps the lock that an INSERT takes first of all until it has ended and is seen to have.
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
    """`state` is the last ids of judgments, tasks and events; empty where somebody was writing all the time."""

    state: str
    at: datetime


def state_of(patience: float = 0.0) -> State:
    """To be read before the figures are. Waits so many seconds at most for those who are writing now."""
    *last, at = fetch(GIVEN_OUT)[0]
    return State("/".join(map(str, last)) if _ended(_writing(), patience) else "", at)


def _ended(writers: set[str], patience: float) -> bool:
    """Whether all of them have ended; those who come later have later ids."""
    until = time.monotonic() + patience
    while writers and time.monotonic() < until:
        time.sleep(STEP)
        writers &= _writing()
    return not writers


def _writing() -> set[str]:
    return {one for (one,) in fetch(WRITING)}


def lasts(study: Study, state: str) -> bool:
    """Whether nothing has happened to the study since."""
    if not state:
        return False
    judgment, task, event = map(int, state.split("/"))
    values = {"study": study.pk, "benchmark": study.benchmark_id, "most": MOST}
    return not fetch(LATER, judgment=judgment, task=task, event=event, **values)[0][0]


# Looking


@dataclass(frozen=True, slots=True)
class Reckoned:
    """`data` is None before the first time. Where it is not `current`: the newest `job` for it, under way or failed, or
    None while the next one rests until `due`.
    """

    data: dict | None
    made_at: datetime | None
    current: bool
    job: Job | None = None
    due: datetime | None = None

    @property
    def under_way(self) -> bool:
        return self.job is not None and self.job.state in UNDER_WAY

    @property
    def pace(self) -> jobs.Pace | None:
        return jobs.pace(self.job) if self.job and self.under_way else None


def reckons(kind: str) -> Callable[[Compute], Compute]:
    def keep(compute: Compute) -> Compute:
        KINDS[kind] = compute
        return compute

    return keep


def is_small(study: Study) -> bool:
    return not large([study.pk])


def large(studies: Collection[int]) -> set[int]:
    """Those whose figures are computed by the worker. Looks at no more rows of each than make it large."""
    return {study for (study,) in fetch(LARGE, studies=list(studies), small=SMALL)}


def look(
    stage: Stage, kind: str, key: str = "", by: str = "app", small: bool | None = None, good: float | None = None
) -> Reckoned:
    """What was computed last, and what is done about newer figures. `small`: of what size, if known; `good`: for so
    many seconds at most.
    """
    last = Reckoning.objects.filter(stage=stage, kind=kind, key=key).first()
    age = (timezone.now() - last.made_at).total_seconds() if last else 0
    if last is not None and (good is None or age < good) and lasts(stage.study, last.state):
        return Reckoned(last.data, last.made_at, True)
    if is_small(stage.study) if small is None else small:
        made = reckon(stage, kind, key)
        return Reckoned(made.data, made.made_at, True)
    params = {"stage": stage.pk, "kind": kind, "key": key}
    job = _newest_job(params)
    due = _due(last, job)
    if job is None or job.state not in UNDER_WAY:
        if due is None or due <= timezone.now():
            job = _queue(stage, params, by)
        elif job and not _failed(job):
            job = None
    data, made_at = (last.data, last.made_at) if last else (None, None)
    return Reckoned(data, made_at, False, _revived(job), due)


def _due(last: Reckoning | None, job: Job | None) -> datetime | None:
    """When it may be computed again: not so soon that it keeps a worker busy for whoever leaves the page open."""
    if job and job.finished_at and _failed(job):
        return job.finished_at + timedelta(seconds=RETRY)
    return last.made_at + timedelta(seconds=last.seconds + max(REST, SHARE * last.seconds)) if last else None


def _failed(job: Job) -> bool:
    return job.state in (JobState.FAILED, JobState.CANCELLED)


def reckon(stage: Stage, kind: str, key: str = "", tell: Tell = silent) -> Reckoning:
    """Compute now and keep it. The state is read first: what is judged meanwhile makes the result an old one."""
    return _keep(stage, kind, key, state_of(), partial(KINDS[kind], stage, key, tell))


def _keep(stage: Stage, kind: str, key: str, found: State, compute: Callable[[], dict]) -> Reckoning:
    begun = time.monotonic()
    data = compute()
    fields = {"state": found.state, "made_at": found.at, "data": data, "seconds": time.monotonic() - begun}
    return Reckoning.objects.update_or_create(stage=stage, kind=kind, key=key, defaults=fields)[0]


# Jobs


def _newest_job(params: dict) -> Job | None:
    return Job.objects.filter(kind=KIND, params__contains=params).first()


def _queue(stage: Stage, params: dict, by: str) -> Job:
    """Whoever comes at the same moment finds the one job. Those that are over have told all they had to tell."""
    with transaction.atomic():
        fetch(LOCK, name=f"reckon {params}")
        there = _newest_job(params)
        if there and there.state in UNDER_WAY:
            return there
        Job.objects.filter(kind=KIND, params__contains=params).delete()
        job = jobs.queue_job(kind=KIND, title=f"Figures of {stage.study.name}, {stage.name}", params=params, by=by)
        jobs.dispatch(job)
    return job


def _revived(job: Job | None) -> Job | None:
    """A job whose process is gone is sent again, without waiting for a worker's start."""
    if job is not None and job.state == JobState.RUNNING:
        jobs.revive_job(job=job, by="app")
    return job


def run_reckon(job: Job, progress: jobs.Progress) -> None:
    """Everything is computed of one moment, which others do not wait for.

    How far it is is written by a connection of its own: this one sees, and shows, that one moment alone.
    """
    stage = Stage.objects.select_related("study__benchmark").get(pk=job.params["stage"])
    kind, key = job.params["kind"], job.params["key"]
    found = state_of(PATIENCE)
    with ThreadPoolExecutor(1) as aside:
        try:
            aside.submit(progress.begin, "counting").result()
            compute = partial(_of_one_moment, stage, kind, key, partial(_tell_aside, aside, progress))
            made = _keep(stage, kind, key, found, compute)
        finally:
            aside.submit(connections.close_all).result()
    jobs.finish_job(job=job, by="worker", report={"seconds": round(made.seconds, 1)})


def _of_one_moment(stage: Stage, kind: str, key: str, tell: Tell) -> dict:
    with source_layout.snapshot():
        return KINDS[kind](stage, key, tell)


def _tell_aside(aside: ThreadPoolExecutor, progress: jobs.Progress, done: int, total: int) -> None:
    progress.total = total
    aside.submit(progress.step, done - progress.done).result()
