"""Uploaded files, kept under `var/uploads/` until the job that reads them has ended."""

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import UploadedFile

from benchmarks.jobs import jobs
from benchmarks.models import Job

UPLOADS = "uploads"
OLD = 24 * 3600  # seconds


class NoRoom(Exception):
    """The disk is full, and nothing was kept. The message is for the user."""


@contextmanager
def arriving() -> Iterator[Path]:
    """A new folder for an upload, removed again if the upload cannot be stored. Raises NoRoom."""
    folder = new_folder()
    try:
        yield folder
    except Exception as error:
        drop(folder)
        if not isinstance(error, OSError) or error.errno not in jobs.DISK_FULL:
            raise
        raise NoRoom("STORAGE_FULL: the server's disk is full. Make room, then upload again.") from None


def new_folder() -> Path:
    folder = Path(settings.VAR) / UPLOADS / uuid.uuid4().hex
    folder.mkdir(parents=True)
    return folder


def keep(files: list[UploadedFile], folder: Path) -> Path:
    """Save files under their own names in the new `folder`. Returns the path of a single file, or the folder."""
    folder.mkdir()
    storage = FileSystemStorage(folder)
    names = [storage.save(file.name, file) for file in files]
    return folder / names[0] if len(names) == 1 else folder


def drop(folder: Path | str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Delete what killed processes left: entries more than a day old that no unfinished job will read."""
    unfinished = set(Job.objects.filter(finished_at=None).values_list("params__upload", flat=True))
    for entry in (Path(settings.VAR) / UPLOADS).glob("*"):
        if str(entry) in unfinished or time.time() - entry.stat().st_mtime < OLD:
            continue
        if entry.is_dir():
            drop(entry)
        else:
            entry.unlink(missing_ok=True)
