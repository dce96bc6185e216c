"""A user's long table of ratings, a CSV file with the columns `item,annotator,label`, read strictly. Pure."""

import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from annotation.measures.ratings import RatingColumns
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import TableLimits, read_table

RATINGS = TableLimits(rows=10_000_000, lines=20_000_000, size=2**31, things="ratings")
_COLUMNS = ("item", "annotator", "label")
REFUSE, FIRST, LAST, ALL = "refuse", "first", "last", "all"  # a second rating of an item by the same annotator


def read_ratings(path: Path, log: ProblemLog, repeated: str = REFUSE) -> RatingColumns:
    """The ratings in the file's order. Errors are in the log.

    `repeated` says what to do with a second rating of an item by the same annotator: refuse it, keep the first or the
    last, or keep all, each as a separate rating.
    """
    places: tuple[dict[str, int], ...] = ({}, {}, {})  # of each column: value → code
    codes, lines = [array("i") for _ in _COLUMNS], array("i")
    for number, row in _cells(path, log, _COLUMNS):
        lines.append(number)
        for value, place, column in zip(row, places, codes, strict=True):
            column.append(place.setdefault(value, len(place)))
    for name, place, column in zip(_COLUMNS, places, codes, strict=True):
        for value, other in _two_spellings(place):
            number, first = (lines[column.index(place[one])] for one in (value, other))
            advice = (
                f"Row {first} composes “{value[:80]}” of other Unicode characters. Write it the same way everywhere."
            )
            log.error("TWO_SPELLINGS", path.name, number, name, advice)
    items, annotators, labels = map(list, places)
    given = RatingColumns(items, annotators, labels, *(np.frombuffer(column, dtype=np.intc) for column in codes))
    if repeated == ALL:
        return given
    if repeated == REFUSE:
        for second in np.flatnonzero(given.earliest() < np.arange(len(given))).tolist():
            advice = "This annotator has already rated this item. Remove one, or state which counts (--repeated)."
            log.error("REPEATED_RATING", path.name, lines[second], "annotator", advice)
    return given.once(last=repeated == LAST)


def _two_spellings(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(value, earlier one) of values that differ only in how Unicode composes their characters, as é does."""
    seen: dict[str, str] = {}
    for value in values:
        earlier = seen.setdefault(value if value.isascii() else unicodedata.normalize("NFC", value), value)
        if earlier != value:
            yield value, earlier


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
        for row in read_table(path, log, columns, RATINGS):
            values = tuple(row.values[name].strip() for name in columns)
            for name, value in zip(columns, values, strict=True):
                if not value:
                    log.error("VALUE_MISSING", path.name, row.number, name, "Fill in this cell, or remove the row.")
            yield row.number, values
    except Unreadable:
        return
