"""Files that follow a database change: deleted once the rows are gone, or put in place once the rows exist.

Rows change in one transaction, files do not. So file changes are first recorded in `staging/after-<id>/` beside the
files; the transaction writes an event with the id; then the files follow. If an exception or kill -9 interrupts this,
`finish_dead` reads from the database whether the transaction was committed, and does the rest.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from django.db import transaction

from benchmarks import locks
from benchmarks.imports import staging
from benchmarks.models import Event, Image
from benchmarks.storage.files import kept

PREFIX = "after-"
NOTED = 10_000  # lines of one note
BATCH = 1000


class DeferredFiles:
    """File changes to make after the transaction that writes an event with `afterwards=self.id`."""

    def __init__(self, id: str):
        self.id = id
        self.folder = f"staging/{PREFIX}{id}"
        self.arriving = f"{self.folder}/arriving"  # laid out like the final place, to which it moves after the commit
        self.notes = 0

    def images(self, images: Iterable[Image]) -> int:
        """Delete images that no row names, whether or not it commits; return how many were noted."""
        return self._note("images", (f"{image.sha256} {image.opaque}" for image in images))

    def files(self, paths: Iterable[str]) -> int:
        """Delete these files after the commit; return how many were noted."""
        return self._note("files", paths)

    def arrive(self, path: str, content: bytes | Path) -> None:
        """Hold a file, given as its bytes or as a local copy (then call `kept.sync`), until after the commit."""
        name = f"{self.arriving}/{path}"
        kept.write(name, content) if isinstance(content, bytes) else kept.copy_in(content, name)

    def _note(self, kind: str, lines: Iterable[str]) -> int:
        """Record lines durably before returning."""
        lines, count = iter(lines), 0
        while some := list(islice(lines, NOTED)):
            kept.write(f"{self.folder}/{kind}/{self.notes:06}", "".join(f"{line}\n" for line in some).encode())
            self.notes, count = self.notes + 1, count + len(some)
        return count

    def _noted(self, kind: str) -> Iterator[list[str]]:
        for name in sorted(found.name for found in kept.below(f"{self.folder}/{kind}")):
            lines = kept.read(name).decode().splitlines()
            for start in range(0, len(lines), BATCH):
                yield lines[start : start + BATCH]

    def committed(self) -> bool:
        return Event.objects.filter(data__afterwards=self.id).exists()

    def finish(self) -> None:
        """Carry out the recorded changes. Safe to repeat."""
        if self.committed():
            for paths in self._noted("files"):
                kept.remove(paths)
            self._move_in()
        with transaction.atomic():
            staging.serial()
            for lines in self._noted("images"):
                staging.remove_unnamed([staging.journalled(line) for line in lines])
        kept.remove_folder(self.folder)

    def _move_in(self) -> None:
        for found in list(kept.below(self.arriving)):
            kept.move(found.name, found.name.removeprefix(f"{self.arriving}/"))


@contextmanager
def deferred_files() -> Iterator[DeferredFiles]:
    """Wrap a transaction and its recorded changes: files follow if it commits; otherwise they do not change."""
    finish_dead()
    one = DeferredFiles(secrets.token_hex(8))
    with locks.alone(f"{PREFIX}{one.id}"):
        try:
            yield one
        finally:
            one.finish()


def finish_dead() -> int:
    """Finish what dead processes have left; return how many there were."""
    finished = 0
    for name in kept.folders("staging"):
        if name.startswith(PREFIX):
            with locks.alone(name) as dead:
                if dead:
                    DeferredFiles(name.removeprefix(PREFIX)).finish()
                    finished += 1
    return finished
