"""Other packages' actions after an import. They register listeners, like kinds of jobs.

A listener runs after the import's commit, in the process that imported, and may run again at any time: every start of a
worker runs all of them for every benchmark, so that a process killed between the commit and the listener loses nothing.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.models import Benchmark
from benchmarks.runs.reported import ReportedRow

Listener = Callable[[Benchmark], object]
ReadPeople = Callable[[Path, str, ProblemLog], list[ReportedRow]]
_LISTENERS: list[Listener] = []
_READERS: list[ReadPeople] = []
log = logging.getLogger(__name__)


def on_imported(listener: Listener) -> Listener:
    """Call `listener(benchmark)` after each import of items or of new candidates. Usable as a decorator."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)
    return listener


def notify(benchmark: Benchmark) -> None:
    """Run every listener. The import is committed: an error is logged, and the next start of a worker tries again."""
    for listener in _LISTENERS:
        try:
            listener(benchmark)
        except Exception:
            log.exception("%s failed for benchmark %s", listener.__qualname__, benchmark.pk)


def notify_all() -> None:
    """Run every listener for every benchmark."""
    for benchmark in Benchmark.objects.order_by("pk"):
        notify(benchmark)


# Other contents of a release besides items


def read_people_with(read: ReadPeople) -> None:
    """Register `read(folder, kind, log)`, which returns rows on a release's people, by that kind's measures."""
    if read not in _READERS:
        _READERS.append(read)


def people_of(release: Path, kind: str, log: ProblemLog) -> list[ReportedRow]:
    """Return the rows read from a release's folder; note in the log what cannot be read."""
    return [row for read in _READERS for row in read(release, kind, log)]
