"""Space on the disk of `var`, which may also have the database: uploads reserve what they need in advance.

A chunked upload reserves its missing bytes (kept_uploads.py) until it has stalled for a while. A large form reserves
its length in a file that its process keeps locked, so that a dead process does not reserve anything.
"""

import errno
import fcntl
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

RESERVE = 2**30  # bytes that nobody can reserve
LEAST = 2**28  # bytes below which uploads and jobs stop writing, whoever has taken the rest
HALTED = 15 * 60  # seconds after its last bytes when an upload's reservation ends
FACTS, CONTENT, HELD = "upload.json", "content", ".held"


class NoRoom(Exception):
    """The disk is full, or the rest is reserved. The message is for the user."""


def check() -> None:
    """Raise the error of a full disk before it is full."""
    if shutil.disk_usage(settings.VAR).free < LEAST:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def taking(size: int, what: str) -> Iterator[None]:
    """Allow only the caller to reserve space, of `size` bytes, inside the block. Raises NoRoom."""
    with (Path(settings.VAR) / "room.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        left = shutil.disk_usage(settings.VAR).free - RESERVE - _held()
        if size > left:
            has = f"{size:,} bytes are needed; {max(0, left):,} are left beside other uploads and the server’s reserve."
            raise NoRoom(f"The server has no room for {what}. {has} Make room, then upload again.")
        yield


@contextmanager
def held(size: int, what: str) -> Iterator[None]:
    """Reserve `size` bytes. Raises NoRoom."""
    note = _uploads() / f"{uuid.uuid4().hex}{HELD}"
    note.parent.mkdir(parents=True, exist_ok=True)
    with taking(size, what):
        file = note.open("x")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(str(size))
        file.flush()
    try:
        yield
    finally:
        note.unlink(missing_ok=True)
        file.close()


def is_halted(folder: Path) -> bool:
    """Return whether this upload has stalled for so long that its reservation has ended."""
    return time.time() - folder.stat().st_mtime > HALTED


def _uploads() -> Path:
    return Path(settings.VAR) / "uploads"


def _held() -> int:
    found = sum(map(_missing, _uploads().glob(f"*/{FACTS}")))
    return found + sum(map(_noted, _uploads().glob(f"*{HELD}")))


def _missing(facts: Path) -> int:
    try:
        if is_halted(facts.parent):
            return 0
        return json.loads(facts.read_text(encoding="utf-8"))["size"] - (facts.parent / CONTENT).stat().st_size
    except (OSError, ValueError):  # being removed
        return 0


def _noted(note: Path) -> int:
    try:
        with note.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read())
            note.unlink(missing_ok=True)  # its process is dead
    except FileNotFoundError:
        pass
    return 0
