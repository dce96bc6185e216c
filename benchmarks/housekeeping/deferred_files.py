"""Files that follow a change of rows: deleted once the rows are gone, or put in place once the rows exist.

Rows change in one transaction, files do not. So the changes to files are first written down in
`MEDIA_ROOT/staging/after-<id>/`; the transaction writes an event with the id; then the files follow. If an exception or
kill -9 interrupts this, `finish_dead` reads from the database whether the transaction was committed, and does the rest.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from django.db import transaction

from benchmarks.imports import staging
from benchmarks.imports.staging import media
from benchmarks.jobs import jobs
from benchmarks.models import Event, Image

PREFIX = "after-"
BATCH = 1000


class DeferredFiles:
    """The changes to files after the transaction that writes an event with `afterwards=self.id`."""

    def __init__(self, id: str):
        self.id = id
        self.folder = media(f"staging/{PREFIX}{id}")
        self.arriving = self.folder / "arriving"  # laid out as in MEDIA_ROOT; moved there once it is committed

    def images(self, images: Iterable[Image]) -> int:
        """Delete those images that no row names, whether or not it commits. Returns how many were noted."""
        return self._note("images", (f"{image.sha256} {image.opaque}" for image in images))

    def files(self, paths: Iterable[str]) -> int:
        """Delete these files after the commit. Returns how many were noted."""
        return self._note("files", paths)

    def _note(self, name: str, lines: Iterable[str]) -> int:
        """Append durably: on disk before this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        count = 0
        with (self.folder / name).open("a") as file:
            for line in lines:
                file.write(f"{line}\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        return count

    def _noted(self, name: str) -> Iterator[list[str]]:
        """Batches of whole lines."""
        if not (self.folder / name).exists():
            return
        with (self.folder / name).open() as file:
            whole = (line[:-1] for line in file if line.endswith("\n"))
            while lines := list(islice(whole, BATCH)):
                yield lines

    def committed(self) -> bool:
        return Event.objects.filter(data__afterwards=self.id).exists()

    def finish(self) -> None:
        """Carry out the noted changes. Safe to repeat."""
        if self.committed():
            for paths in self._noted("files"):
                staging.remove(paths)
            self._move_in()
        with transaction.atomic():
            staging.serial()
            for lines in self._noted("images"):
                staging.remove_unnamed([staging.journalled(line) for line in lines])
        shutil.rmtree(self.folder, ignore_errors=True)
        staging.prune(self.folder)

    def _move_in(self) -> None:
        for path in files_below(self.arriving):
            target = media(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.arriving / path, target)


def files_below(folder: Path) -> Iterator[str]:
    """Paths of files, relative to the folder, one at a time; none if the folder does not exist."""
    for place, _, names in os.walk(folder):
        for name in names:
            yield str((Path(place) / name).relative_to(folder))


@contextmanager
def deferred_files() -> Iterator[DeferredFiles]:
    """Wrap a transaction and its noted changes: files follow if it commits, and stay as they were otherwise."""
    finish_dead()
    one = DeferredFiles(secrets.token_hex(8))
    with jobs.alone(one.folder.name):
        try:
            yield one
        finally:
            one.finish()


def finish_dead() -> int:
    """Finish what dead processes have left; returns how many there were."""
    finished = 0
    for folder in sorted(media("staging").glob(f"{PREFIX}*")):
        with jobs.alone(folder.name) as dead:
            if dead:
                DeferredFiles(folder.name.removeprefix(PREFIX)).finish()
                finished += 1
    return finished
