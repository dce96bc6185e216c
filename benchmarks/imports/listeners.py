"""Actions of other packages after an import. They register listeners, as they register kinds of jobs.

A listener runs after the import's commit, in the process that imported, and may run again at any time: every start of a
worker runs all of them for every benchmark, so that a process killed between the commit and the listener loses nothing.
"""

import logging
from collections.abc import Callable

from benchmarks.models import Benchmark

Listener = Callable[[Benchmark], object]
_LISTENERS: list[Listener] = []
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
