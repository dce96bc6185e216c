"""A lock on `var` for the one process that runs its servers, released when the process ends in any way."""

import contextlib
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import TextIO

from config import services

STOPPING = "stopping"


class Taken(Exception):
    """Another process holds it. `.holder`: {"what": "up" or a command's name, "url": …, "pid": …}, {} if unreadable."""

    def __init__(self, holder: dict):
        super().__init__(holder)
        self.holder = holder


class Lock:
    def __init__(self, var: Path):
        var.mkdir(parents=True, exist_ok=True)
        self.path = var / "lock"
        self.file: TextIO | None = None

    def take(self, **holder: object) -> None:
        """Hold the lock until released. Raises Taken."""
        file = self.path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise Taken(self.holder()) from None
        self.file = file
        os.register_at_fork(after_in_child=file.close)  # children that outlive this process must not hold the lock
        self.tell(**holder)

    def tell(self, **holder: object) -> None:
        """Write who holds the lock, for others to read. Only the holder may call this."""
        assert self.file is not None
        self.file.truncate(0)
        self.file.write(json.dumps({**holder, "pid": os.getpid()}))
        self.file.flush()

    def holder(self) -> dict:
        try:
            return json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}

    def release(self) -> None:
        if self.file:
            self.file.truncate(0)
            self.file.close()
            self.file = None


def take_from_the_stopping(lock: Lock, *, seconds: float, **holder: object) -> None:
    """Take the lock, waiting if its holder is currently stopping. Raises Taken."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return lock.take(**holder)
        except Taken as taken:
            if taken.holder.get("what", STOPPING) != STOPPING or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


@contextlib.contextmanager
def servers_for(command: str, servers: services.Servers):
    """For one command, use the running servers, or start servers for its duration."""
    lock = Lock(servers.var)
    if _uses_running(lock, command):
        yield
        return
    try:
        servers.start()
        yield
    finally:
        servers.stop()
        lock.release()


def _uses_running(lock: Lock, command: str) -> bool:
    """Return True if `make run` serves `var`, False if this process now holds it. Waits for another command to end."""
    announced = False
    while True:
        try:
            lock.take(what=command)
            return False
        except Taken as taken:
            what = taken.holder.get("what", STOPPING)
        if what == "up" and services.answer(lock.path.parent):
            return True
        if what not in ("up", STOPPING) and not announced:
            print(f"Waiting for `manage.py {what}` to finish …", file=sys.stderr)
            announced = True
        time.sleep(0.1)
