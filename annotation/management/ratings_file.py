"""Read a file for a command: return its rows, or print each problem and stop."""

from collections.abc import Callable
from typing import TypeVar

from django.core.management.base import CommandError, OutputWrapper

from benchmarks.formats.base import ProblemLog, Unreadable

Read = TypeVar("Read")


def read_or_refuse(read: Callable[[ProblemLog], Read], out: OutputWrapper) -> Read:
    """Raises CommandError after printing the problems."""
    log = ProblemLog()
    found = []
    try:
        found.append(read(log))
    except Unreadable:
        pass  # the log says why
    except OSError as error:
        raise CommandError(f"The file cannot be read: {error.strerror}.") from None
    for problem in log.problems:
        out.write(str(problem))
    if log.count:
        raise CommandError(f"{log.count:,} problem{'s' * (log.count != 1)} in the file. Nothing was done.")
    return found[0]
