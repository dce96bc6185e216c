"""Read imported ratings strictly: any table, with a mapping of its columns. Pure."""

import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from annotation.measures.ratings import RatingColumns
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import ratings
from benchmarks.formats.own.ratings import ALL, LAST, REFUSE
from benchmarks.formats.table import TableLimits, read_table

RATINGS = TableLimits(rows=10_000_000, lines=20_000_000, size=2**31, things="ratings")
_COLUMNS = ("item", "annotator", "label")


class _Codes:
    """The ratings of one answer as codes, so that millions of them fit in memory."""

    def __init__(self) -> None:
        self.places: tuple[dict[str, int], ...] = ({}, {}, {})  # for each column: value → code
        self.codes, self.rows = [array("i") for _ in _COLUMNS], array("i")

    def add(self, row: int, *values: str) -> None:
        self.rows.append(row)
        for value, place, column in zip(values, self.places, self.codes, strict=True):
            column.append(place.setdefault(value, len(place)))

    def columns(self) -> RatingColumns:
        items, annotators, labels = map(list, self.places)
        codes = (np.frombuffer(column, dtype=np.intc) for column in self.codes)
        return RatingColumns(items, annotators, labels, *codes)


def read_ratings(path: Path, log: ProblemLog, repeated: str = REFUSE, mapping: str = "") -> dict[str, RatingColumns]:
    """Map each answer to its ratings in the file's order. Errors go to the log.

    `repeated`: for a second rating of an item by the same annotator, refuse it, keep the first or the last, or keep all
    as separate ratings. `mapping`: its JSON; without one, the columns' meanings are guessed.
    """
    how = ratings.understood(path, mapping, log)
    found = {name: _Codes() for name in how.answers}
    for given in ratings.read(path, how, log, RATINGS):
        item = f"{given.item} {given.question}".rstrip()
        for name, label in given.answers.items():
            found[name].add(given.origin.row, item, given.annotator, label)
    return {name: _checked(path, how, codes, log, repeated) for name, codes in found.items()}


def _checked(path: Path, how: ratings.RatingsMapping, found: _Codes, log: ProblemLog, repeated: str) -> RatingColumns:
    for name, place, column in zip(_COLUMNS, found.places, found.codes, strict=True):
        for value, other in _two_spellings(place):
            number, first = (found.rows[column.index(place[one])] for one in (value, other))
            advice = (
                f"Row {first} composes “{value[:80]}” from other Unicode characters. Write it the same way throughout."
            )
            log.error("TWO_SPELLINGS", path.name, number, name, advice)
    given = found.columns()
    if repeated == ALL:
        return given
    if repeated == REFUSE:
        for second in np.flatnonzero(given.earliest() < np.arange(len(given))).tolist():
            log.error("REPEATED_RATING", path.name, found.rows[second], how.annotator, ratings.REPEATED)
    return given.once(last=repeated == LAST)


def _two_spellings(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (value, earlier one) for values that differ only in how Unicode composes characters such as é."""
    seen: dict[str, str] = {}
    for value in values:
        earlier = seen.setdefault(value if value.isascii() else unicodedata.normalize("NFC", value), value)
        if earlier != value:
            yield value, earlier


def read_gold(path: Path, log: ProblemLog) -> dict[str, str]:
    """Map item to right label, from a CSV file with the columns `item,label`."""
    gold: dict[str, str] = {}
    for number, (item, label) in _cells(path, log, ("item", "label")):
        if gold.setdefault(item, label) != label:
            advice = f"Another row has “{gold[item][:80]}” for this item; keep only one."
            log.error("DUPLICATE_ID", path.name, number, "item", advice)
    return gold


def _cells(path: Path, log: ProblemLog, columns: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (line, values of the columns) of every row; log empty values."""
    try:
        for row in read_table(path, log, columns, RATINGS):
            values = tuple(row.values[name].strip() for name in columns)
            for name, value in zip(columns, values, strict=True):
                if not value:
                    log.error("VALUE_MISSING", path.name, row.number, name, "Fill in this cell, or remove the row.")
            yield row.number, values
    except Unreadable:
        return
