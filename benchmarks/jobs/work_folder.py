"""A job's folder for output that is not stored yet, removed when the job ends, even by kill -9.

`var/work/<job>/` is on this machine. A folder whose job has no process is dead: the next job, or a worker at its start,
clears it. The name that the job is writing to is recorded beside the stored files, where every machine finds it.
"""

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from benchmarks import locks
from benchmarks.models import Job, JobState
from benchmarks.storage.files import kept

PREFIX = "stored-"


def place_of(job_id: int) -> Path:
    return Path(settings.VAR) / "work" / str(job_id)


@contextmanager
def workplace(job: Job) -> Iterator[Path]:
    """Open an empty folder for the only process that runs the job."""
    sweep()
    clear(job.pk)  # an earlier process's; the sweep leaves it, because this one holds the job's lock
    place = place_of(job.pk)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        clear(job.pk)


def _note(job_id: int) -> str:
    return f"staging/{PREFIX}{job_id}"


def will_store(job: Job, name: str) -> None:
    """Announce a storage name before writing: unless the job finishes, no file of this name is kept. The name must
    belong only to this job."""
    kept.write(f"{_note(job.pk)}/name", name.encode())


def clear(job_id: int) -> None:
    shutil.rmtree(place_of(job_id), ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        name = kept.read(f"{_note(job_id)}/name").decode()
        if not Job.objects.filter(pk=job_id, state=JobState.DONE).exists():
            kept.delete(name)
        kept.remove_folder(_note(job_id))


def sweep() -> int:
    """Clear the folders of jobs that no other process is running; return how many there were."""
    swept = 0
    found = {path.name for path in (Path(settings.VAR) / "work").glob("[0-9]*")}
    found |= {name.removeprefix(PREFIX) for name in kept.folders("staging") if name.startswith(PREFIX)}
    for job_id in sorted(found):
        with locks.alone(f"job:{job_id}") as dead:
            if dead:
                clear(int(job_id))
                swept += 1
    return swept
