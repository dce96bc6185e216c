"""Where a job writes what it makes until that is stored: a folder of its own, which goes with it, be it by kill -9.

`var/work/<job>/` is on this machine. A folder of a job that no process is at any more is dead: whoever comes next, a
job or a worker that starts, clears it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from benchmarks.jobs import jobs
from benchmarks.models import Job, JobState

STORED = "stored"  # a file of the folder: the name in the storage that the job is writing to


def place_of(job_id: int) -> Path:
    return Path(settings.VAR) / "work" / str(job_id)


@contextmanager
def workplace(job: Job) -> Iterator[Path]:
    """An empty folder, for the one process that is at the job."""
    sweep()
    clear(job.pk)  # of an earlier process; the sweep leaves it, since this one holds the job's lock
    place = place_of(job.pk)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        clear(job.pk)


def will_store(job: Job, name: str) -> None:
    """Say it before the first byte: unless the job is done in the end, no file of this name stays. The name must be the
    job's own."""
    (place_of(job.pk) / STORED).write_text(name, encoding="utf-8")


def clear(job_id: int) -> None:
    stored = place_of(job_id) / STORED
    name = stored.read_text(encoding="utf-8") if stored.exists() else ""
    if name and not Job.objects.filter(pk=job_id, state=JobState.DONE).exists():
        default_storage.delete(name)
    shutil.rmtree(place_of(job_id), ignore_errors=True)


def sweep() -> int:
    """Clear the folders of jobs that no other process is at; how many there were."""
    swept = 0
    for folder in sorted((Path(settings.VAR) / "work").glob("[0-9]*")):
        with jobs.alone(f"job:{folder.name}") as dead:
            if dead:
                clear(int(folder.name))
                swept += 1
    return swept
