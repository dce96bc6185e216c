"""For commands on a file of ratings: read it, or print each problem and stop; print what was computed."""

import json
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from django.core.management.base import CommandError, OutputWrapper

from benchmarks.formats.base import ProblemLog, Unreadable

Read = TypeVar("Read")
_PIECES = 100_000  # of JSON written at once


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


def write_figures(found: dict, written: Callable[[dict], str], as_json: bool, out: OutputWrapper) -> None:
    """Print the figures as JSON, piece by piece, since those of 500 annotators are long; or as `written` for people."""
    if not as_json:
        out.write(written(found))
        return
    pieces = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(found)
    while some := "".join(islice(pieces, _PIECES)):
        out.write(some, ending="")
    out.write("")
