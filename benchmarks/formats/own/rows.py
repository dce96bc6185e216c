"""Rows of any table: CSV, TSV and other separators, XLSX, JSON, JSON Lines, parquet, a dataset in a folder or archive.

A file's type is determined by its content, never its name. A row has its values by column, as in the file: text in a
CSV table, any JSON value elsewhere. Pure.
"""

import csv
import datetime
import io
import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import openpyxl

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import PICTURES, ProblemLog, Unreadable
from benchmarks.formats.own import parquet_rows
from benchmarks.formats.parquet_images import ImageNames
from benchmarks.formats.table import TABS, Kind, TableLimits, checked_rows, quoted, refuse_too_many, sizes
from benchmarks.records import Origin
from workers.archives.archive import ArchiveRefused, open_archive

Row = dict[str, Any]
Rows = Iterator[tuple[Origin, Row]]
BEGINNING = 2**16  # bytes from which a file's type is determined
FIRST = 100  # rows from which columns and a mapping are determined
SAMPLE = 20  # lines from which the separator is determined
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
TABLES = (".csv", ".tsv", ".tab", ".txt", ".xlsx", ".json", ".jsonl", ".ndjson")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
ENDINGS = (*TABLES, ".parquet", *ARCHIVES)
KEY = "key"  # the column of keys if the rows are an object's members
FILE_NAME, LABEL = "file_name", "label"  # columns of a folder of images, named as in the `datasets` library
FLAT = 20  # keys of an object that is expanded into columns
LONGEST_NAME = 200  # characters of a column's name


def read(path: Path, log: ProblemLog, at_most: TableLimits | None = None) -> Rows:
    """Yield the rows of a file, or of all tables in a folder or archive. Raises Unreadable or OSError if it ends early.
    `at_most`: limits for a file that is not an import."""
    called = ImageNames()
    if not is_several(path):
        with path.open("rb") as stream:
            yield from _read(path.name, stream, path, log, called, at_most)
        return
    try:
        with open_archive(path) as source:
            found = [name for name in source.names if name.lower().endswith((*TABLES, ".parquet"))]
            shards = [name for name in found if name.endswith(".parquet")]
            for name in sorted(shards or found):
                yield from _read(name, io.BytesIO(b"" if shards else source.read(name)), path / name, log, called)
            if not found:
                yield from _pictures(source.names, path.name, log)
    except ArchiveRefused as refused:
        log.archive(refused)
        raise Unreadable from refused


def is_several(path: Path) -> bool:
    return path.is_dir() or path.name.lower().endswith(ARCHIVES)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Yield the file or folder itself; for an archive with parquet files, a folder of these, because they are read from
    disk. Raises ArchiveRefused."""
    if path.is_dir() or not is_several(path):
        yield path
        return
    with open_archive(path) as source, tempfile.TemporaryDirectory() as folder:
        shards = [name for name in source.names if name.endswith(".parquet")]
        for name, data in source.stream(shards):
            (Path(folder) / name.replace("/", "-")).write_bytes(data)
        yield Path(folder) if shards else path


def _pictures(names: Sequence[str], file: str, log: ProblemLog) -> Rows:
    """Yield a row for each image of a folder without a table; the containing folder is its label."""
    found = [name for name in names if name.lower().endswith(PICTURES)]
    if not found:
        log.error("NO_ROWS", file, None, "", f"It does not contain a table. Add {', '.join(TABLES)} or .parquet.")
    for number, name in enumerate(found, 1):
        yield Origin(name, number), {FILE_NAME: name, LABEL: PurePosixPath(name).parent.name}


def _read(
    name: str, stream: BinaryIO, path: Path, log: ProblemLog, called: ImageNames, at_most: TableLimits | None = None
) -> Rows:
    start = stream.read(BEGINNING)
    stream.seek(0)
    if start.startswith(b"PAR1") or name.endswith(".parquet"):
        return parquet_rows.read(path, log, called)
    if start.startswith(text.OLD_EXCEL):
        log.error("WRONG_TYPE", name, None, "", "This is an old Excel workbook. Save it as .xlsx, or as CSV UTF-8.")
        return iter(())
    if start.startswith(text.ZIP):
        return _workbook(name, stream, log)
    mark, encoding = next(((mark, name) for mark, name in text.BOMS if start.startswith(mark)), (b"", "utf-8"))
    beginning = start[len(mark) :].decode(encoding, "ignore").lstrip()
    if not beginning.startswith(("{", "[")):
        return _table(name, stream, beginning, log, at_most)
    return (_json_lines if _is_lines(beginning, name) else _json)(name, stream, log, at_most)


def _numbered(rows: Iterable[tuple[int, Row]], file: str, log: ProblemLog, at_most: TableLimits | None = None) -> Rows:
    """Yield the rows whose text can all be stored. Raises Unreadable at TOO_MANY_ROWS."""
    count = 0
    for number, row in rows:
        count += 1
        refuse_too_many(count, file, number, log, at_most)
        if jsontext.storable_throughout(row, file, number, "", log):
            yield Origin(file, number), row
    if not count and not log.count:
        log.error("NO_ROWS", file, None, "", "The file has no rows. Export it again.")


# Tables of text


def _table(name: str, stream: BinaryIO, beginning: str, log: ProblemLog, at_most: TableLimits | None = None) -> Rows:
    separator = separator_of(beginning)
    kind = Kind(partial(quoted, delimiter=separator), separator, "put cells with that character in quotes.")
    if separator == "\t" and not _quotes(stream, name):
        kind = TABS
    rows = kind.cells(text.lines(stream, name, log, **sizes(at_most)), name, log)
    first = next(rows, None)
    if first is None:
        log.error("EMPTY_FILE", name, None, "", "The file has only blank lines. Export it again.")
        return
    header = unique(first[1])
    for column in header:
        text.storable(column, name, first[0], column[:80], log)
    for row in checked_rows(rows, header, name, kind, log, at_most):
        yield Origin(name, row.number), dict(row.values)


def separator_of(beginning: str) -> str:
    """Return the character that splits the first lines into most columns, the same number in each."""
    lines = beginning.splitlines()[:SAMPLE]

    def score(separator: str) -> tuple[bool, int]:
        with suppress(csv.Error):
            widths = [len(row) for row in csv.reader(lines, delimiter=separator)][: max(1, len(lines) - 1)]
            return len(set(widths)) == 1, max(widths, default=0)
        return False, 0

    best = max(SEPARATORS, key=lambda one: (score(one)[1] > 1, *score(one)))
    return best if score(best)[1] > 1 else ","


def _quotes(stream: BinaryIO, name: str) -> bool:
    """Return whether a tab-separated table has quoted cells, as pandas writes them: all rows then match the header."""
    try:
        rows = quoted(text.lines(stream, name, ProblemLog()), name, ProblemLog(), delimiter="\t")
        widths = {len(cells) for _, cells in rows}
    except Unreadable:
        widths = set()
    stream.seek(0)
    return len(widths) == 1


def unique(header: Sequence[str]) -> list[str]:
    """Make column names unique: use a number for an empty one, and for a second one of the same name."""
    found: list[str] = []
    for number, given in enumerate(header, 1):
        name = given.strip()[:LONGEST_NAME] or f"column {number}"
        same = (f"{name} {place}" for place in range(2, len(header) + 2))
        found.append(name if name not in found else next(one for one in same if one not in found))
    return found


def _workbook(name: str, stream: BinaryIO, log: ProblemLog) -> Rows:
    """Yield the first sheet with cells. Formulas give the values saved with them."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if sum(info.file_size for info in archive.infolist()) > limits.MAX_FILE_BYTES:
                most = f"Use at most {limits.MAX_FILE_BYTES:,} bytes per file, unpacked; split it, or save it as CSV."
                log.error("FILE_TOO_LARGE", name, None, "", most)
                return
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        sheets = ([[_cell(value) for value in row] for row in sheet.iter_rows(values_only=True)] for sheet in book)
        rows = next((rows for rows in sheets if any(value != "" for row in rows for value in row)), [])
        if next(sheets, None):
            log.note("FILE_IGNORED", name, None, "", "Only the first sheet with cells is read.")
    except Exception as error:  # whatever a damaged workbook makes the library raise
        advice = f"This Excel workbook cannot be read ({' '.join(str(error).split())[:150]}). Save it as CSV UTF-8."
        log.error("FILE_UNREADABLE", name, None, "", advice)
        return
    numbered = [(number, row) for number, row in enumerate(rows, 1) if any(value != "" for value in row)]
    if not numbered:
        log.error("NO_ROWS", name, None, "", "The workbook has no cells. Save it again.")
        return
    width = max(place for place, value in enumerate(numbered[0][1], 1) if value != "")
    header = unique([str(value) for value in numbered[0][1][:width]])
    yield from _numbered(((number, dict(zip(header, row, strict=False))) for number, row in numbered[1:]), name, log)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float) else str(value)


# JSON


def _is_lines(beginning: str, name: str) -> bool:
    """Return whether a second value follows the first."""
    try:
        _, end = json.JSONDecoder().raw_decode(beginning)
    except (ValueError, RecursionError):
        return name.lower().endswith((".jsonl", ".ndjson"))
    return beginning[end:].lstrip().startswith(("{", "[")) or name.lower().endswith((".jsonl", ".ndjson"))


def _json_lines(name: str, stream: BinaryIO, log: ProblemLog, at_most: TableLimits | None = None) -> Rows:
    lines = enumerate(text.lines(stream, name, log, **sizes(at_most)), 1)
    values = ((number, jsontext.parse(line, name, number, log)) for number, line in lines if line.strip())
    rows = ((number, as_row(value)) for number, value in values if value is not None)
    yield from _numbered(rows, name, log, at_most)


def _json(name: str, stream: BinaryIO, log: ProblemLog, at_most: TableLimits | None = None) -> Rows:
    value = jsontext.parse(text.read_whole(stream, name, log), name, None, log)
    if value is not None:
        yield from _numbered(enumerate(rows_in(value), 1), name, log, at_most)


def rows_in(value: object) -> list[Row]:
    """Return the rows in a JSON value: its list, its only list of rows, its columns, the objects by key, or itself."""
    if isinstance(value, list):
        return [as_row(one) for one in value]
    if not isinstance(value, dict) or not value:
        return []
    inside = list(value.values())
    if all(isinstance(one, dict) for one in inside):
        return [{KEY: key, **row} if KEY not in row else row for key, row in value.items()]
    lists = [one for one in inside if isinstance(one, list) and one]
    if len(lists) == len(inside) > 1 and len({len(one) for one in lists}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    rows = [one for one in lists if all(isinstance(row, dict | list) for row in one)]
    return [as_row(one) for one in rows[0]] if len(rows) == 1 else [value]


def as_row(value: object) -> Row:
    """Return an object unchanged; a list's columns are its positions, from 1."""
    if isinstance(value, dict):
        return value
    return {str(place): one for place, one in enumerate(value if isinstance(value, list) else [value], 1)}


# The columns of rows


def columns(rows: Sequence[Row]) -> list[str]:
    """Return these rows' columns; an object with the same keys in every row is expanded to `outer.inner`."""
    found: list[str] = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row[name] for row in rows if row.get(name) is not None]
        keys = {tuple(value) if isinstance(value, dict) else None for value in values}
        inner = keys.pop() if len(keys) == 1 else None
        found += [f"{name}.{one}" for one in inner] if inner and len(inner) <= FLAT else [name]
    return found


def every_column(rows: Sequence[Row]) -> list[str]:
    """Return the columns of these rows, and the objects that contain some of them."""
    return list(dict.fromkeys((*columns(rows), *(name for row in rows for name in row))))


def first_rows(path: Path, log: ProblemLog, most: int = FIRST) -> list[Row]:
    """Return the first rows of a file or folder; fewer, with the problems in the log, if it cannot be read."""
    found: list[Row] = []
    with suppress(Unreadable), opened(path, log) as there:
        found.extend(row for _, row in islice(read(there, log), most))
    return found


def sampled(path: Path, log: ProblemLog) -> list[Row]:
    """Return the first readable rows of a table of answers. Raises Unreadable, with the problems in the log, if there
    are none."""
    sample = first_rows(path, ProblemLog(skip_incomplete=True)) or first_rows(path, log)
    if not sample:
        if not log.count:
            log.error("NO_ROWS", path.name, None, "", "The file has no rows that can be read. Export it again.")
        raise Unreadable
    return sample


@contextmanager
def opened(path: Path, log: ProblemLog) -> Iterator[Path]:
    """Yield a file or folder, unpacked. Raises Unreadable, with the reason in the log."""
    try:
        with unpacked(path) as there:
            yield there
    except ArchiveRefused as refused:
        log.archive(refused)
        raise Unreadable from refused
