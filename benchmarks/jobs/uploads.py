"""Uploaded files, kept under `var/uploads/` until the job that reads them has ended.

If files are kept in a bucket, a job may run on a machine other than the one that received its files: they are then in
the bucket (bucket_uploads.py), and `at_hand` fetches them while the job runs.
"""

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import UploadedFile

from benchmarks.jobs import bucket_uploads, jobs
from benchmarks.jobs.room import NoRoom as NoRoom
from benchmarks.models import Job
from benchmarks.records import Problem, Refused
from benchmarks.storage.files import kept

UPLOADS = "uploads"
OLD = 24 * 3600  # seconds


@contextmanager
def arriving() -> Iterator[Path]:
    """Open a new folder for an upload, removed again if the upload cannot be stored. Raises NoRoom."""
    folder = new_folder()
    try:
        yield folder
        if kept.in_bucket:
            bucket_uploads.hand_over(folder)
            drop(folder)
    except Exception as error:
        drop(folder)
        if not isinstance(error, OSError) or error.errno not in jobs.DISK_FULL:
            raise
        raise NoRoom("The server's disk is full. Make room, then upload again.") from None


def new_folder() -> Path:
    folder = Path(settings.VAR) / UPLOADS / uuid.uuid4().hex
    folder.mkdir(parents=True)
    return folder


def keep(files: list[UploadedFile], folder: Path) -> Path:
    """Save files under their own names in the new `folder`; return the path of a single file, or the folder."""
    folder.mkdir()
    storage = FileSystemStorage(folder)
    names = [storage.save(file.name, file) for file in files]
    return folder / names[0] if len(names) == 1 else folder


def drop(folder: Path | str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def drop_job(job: Job) -> None:
    """Delete the files of a job that has ended."""
    drop(job.params["upload"])
    if kept.in_bucket:
        bucket_uploads.drop_job(Path(job.params["upload"]))


@contextmanager
def at_hand(job: Job, progress: jobs.Progress) -> Iterator[None]:
    """Keep the job's files on this machine, at the paths in its `params`, not to be saved. Raises Refused."""
    folder = job.params.get("upload")
    if not folder or not kept.in_bucket:
        yield
        return
    own = Path(settings.VAR) / UPLOADS / Path(folder).name
    try:
        try:
            files = bucket_uploads.files_of_job(own, job.params.get("kept") or {})
            progress.begin("fetching files", sum(part.size for parts in files.values() for part in parts))
            for name, parts in files.items():
                bucket_uploads.fetch(parts, own / name, progress.step)
        except FileNotFoundError:
            raise Refused(
                [Problem("UPLOAD_GONE", "", None, "", "A file of this job is gone. Upload it again.")]
            ) from None
        job.params = _moved(job.params, folder, str(own))
        yield
    finally:
        drop(own)


def _moved(value: Any, old: str, new: str) -> Any:
    """Return `value` with each path in the folder `old` moved to `new`."""
    if isinstance(value, dict):
        return {key: _moved(one, old, new) for key, one in value.items()}
    if isinstance(value, list):
        return [_moved(one, old, new) for one in value]
    return new + value.removeprefix(old) if isinstance(value, str) and f"{value}/".startswith(f"{old}/") else value


def sweep() -> None:
    """Delete what killed processes left: entries over a day old that no unfinished job will read."""
    unfinished = set(Job.objects.filter(finished_at=None).values_list("params__upload", flat=True))
    for entry in (Path(settings.VAR) / UPLOADS).glob("*"):
        if str(entry) in unfinished or time.time() - entry.stat().st_mtime < OLD:
            continue
        if entry.is_dir():
            drop(entry)
        else:
            entry.unlink(missing_ok=True)
    if kept.in_bucket:
        bucket_uploads.sweep(time.time() - OLD)
