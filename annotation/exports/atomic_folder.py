"""A folder that appears whole or not at all, even if the process writing it is killed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import locks


class Busy(ValueError):
    """Another process is writing to this folder."""


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Yield an empty folder beside `out`, which replaces it when the block succeeds; otherwise `out` stays as it was.

    Leftovers of a killed process are removed first: only the holder of this lock writes there.
    """
    part, old = out.with_name(f".{out.name}.part"), out.with_name(f".{out.name}.old")
    with locks.alone(f"writes {out}") as mine:
        if not mine:
            raise Busy(f"Another process is writing to {out}. Wait until it has finished, or name another folder.")
        _clear(out, part, old)
        part.mkdir(parents=True)
        try:
            yield part
            if out.exists():
                out.rename(old)
            part.rename(out)
        finally:
            _clear(out, part, old)


def _clear(out: Path, part: Path, old: Path) -> None:
    if old.exists() and not out.exists():  # between the two renamings
        old.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(part, ignore_errors=True)
