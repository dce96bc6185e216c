"""Read tables strictly, with one header row; every value stays text. CSV: commas and double quotes. TSV: tabs; quotes
are ordinary characters.
"""

import csv
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.formats import limits, text
from benchmarks.formats.base import ProblemLog, Unreadable

WRONG = {"negative", "neg", "false", "wrong", "incorrect", "foil", "distractor"}  # of names
ORDINALS = {"first": "1", "second": "2"}
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, slots=True)
class Row:
    """`number` is the physical line on which the row starts, from 1; `values` has every column."""

    number: int
    values: dict[str, str]


class Feed:
    """Passes physical lines to the csv module and keeps track of where each row begins."""

    def __init__(self, source: Iterator[str], file: str, log: ProblemLog):
        self.source, self.file, self.log = source, file, log
        self.line = 0  # the last line passed on
        self.start = 1
        self.length = 0  # characters since `start`

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self.source)
        self.line += 1
        self.length += len(line)
        if self.length > limits.MAX_LINE:
            self.never_closed()
        return line

    def row_done(self) -> int:
        """Return the line on which the last row began."""
        number, self.start, self.length = self.start, self.line + 1, 0
        return number

    def never_closed(self) -> None:
        advice = f'A quote (") opened in this row is still open on line {self.line}. Close it.'
        self.log.error("UNCLOSED_QUOTE", self.file, self.start, "", advice)
        raise Unreadable

    def failed(self, error: csv.Error) -> None:
        """Log what the csv module could not read; it cannot resume, so reading ends."""
        if self.line > self.start or "unexpected end" in str(error):
            self.never_closed()
        if "field limit" in str(error):
            advice = f"Use at most {limits.MAX_FIELD:,} characters per cell."
            self.log.error("FIELD_TOO_LONG", self.file, self.start, "", advice)
        else:
            advice = 'Put the whole cell in quotes and write a quote inside it twice ("").'
            self.log.error("BAD_QUOTE", self.file, self.start, "", advice)
        raise Unreadable


Cells = Iterator[tuple[int, list[str]]]  # (line on which it starts, cells) of every non-blank row


def quoted(lines: Iterator[str], file: str, log: ProblemLog, delimiter: str = ",") -> Cells:
    feed = Feed(lines, file, log)
    reader = csv.reader(feed, strict=True, delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            feed.failed(error)
        number = feed.row_done()
        if row:
            yield number, row


def literal(lines: Iterator[str], file: str, log: ProblemLog) -> Cells:
    for number, line in enumerate(lines, 1):
        if line := line.rstrip("\r\n"):
            yield number, line.split("\t")


@dataclass(frozen=True, slots=True)
class Kind:
    """A dialect of tables."""

    cells: Callable[[Iterator[str], str, ProblemLog], Cells]
    delimiter: str
    ragged: str  # advice for a row that is shorter or longer than the header


COMMAS = Kind(quoted, ",", "put cells with commas in quotes.")
TABS = Kind(literal, "\t", "a cell cannot contain a tab or line break, even in quotes.")


@dataclass(frozen=True, slots=True)
class TableLimits:
    """Limits of a table that is not an import; `size` is in bytes, `things` names its rows."""

    rows: int
    lines: int
    size: int
    things: str


def sizes(at_most: TableLimits | None) -> dict[str, int]:
    """Return the limits on its lines, for `text.lines`."""
    return {"most": at_most.lines, "cap": at_most.size} if at_most else {}


def read_table(
    path: Path, log: ProblemLog, required: Sequence[str], at_most: TableLimits | None = None
) -> Iterator[Row]:
    """Yield rows of a CSV file that has at least the `required` columns."""
    return read_rows(path, log, COMMAS, [required], at_most)


def read_rows(
    path: Path, log: ProblemLog, kind: Kind, layouts: Sequence[Sequence[str]], at_most: TableLimits | None = None
) -> Iterator[Row]:
    """Yield rows of a file with at least the columns of one of the `layouts`. Ragged rows are logged and skipped.

    EMPTY_FILE, COLUMN_MISSING, WRONG_DELIMITER and broken quotes end the reading; a mere header gives NO_ROWS.
    """
    with path.open("rb") as stream:
        rows = kind.cells(text.lines(stream, path.name, log, **sizes(at_most)), path.name, log)
        first = next(rows, None)
        if first is None:
            log.error("EMPTY_FILE", path.name, None, "", "The file has only blank lines; export it again.")
            return
        number, header = first
        refuse_other_delimiter(header, number, path.name, kind, layouts, log)
        required = max(layouts, key=lambda layout: len({*layout} & {*header}))
        check_header(header, number, path.name, required, log)
        yield from checked_rows(rows, header, path.name, kind, log, at_most)


def checked_rows(
    rows: Cells, header: list[str], file: str, kind: Kind, log: ProblemLog, at_most: TableLimits | None = None
) -> Iterator[Row]:
    count = 0
    for number, row in rows:
        count += 1
        refuse_too_many(count, file, number, log, at_most)
        if len(row) != len(header):
            lacks = f"The header has {len(header)} cells, this row {len(row)}"
            if log.skip_incomplete:
                log.gap("RAGGED_ROW", file, number, "", f"{lacks}.")
            else:
                log.error("RAGGED_ROW", file, number, "", f"{lacks}; {kind.ragged}")
            continue
        values = dict(zip(header, row, strict=True))
        before = log.count
        for name, value in values.items():
            text.storable(value, file, number, name, log)
        if log.count == before:
            yield Row(number, values)
    if not count:
        log.error("NO_ROWS", file, None, "", "The file has a header but no rows. Export it again.")


def refuse_too_many(count: int, file: str, row: int, log: ProblemLog, at_most: TableLimits | None = None) -> None:
    """Raise Unreadable at the first row after the limit."""
    if count > (at_most.rows if at_most else limits.MAX_ROWS):
        too_many_rows(file, row, log, *((at_most.rows, f"{at_most.things}; split the file") if at_most else ()))


def too_many_rows(
    file: str, row: int, log: ProblemLog, most: int | None = None, things: str = "items per import; split it"
) -> None:
    log.error("TOO_MANY_ROWS", file, row, "", f"Use at most {most or limits.MAX_ROWS:,} {things}.")
    raise Unreadable


def check_header(header: list[str], row: int, file: str, required: Sequence[str], log: ProblemLog) -> None:
    """Check that required columns are present, and that none is unnamed or repeated. Raises Unreadable."""
    before = log.count
    for place, name in enumerate(header, 1):
        if not name.strip():
            log.error("COLUMN_MISSING", file, row, f"column {place}", "Give the column a name, or remove it.")
        elif text.storable(name, file, row, f"column {place}", log) and name in header[: place - 1]:
            log.error("COLUMN_MISSING", file, row, name, "Two columns have this name; rename or remove one.")
    others = [other for other in header if other not in required]
    similar = sum(bool(nearest(name, others)) for name in required)
    if len(required) > 1 and not {*required} & {*header} and 2 * similar < len(required):  # a table of something else
        advice = f"The first row must have the names of the columns: {', '.join(required)}."
        log.error("COLUMN_MISSING", file, row, "", advice)
        raise Unreadable
    for name in required:
        if name not in header:
            missing_column(name, others, file, row, log)
    if log.count > before:
        raise Unreadable


def missing_column(name: str, others: list[str], file: str, row: int | None, log: ProblemLog, add: str = "") -> None:
    """Log a missing column, with the one of the `others` that may be meant. `add` is the advice if none is."""
    near = nearest(name, others)
    advice = f"Rename the column “{near[:80]}” to “{name}”." if near else add or f"Add the column “{name}”."
    log.error("COLUMN_MISSING", file, row, name, advice)


def nearest(name: str, others: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the one of `others` most similar to `name`, ignoring capitals and spaces; empty if none is.

    Names that mean different things, such as `hn_img_0` and `hn_img_2` or `true_caption` and `false_caption`, are not
    similar.
    """
    single = (other for other in others if DELIMITERS.keys().isdisjoint(other))  # not a header that failed to split
    spellings = {spelled(other): other for other in single if meaning(other) == meaning(name)}
    found = difflib.get_close_matches(spelled(name), spellings, n=1, cutoff=cutoff)
    return spellings[found[0]] if found else ""


def spelled(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def meaning(name: str) -> tuple[bool, list[str]]:
    """Return whether a name refers to something wrong, and its numbers."""
    words = re.findall(r"[a-z]+|\d+", spelled(name))
    numbers = [ORDINALS.get(word, word) for word in words]
    return not WRONG.isdisjoint(words), [number for number in numbers if number.isdigit()]


def refuse_other_delimiter(
    header: list[str], row: int, file: str, kind: Kind, layouts: Sequence[Sequence[str]], log: ProblemLog
) -> None:
    """Raise Unreadable if another delimiter would give most of a layout's columns and more than this one, or as many
    columns as a layout while this one gives only one.
    """
    others = {delimiter: word for delimiter, word in DELIMITERS.items() if delimiter != kind.delimiter}
    for delimiter, word in others.items():
        split = [name.strip(' "') for cell in header for name in cell.split(delimiter)]
        there = ((len({*layout} & {*split}), len({*layout} & {*header}), len(layout)) for layout in layouts)
        advice = f"The columns are separated by {word}; save the file with {DELIMITERS[kind.delimiter]}"
        if len(split) > len(header) and any(more > now and 2 * more > size for more, now, size in there):
            log.error("WRONG_DELIMITER", file, row, "", f"{advice}.")
            raise Unreadable
        if len(header) == 1 < min(map(len, layouts)) <= len(split):
            log.error("COLUMN_MISSING", file, row, "", f"{advice}, and with the columns {', '.join(layouts[0])}.")
            raise Unreadable


def note_extra_columns(names: Iterable[str], file: str, log: ProblemLog) -> None:
    for name in names:
        log.note("EXTRA_COLUMN", file, 1, name, "Kept with the item as further information; never shown to annotators.")
