"""Slow work as rows: a job's states, its progress, its problems. What the broker forgets, the row still knows.

A job that runs holds a PostgreSQL advisory lock of its session. The lock goes with the connection, so whoever can take
it knows that the job's process is gone; and two runs of one job exclude each other.
"""

import errno
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from celery import Task
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from benchmarks import audit
from benchmarks.models import JOB_MOVES, Event, Job, JobState
from benchmarks.records import Problem, Refused

WRITE_EVERY = 0.5  # seconds between two progress writes
TRIES = 3  # a job whose worker died this often is failed: it may be what kills the worker
RESEND = timedelta(seconds=30)  # a job that has waited so long may have been lost by the broker
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
SQL_DISK_FULL = "53100"
RUNNERS: dict[str, Task] = {}  # kind of job -> the Celery task that runs it
_mine = threading.local()  # `names`: what this thread's session holds
log = logging.getLogger(__name__)
Tell = Callable[[int, int], None]  # called with how much is done, of how much


def silent(done: int, total: int) -> None:
    """A `Tell` that shows nothing."""


class CannotMove(ValueError):
    """The job is not in a state from which it can go there."""


class Cancelled(Exception):
    """Somebody asked for the job to be stopped."""


def runs(kind: str) -> Callable[[Task], Task]:
    """Decorator of a Celery task `task(job_id)`: it is what runs jobs of this kind."""

    def keep(task: Task) -> Task:
        RUNNERS[kind] = task
        return task

    return keep


@transaction.atomic
def queue_job(*, kind: str, title: str, params: dict, by: str, created_by=None) -> Job:
    """A new row. Send its task after the commit: `dispatch(job)`."""
    job = Job.objects.create(kind=kind, title=title[:200], params=params, created_by=created_by)
    audit.record(by=by, verb="queued", subject=job, kind=kind)
    return job


def dispatch(job: Job) -> None:
    """Send the job's task after the commit. Where the broker is away, `revive_jobs` sends it later."""
    Job.objects.filter(pk=job.pk).update(heartbeat_at=Now())
    transaction.on_commit(lambda: RUNNERS[job.kind].delay(job.pk), robust=True)


def _move(job: Job, to: JobState, by: str, **fields) -> Job:
    """Lock the row, check the move, write it with its event; the caller's object follows."""
    with transaction.atomic():
        state = Job.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=job.pk)
        if to not in JOB_MOVES[JobState(state)]:
            raise CannotMove(f"A job that is {state} cannot become {to}.")
        Job.objects.filter(pk=job.pk).update(state=to, **fields)
        audit.record(by=by, verb=f"moved to {to}", subject=job)
    job.refresh_from_db()
    return job


def start_job(*, job: Job, by: str) -> Job:
    clock = {"started_at": Now(), "phase_started_at": Now(), "heartbeat_at": Now()}
    return _move(job, JobState.RUNNING, by, done=0, total=None, phase="starting", **clock)


def finish_job(*, job: Job, by: str, report: dict) -> Job:
    """Call it in the transaction that stores the result: a job is done exactly when its result is there."""
    return _move(job, JobState.DONE, by, report=report, phase="", finished_at=Now())


def fail_job(*, job: Job, by: str, problems: list[Problem], count: int | None = None) -> Job:
    shown, count = [problem.as_json() for problem in problems[:100]], len(problems) if count is None else count
    return _move(job, JobState.FAILED, by, problems=shown, problem_count=count, finished_at=Now())


def cancel_job(*, job: Job, by: str) -> Job:
    """A job that no process is at is cancelled at once; any other is asked, and stops at its next step."""
    with alone(audit.named(job)) as idle, transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=job.pk)
        job.refresh_from_db()
        if job.state == JobState.QUEUED or (idle and job.state == JobState.RUNNING):
            return _move(job, JobState.CANCELLED, by, cancel_asked=True, finished_at=Now())
        if job.state == JobState.RUNNING and not job.cancel_asked:
            Job.objects.filter(pk=job.pk).update(cancel_asked=True)
            audit.record(by=by, verb="asked to cancel", subject=job)
    job.refresh_from_db()
    return job


class Progress:
    """How far a job is. Written to its row at most twice a second, outside any transaction of the work itself.

    `tell(phase, done, total)` is called at the same moments. `step` raises Cancelled once somebody asked for it.
    """

    def __init__(self, job: Job, tell: Callable[[str, int, int | None], None] | None = None):
        self.job, self.tell = job, tell
        self.phase, self.done, self.written = "", 0, 0.0
        self.total: int | None = None

    def begin(self, phase: str, total: int | None = None) -> None:
        self.phase, self.done, self.total = phase, 0, total
        Job.objects.filter(pk=self.job.pk).update(phase_started_at=Now())
        self.write()

    def step(self, count: int = 1) -> None:
        self.done += count
        if time.monotonic() - self.written >= WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Raises Cancelled where the row says that somebody asked for it."""
        self.written = time.monotonic()
        row = Job.objects.filter(pk=self.job.pk)
        row.update(done=self.done, total=self.total, phase=self.phase, heartbeat_at=Now())
        if row.values_list("cancel_asked", flat=True).get():
            raise Cancelled
        if self.tell:
            self.tell(self.phase, self.done, self.total)


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Hold this session's advisory lock of that name; yields False where another session has it, or this one already.

    PostgreSQL would give a session its own lock a second time.
    """
    mine = _mine.__dict__.setdefault("names", set())
    if name in mine:
        yield False
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
        taken = cursor.fetchone()[0]
    mine |= {name} if taken else set()
    try:
        yield taken
    finally:
        mine.discard(name)
        if taken and connection.is_usable():  # a connection that is gone took its locks with it
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def run(*, job_id: int, by: str, work: Callable[[Job, Progress], None], tell: Callable | None = None) -> Job:
    """Take a job through its states around `work(job, progress)`, which ends with `finish_job` in its transaction.

    May be called twice: a job that is over, or that another process is at, is left alone. Where the database goes away
    in between, the job stays as it is, and `revive_jobs` starts it over.
    """
    job = Job.objects.get(pk=job_id)
    with alone(audit.named(job)) as mine:
        job.refresh_from_db()
        if not mine or job.state not in {JobState.QUEUED, JobState.RUNNING}:
            return job
        if job.state == JobState.RUNNING:  # its process is gone, or the lock would not be ours
            _move(job, JobState.QUEUED, by)
        if starts(job) >= TRIES:
            return _lost(job, by, f"The worker died {TRIES} times at this job. Nothing was stored; see its log.")
        start_job(job=job, by=by)
        _attempt(job, by, work, Progress(job, tell))
    return job


def _attempt(job: Job, by: str, work: Callable, progress: Progress) -> None:
    try:
        work(job, progress)
    except Cancelled:
        _move(job, JobState.CANCELLED, by, finished_at=Now())
    except KeyboardInterrupt:
        _move(job, JobState.CANCELLED, by, finished_at=Now())
        raise
    except Refused as refusal:
        fail_job(job=job, by=by, problems=refusal.problems, count=refusal.count)
    except Exception as error:
        if _disk_is_full(error):
            advice = "The server's disk is full. Nothing was stored, and its space is free again. Make room and retry."
            fail_job(job=job, by=by, problems=[Problem("STORAGE_FULL", "", None, "", advice)])
            return
        if _lost_database(error):
            log.warning("Job %s lost the database and will be started over: %s", job.pk, error)
            connection.close()
            return
        log.exception("Job %s failed", job.pk)
        advice = "Winnow met something it did not expect; nothing was stored. The worker's log says more. Try again."
        fail_job(job=job, by=by, problems=[Problem("UNEXPECTED", "", None, "", advice)])


def _disk_is_full(error: Exception) -> bool:
    """Ours, or the database's."""
    if isinstance(error, OSError):
        return error.errno in DISK_FULL
    return isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", "") == SQL_DISK_FULL


def _lost_database(error: Exception) -> bool:
    """Has a connection ended under the work, its own or one of a helper's?"""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)  # none: nobody was there to give one
    return state is None or state.startswith(("57P", "08"))  # the server stops; the connection broke


def revive_jobs(*, by: str, resend: timedelta = timedelta()) -> list[Job]:
    """Send again what a dead process was running, and what was queued `resend` ago: its message may be lost.

    What was sent by a clock that was ahead is sent again too: it would wait until the clock has caught up.
    """
    old = Q(heartbeat_at=None) | Q(heartbeat_at__lte=Now() - resend) | Q(heartbeat_at__gt=Now())
    waiting = Q(state=JobState.QUEUED) & old
    unfinished = Job.objects.filter(waiting | Q(state=JobState.RUNNING))
    return [job for job in unfinished if revive_job(job=job, by=by)]


def revive_job(*, job: Job, by: str) -> bool:
    """Send it again where no process is at it; returns whether it was sent."""
    with alone(audit.named(job)) as dead:
        job.refresh_from_db()
        if not dead or job.kind not in RUNNERS or job.state not in {JobState.QUEUED, JobState.RUNNING}:
            return False
        if job.params.get("foreground"):
            if job.state == JobState.RUNNING:  # it is queued for a moment only, before its command takes the lock
                _lost(job, by, "The command that ran this was stopped. Nothing was stored; run it again.")
            return False
        if job.state == JobState.RUNNING:
            _move(job, JobState.QUEUED, by)
    dispatch(job)
    return True


def _lost(job: Job, by: str, advice: str) -> Job:
    return fail_job(job=job, by=by, problems=[Problem("WORKER_LOST", "", None, "", advice)])


def starts(job: Job) -> int:
    return Event.objects.filter(subject=audit.named(job), verb=f"moved to {JobState.RUNNING}").count()


@dataclass(frozen=True)
class Pace:
    """`percent` done, `rate` a second, `seconds` left; None where it cannot be told yet."""

    percent: float | None
    rate: float | None
    seconds: float | None


def pace(job: Job) -> Pace:
    """Of the present phase, from its start to the last progress written."""
    percent = 100 * job.done / job.total if job.total else None
    if job.state != JobState.RUNNING or not (job.done and job.phase_started_at and job.heartbeat_at):
        return Pace(percent, None, None)
    spent = max((job.heartbeat_at - job.phase_started_at).total_seconds(), 0.001)
    rate = job.done / spent
    return Pace(percent, rate, (job.total - job.done) / rate if job.total else None)
