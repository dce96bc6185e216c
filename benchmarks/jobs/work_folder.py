"""A job's own folder for its output until that is stored, removed when the job ends, even by kill -9.

`var/work/<job>/` is on this machine. A folder whose job has no process is dead: the next job, or a worker at its start,
clears it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from benchmarks.jobs import jobs
from benchmarks.models import Job, JobState
from benchmarks.storage.files import kept

STORED = "stored"  # a file in the folder with the storage name that the job is writing to


def place_of(job_id: int) -> Path:
    return Path(settings.VAR) / "work" / str(job_id)


@contextmanager
def workplace(job: Job) -> Iterator[Path]:
    """An empty folder, for the one process that runs the job."""
    sweep()
    clear(job.pk)  # of an earlier process; the sweep leaves it, since this one holds the job's lock
    place = place_of(job.pk)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        clear(job.pk)


def will_store(job: Job, name: str) -> None:
    """Announce a storage name before writing: unless the job finishes, no file of this name is kept. The name must
    belong to this job alone."""
    (place_of(job.pk) / STORED).write_text(name, encoding="utf-8")


def clear(job_id: int) -> None:
    stored = place_of(job_id) / STORED
    name = stored.read_text(encoding="utf-8") if stored.exists() else ""
    if name and not Job.objects.filter(pk=job_id, state=JobState.DONE).exists():
        kept.delete(name)
    shutil.rmtree(place_of(job_id), ignore_errors=True)


def sweep() -> int:
    """Clear the folders of jobs that no other process is running; returns how many there were."""
    swept = 0
    for folder in sorted((Path(settings.VAR) / "work").glob("[0-9]*")):
        with jobs.alone(f"job:{folder.name}") as dead:
            if dead:
                clear(int(folder.name))
                swept += 1
    return swept
