"""Figures that take long are computed once for each state of what they describe, and by the worker where it is much.

A kind of figures is a function `compute(stage, key, tell) -> dict` (JSON-able; `tell(done, total)` says how far it is),
made known with `@reckons("agreement")` in its own module. `look` gives what was computed last; where that is not of the
present, a small stage is computed at once and a large one queued: the page shows what there is, as of when, and how far
the newer one is.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.models import Reckoning, Stage
from annotation.rows import fetch
from benchmarks import jobs
from benchmarks.models import Job, JobState

KIND = "reckon"
SMALL = 20_000  # slots of a stage, up to which figures are computed while the page waits
UNFINISHED = (JobState.QUEUED, JobState.RUNNING)

Tell = Callable[[int, int], None]
Compute = Callable[[Stage, str, Tell], dict]
KINDS: dict[str, Compute] = {}

# Everything that figures rest on writes a judgment, a task or an event. The last ids that were given out are one look
# each, however many rows there are.
STATE = """
SELECT (SELECT last_value FROM annotation_judgment_id_seq), (SELECT last_value FROM annotation_task_id_seq),
       (SELECT last_value FROM benchmarks_event_id_seq)
"""
SLOTS = "SELECT count(*) FROM (SELECT FROM annotation_slot WHERE stage_id = %(stage)s LIMIT %(most)s) counted"


@dataclass(frozen=True, slots=True)
class Reckoned:
    """`data` is None before the first time; `job` is under way where `current` is false."""

    data: dict | None
    made_at: datetime | None
    current: bool
    job: Job | None = None


def reckons(kind: str) -> Callable[[Compute], Compute]:
    def keep(compute: Compute) -> Compute:
        KINDS[kind] = compute
        return compute

    return keep


def state_of() -> str:
    return "/".join(str(last) for last in fetch(STATE)[0])


def is_small(stage: Stage) -> bool:
    return fetch(SLOTS, stage=stage.pk, most=SMALL + 1)[0][0] <= SMALL


def look(stage: Stage, kind: str, key: str = "", by: str = "app") -> Reckoned:
    last = Reckoning.objects.filter(stage=stage, kind=kind, key=key).first()
    if last is not None and last.state == state_of():
        return Reckoned(last.data, last.made_at, True)
    if is_small(stage):
        made = reckon(stage, kind, key)
        return Reckoned(made.data, made.made_at, True)
    job = _under_way(stage, kind, key) or _queue(stage, kind, key, by)
    return Reckoned(last and last.data, last and last.made_at, False, job)


def reckon(stage: Stage, kind: str, key: str = "", tell: Tell = lambda done, total: None) -> Reckoning:
    """Compute now and keep it. The state is read first: what is judged meanwhile makes the result an old one."""
    state, begun = state_of(), time.monotonic()
    data = KINDS[kind](stage, key, tell)
    fields = {"state": state, "data": data, "seconds": time.monotonic() - begun}
    return Reckoning.objects.update_or_create(stage=stage, kind=kind, key=key, defaults=fields)[0]


def _under_way(stage: Stage, kind: str, key: str) -> Job | None:
    params = {"stage": stage.pk, "kind": kind, "key": key}
    return Job.objects.filter(kind=KIND, params__contains=params, state__in=UNFINISHED).first()


def _queue(stage: Stage, kind: str, key: str, by: str) -> Job:
    title = f"Figures of {stage.study.name}, {stage.name}"
    job = jobs.queue_job(kind=KIND, title=title, params={"stage": stage.pk, "kind": kind, "key": key}, by=by)
    jobs.dispatch(job)
    return job


def run_reckon(job: Job, progress: jobs.Progress) -> None:
    stage = Stage.objects.select_related("study__benchmark").get(pk=job.params["stage"])
    progress.begin("counting")

    def tell(done: int, total: int) -> None:
        progress.total = total
        progress.step(done - progress.done)

    made = reckon(stage, job.params["kind"], job.params["key"], tell)
    with transaction.atomic():
        jobs.finish_job(job=job, by="worker", report={"seconds": round(made.seconds, 1)})
