"""A user's long table of ratings, a CSV file with the columns `item,annotator,label`, read strictly. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from annotation.measures.agreement import Rating
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import read_table

_COLUMNS = ("item", "annotator", "label")
REFUSE, FIRST, LAST, ALL = "refuse", "first", "last", "all"  # a second rating of an item by the same annotator


def read_ratings(path: Path, log: ProblemLog, repeated: str = REFUSE) -> list[Rating]:
    """The ratings in the file's order. Errors are in the log.

    `repeated` says what to do with a second rating of an item by the same annotator: refuse it, keep the first or the
    last, or keep all, each as a separate rating.
    """
    kept: dict[tuple[object, ...], Rating] = {}
    for number, row in _cells(path, log, _COLUMNS):
        same = (*row[:2], number) if repeated == ALL else row[:2]
        if same in kept and repeated == REFUSE:
            advice = "This annotator has already rated this item. Remove one, or state which counts (--repeated)."
            log.error("REPEATED_RATING", path.name, number, "annotator", advice)
        if repeated == LAST or same not in kept:
            kept[same] = (row[0], row[1], row[2])
    return list(kept.values())


def read_gold(path: Path, log: ProblemLog) -> dict[str, str]:
    """Item → right label, of a CSV file with the columns `item,label`."""
    gold: dict[str, str] = {}
    for number, (item, label) in _cells(path, log, ("item", "label")):
        if gold.setdefault(item, label) != label:
            advice = f"Another row has “{gold[item][:80]}” for this item; keep only one."
            log.error("DUPLICATE_ID", path.name, number, "item", advice)
    return gold


def _cells(path: Path, log: ProblemLog, columns: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, values of the columns) of every row; an empty value is logged."""
    try:
        for row in read_table(path, log, columns):
            values = tuple(row.values[name].strip() for name in columns)
            for name, value in zip(columns, values, strict=True):
                if not value:
                    log.error("VALUE_MISSING", path.name, row.number, name, "Fill in this cell, or remove the row.")
            yield row.number, values
    except Unreadable:
        return
