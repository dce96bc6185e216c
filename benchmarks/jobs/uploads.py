"""Files that came through the browser, kept under `var/uploads/` until the job that reads them is over."""

import errno
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files.move import file_move_safe
from django.core.files.uploadedfile import UploadedFile

from benchmarks.models import Job

UPLOADS = "uploads"
OLD = 24 * 3600  # seconds
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


class NoRoom(Exception):
    """The disk is full, and nothing was kept. The message is for whoever uploads."""


@contextmanager
def arriving() -> Iterator[Path]:
    """A new folder for what comes; it goes again where that cannot be kept. Raises NoRoom."""
    folder = new_folder()
    try:
        yield folder
    except OSError as error:
        drop(folder)
        if error.errno not in DISK_FULL:
            raise
        raise NoRoom("STORAGE_FULL: the server's disk is full. Make room, then upload again.") from None


def new_folder() -> Path:
    folder = Path(settings.VAR) / UPLOADS / uuid.uuid4().hex
    folder.mkdir(parents=True)
    return folder


def keep(files: list[UploadedFile], folder: Path) -> Path | None:
    """Save files under their own names. One file: its path; several: their folder; none: None."""
    if not files:
        return None
    folder.mkdir()
    for file in files:
        save(file, folder / Path(file.name).name)
    return folder / Path(files[0].name).name if len(files) == 1 else folder


def save(file: UploadedFile, target: Path) -> None:
    if hasattr(file, "temporary_file_path"):
        file_move_safe(file.temporary_file_path(), target)
        os.chmod(target, 0o644)
        return
    with target.open("xb") as out:
        shutil.copyfileobj(file, out)


def drop(folder: Path | str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Drop what a killed process left: entries of yesterday and before that no unfinished job is to read."""
    unfinished = set(Job.objects.filter(finished_at=None).values_list("params__upload", flat=True))
    for entry in (Path(settings.VAR) / UPLOADS).glob("*"):
        if str(entry) in unfinished or time.time() - entry.stat().st_mtime < OLD:
            continue
        if entry.is_dir():
            drop(entry)
        else:
            entry.unlink(missing_ok=True)
