"""Background work as rows: a job's states, progress and problems, which survive the loss of a broker message.

A running job holds a session-level advisory lock in PostgreSQL. The lock is released with the connection, so whoever
can take it knows that the job's process is gone, and two runs of a job exclude each other.
"""

import errno
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from celery import Task
from django.db import InterfaceError, OperationalError, connection, connections, transaction
from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from benchmarks import audit, locks
from benchmarks.jobs import room
from benchmarks.models import JOB_MOVES, Event, Job, JobState
from benchmarks.records import Problem, ProblemKinds, Refused
from benchmarks.storage.files import Unavailable
from workers.celery import publish

WRITE_EVERY = 0.5  # seconds between two progress writes
TRIES = 3  # a job fails once its worker has died this often, because it may be the cause
RESEND = timedelta(seconds=30)  # the broker may have lost a job waiting this long
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
SQL_DISK_FULL = "53100"
RUNNERS: dict[str, Task] = {}  # kind of job -> the Celery task that runs it
log = logging.getLogger(__name__)
Tell = Callable[[int, int], None]  # called with the phase, the amount done and the total


def no_progress(done: int, total: int) -> None:
    """A `Tell` that does not show anything."""


class CannotMove(ValueError):
    """The job cannot move from its current state to the requested one."""


class Cancelled(Exception):
    """Someone has asked to stop the job."""


def runs(kind: str) -> Callable[[Task], Task]:
    """Decorator for the Celery task `task(job_id)` that runs jobs of this kind."""

    def keep(task: Task) -> Task:
        RUNNERS[kind] = task
        return task

    return keep


@transaction.atomic
def queue_job(*, kind: str, title: str, params: dict, by: str, created_by=None) -> Job:
    """Create a job's row. After the commit, send its task with `dispatch(job)`."""
    job = Job.objects.create(kind=kind, title=title[:200], params=params, created_by=created_by)
    audit.record(by=by, verb="queued", subject=job, kind=kind)
    return job


def dispatch(job: Job) -> None:
    """Send the job's task after the commit. If the broker is down, `revive_jobs` sends it later."""
    Job.objects.filter(pk=job.pk).update(heartbeat_at=Now())
    publish_after_commit(RUNNERS[job.kind], job.pk)


def publish_after_commit(task: Task, *given: object) -> None:
    transaction.on_commit(lambda: publish(task, *given), robust=True)


def _move(job: Job, to: JobState, by: str, **fields) -> Job:
    """Lock the row, check the move, write it with its event, and update the caller's object."""
    with transaction.atomic():
        state = Job.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=job.pk)
        if to not in JOB_MOVES[JobState(state)]:
            raise CannotMove(f"A job that is {state} cannot change to {to}.")
        Job.objects.filter(pk=job.pk).update(state=to, **fields)
        audit.record(by=by, verb=f"moved to {to}", subject=job)
    job.refresh_from_db()
    return job


def start_job(*, job: Job, by: str) -> Job:
    begins = {"done": 0, "total": None, "rate": None, "phase": "starting"}
    return _move(job, JobState.RUNNING, by, started_at=Now(), heartbeat_at=Now(), **begins)


def finish_job(*, job: Job, by: str, report: dict) -> Job:
    """Call this in the transaction that stores the result: a job is done exactly when its result exists."""
    whole = Coalesce("total", 1)  # steps are written only now and then, and not at all for a single step
    return _move(job, JobState.DONE, by, report=report, phase="", done=whole, total=whole, finished_at=Now())


def fail_job(
    *, job: Job, by: str, problems: list[Problem], count: int | None = None, kinds: ProblemKinds | None = None
) -> Job:
    """Fail a job. `count` and `kinds`: of all problems, if not all are given. The report has the kinds."""
    shown, count = [problem.as_json() for problem in problems[:100]], len(problems) if count is None else count
    known = Job.objects.values_list("report", flat=True).get(pk=job.pk)
    report = {name: known[name] for name in ("usage", "estimate") if name in known}  # what has been spent
    report["kinds"] = (kinds or ProblemKinds(problems)).as_json()
    return _move(job, JobState.FAILED, by, problems=shown, problem_count=count, report=report, finished_at=Now())


def cancel_job(*, job: Job, by: str) -> Job:
    """Cancel a job at once if no process is running it; otherwise it stops at its next step."""
    with locks.alone(audit.named(job)) as idle, transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=job.pk)
        job.refresh_from_db()
        if job.state == JobState.QUEUED or (idle and job.state == JobState.RUNNING):
            return _move(job, JobState.CANCELLED, by, cancel_asked=True, finished_at=Now())
        if job.state == JobState.RUNNING and not job.cancel_asked:
            Job.objects.filter(pk=job.pk).update(cancel_asked=True)
            audit.record(by=by, verb="asked to cancel", subject=job)
    job.refresh_from_db()
    return job


class _RecentRate:
    """The speed of a phase, from its last fifth: the first files or rows often take longer."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._marks = deque([(self._began, 0)])  # (time, amount done)

    def at(self, now: float, done: int) -> float | None:
        """Return the rate per second; None while nothing is done. Uses the whole phase if nothing was done recently."""
        recent = now - (now - self._began) / 5
        while len(self._marks) > 1 and self._marks[1][0] <= recent:
            self._marks.popleft()
        since, before = self._marks[0]
        if now - self._marks[-1][0] > (now - self._began) / 100:  # not every one: an hour has thousands
            self._marks.append((now, done))
        if done == before:
            since, before = self._began, 0
        return (done - before) / max(now - since, 0.001) if done else None


class Progress:
    """A job's progress, written to its row at most twice a second, outside any transaction of the work itself.

    `tell(phase, done, total)` is called at the same moments. `step` raises Cancelled on request.
    """

    def __init__(self, job: Job, tell: Callable[[str, int, int | None], None] | None = None):
        self.job, self.tell = job, tell
        self.phase, self.done, self.written = "", 0, 0.0
        self.total: int | None = None
        self._rate = _RecentRate()

    def begin(self, phase: str, total: int | None = None, then: float = 0) -> None:
        """Begin a phase; `then`: what follows it until the end, as an amount of its work."""
        self.phase, self.done, self.total, self._rate = phase, 0, total, _RecentRate()
        Job.objects.filter(pk=self.job.pk).update(then=then)
        self.write()

    def step(self, count: int = 1) -> None:
        self.done += count
        if time.monotonic() - self.written >= WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Raise Cancelled if someone has asked for it, and OSError before the disk is full."""
        room.check()
        self.written = time.monotonic()
        row = Job.objects.filter(pk=self.job.pk)
        rate = self._rate.at(self.written, self.done)
        row.update(done=self.done, total=self.total, phase=self.phase, rate=rate, heartbeat_at=Now())
        if row.values_list("cancel_asked", flat=True).first():
            raise Cancelled
        if self.tell:
            self.tell(self.phase, self.done, self.total)


class SeparateProgress:
    """Writes progress on a separate connection: the job's own is in a transaction, or holds a snapshot."""

    def __init__(self, thread: ThreadPoolExecutor, progress: Progress):
        self.thread, self.progress = thread, progress

    def begin(self, phase: str, total: int | None = None) -> None:
        self.thread.submit(self.progress.begin, phase, total).result()

    def tell(self, done: int, total: int) -> None:
        """Report progress as a `Tell`. Raises Cancelled like `step`."""
        self.progress.total = total
        self.step(done - self.progress.done)

    def step(self, count: int = 1) -> None:
        self.progress.done += count
        if time.monotonic() - self.progress.written >= WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Raises Cancelled if someone has asked for it."""
        self.thread.submit(self.progress.write).result()


@contextmanager
def separate_progress(progress: Progress) -> Iterator[SeparateProgress]:
    """Keep the other connection open until the end of the block."""
    with ThreadPoolExecutor(1) as thread:
        try:
            yield SeparateProgress(thread, progress)
        finally:
            thread.submit(connections.close_all).result()


def run(*, job_id: int, by: str, work: Callable[[Job, Progress], None], tell: Callable | None = None) -> Job:
    """Take a job through its states around `work(job, progress)`, which ends with `finish_job` in its transaction.

    Safe to call twice: a job that has ended, or that another process is running, is left alone. If the database
    connection is lost, the job does not change, and `revive_jobs` restarts it.
    """
    job = Job.objects.get(pk=job_id)
    with locks.alone(audit.named(job)) as mine:
        job.refresh_from_db()
        if not mine or job.state not in {JobState.QUEUED, JobState.RUNNING}:
            return job
        if job.state == JobState.RUNNING:  # its process is gone, because we hold the lock
            _move(job, JobState.QUEUED, by)
        if starts(job) >= TRIES:
            return _lost(job, by, f"The worker died {TRIES} times running this job. Nothing was stored. See its log.")
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
        fail_job(job=job, by=by, problems=refusal.problems, count=refusal.count, kinds=refusal.kinds)
    except Unavailable as error:
        log.warning("Job %s: %s", job.pk, error)
        advice = f"{error} Nothing was stored. Start this again when the storage is available."
        fail_job(job=job, by=by, problems=[Problem("STORAGE_UNAVAILABLE", "", None, "", advice)])
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
        advice = "An unexpected error occurred, and nothing was stored. See the worker's log, then try again."
        fail_job(job=job, by=by, problems=[Problem("UNEXPECTED", "", None, "", advice)])


def _disk_is_full(error: Exception) -> bool:
    """Return whether our disk, or the database's, is full."""
    if isinstance(error, OSError):
        return error.errno in DISK_FULL
    return isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", "") == SQL_DISK_FULL


def _lost_database(error: Exception) -> bool:
    """Return whether the work lost a database connection, its own or a helper's."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)  # None: the server could not be reached
    return state is None or state.startswith(("57P", "08"))  # the server is stopping; the connection broke


def revive_jobs(*, by: str, resend: timedelta = timedelta()) -> list[Job]:
    """Resend jobs that a dead process was running, and jobs queued `resend` ago, whose message may be lost.

    Jobs sent by a clock that was ahead are resent too: they would otherwise wait until the clock catches up.
    """
    old = Q(heartbeat_at=None) | Q(heartbeat_at__lte=Now() - resend) | Q(heartbeat_at__gt=Now())
    waiting = Q(state=JobState.QUEUED) & old
    unfinished = Job.objects.filter(waiting | Q(state=JobState.RUNNING))
    return [job for job in unfinished if revive_job(job=job, by=by)]


def revive_job(*, job: Job, by: str) -> bool:
    """Resend the job if no process is running it; return whether it was sent."""
    with locks.alone(audit.named(job)) as dead:
        job.refresh_from_db()
        if not dead or job.kind not in RUNNERS or job.state not in {JobState.QUEUED, JobState.RUNNING}:
            return False
        if job.params.get("foreground"):
            if job.state == JobState.RUNNING:  # queued only for a moment, before its command takes the lock
                _lost(job, by, "The command that ran this was stopped. Nothing was stored. Run it again.")
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
    """`percent` done, `rate` per second, `seconds` left; None while unknown."""

    percent: float | None
    rate: float | None
    seconds: float | None


def pace(job: Job) -> Pace:
    """Return the pace of the current phase when its progress was last written; `seconds` includes what follows."""
    percent = 100 * job.done / job.total if job.total else None
    if job.state != JobState.RUNNING or not job.rate:
        return Pace(percent, None, None)
    return Pace(percent, job.rate, (job.total - job.done + job.then) / job.rate if job.total else None)
