"""Helpers for commands on a file: read it, or print each problem and stop; print results. Without a database."""

import json
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from django.core.management.base import CommandError, OutputWrapper

from benchmarks.formats.base import ProblemLog, Unreadable

Read = TypeVar("Read")
_PIECES = 100_000  # characters of JSON written at once


def read_or_refuse(
    read: Callable[[ProblemLog], Read],
    out: OutputWrapper,
    notes: OutputWrapper | None = None,
    skip_incomplete: bool = False,
) -> Read:
    """Return the result of `read`. Raises CommandError after printing the problems. `notes`: output for notes."""
    log = ProblemLog(skip_incomplete)
    found = []
    try:
        found.append(read(log))
    except Unreadable:
        pass  # the log has the reason
    except OSError as error:
        raise CommandError(f"The file cannot be read: {error.strerror}.") from None
    refuse(log, out, "Nothing was done")
    for note in log.notes if notes else ():
        notes.write(f"note: {note}")  # type: ignore[union-attr]  # there are none without it
    if notes and log.left_out:
        notes.write(f"{log.left_out:,} incomplete rows skipped.")
    return found[0]


def refuse(log: ProblemLog, out: OutputWrapper, what: str) -> None:
    """If there are problems, print them and raise CommandError; `what` is what was not done."""
    if not log.count:
        return
    for problem in log.problems:
        out.write(str(problem))
    more = f" The first {len(log.problems)} are listed." if log.count > len(log.problems) else ""
    raise CommandError(f"{what}: {counted(log.count)}{more}")


def counted(problems: int) -> str:
    return f"{problems:,} problem{'s' * (problems != 1)}."


def write_result(found: dict, written: Callable[[dict], str], as_json: bool, out: OutputWrapper) -> None:
    """Print the result as JSON, piece by piece, because the statistics of 500 annotators are long; or as `written` for
    people."""
    if not as_json:
        out.write(written(found))
        return
    pieces = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(found)
    while some := "".join(islice(pieces, _PIECES)):
        out.write(some, ending="")
    out.write("")
