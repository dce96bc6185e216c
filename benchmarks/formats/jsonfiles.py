"""JSON files by name: single files, or files in a folder or archive. Pure."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import missing_column, too_many_rows
from benchmarks.records import Origin
from workers.archives.archive import ArchiveRefused, Source, open_archive

Rows = TypeVar("Rows", list[Any], dict[str, Any])
Row = TypeVar("Row")
OBJECT_OF_ROWS = 'one object of rows: {"0": {…}, "1": {…}}'
TEXT = (str, "Write this value as text, in quotes.")


def files(path: Path, wanted: Sequence[str], log: ProblemLog) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the wanted files in a folder or archive, or of the single file at `path`.

    Missing and extra files are noted; NO_ROWS if all are missing.
    """
    if path.suffix.lower() == ".json" and path.is_file():
        yield path.name, content(path)
        return
    try:
        with open_archive(path) as source:
            note_others(source, wanted, path.name, log)
            yield from source.stream(wanted)
    except ArchiveRefused as refused:
        log.archive(refused)
        raise Unreadable from refused


def content(path: Path) -> bytes:
    """Return a single file's content, or enough of it to show that it is too large."""
    with path.open("rb") as stream:
        return stream.read(limits.MAX_JSON_BYTES + 1)


def note_others(source: Source, wanted: Sequence[str], file: str, log: ProblemLog) -> None:
    missing = source.missing(wanted)
    if len(missing) == len(wanted):
        log.error("NO_ROWS", file, None, "", f"None of these files was found: {', '.join(wanted)}.")
        return
    for name in missing:
        log.note("SUBSET_MISSING", file, None, "", f"{name} is missing; the other files are imported.")
    for name in source.unused(wanted):
        log.note("FILE_IGNORED", name, None, "", "Not one of the format's files; ignored.")


def value(data: bytes, file: str, log: ProblemLog) -> object | None:
    """Return the parsed content of a file; None with its problems in the log."""
    try:
        return jsontext.parse(text.read_whole(io.BytesIO(data), file, log), file, None, log)
    except Unreadable:
        return None  # other files may also have problems to list


def rows(data: bytes, kind: type[Rows], shape: str, file: str, log: ProblemLog) -> Rows:
    """Return the rows of a file with one list or object of rows; otherwise none, with its problems in the log."""
    before = log.count
    found = value(data, file, log)
    if isinstance(found, kind):
        if not found:
            log.error("NO_ROWS", file, None, "", "The file has no rows. Get it from its source again.")
        return found
    if log.count == before:
        log.error("JSON_INVALID", file, 1, "", f"The file must contain {shape}.")
    return kind()


def numbered(rows: Iterable[Row], file: str, log: ProblemLog) -> Iterator[tuple[Origin, Row]]:
    """Yield each row and its origin, up to TOO_MANY_ROWS."""
    for number, row in enumerate(rows, 1):
        if number > limits.MAX_ROWS:
            too_many_rows(file, number, log)
        yield Origin(file, number), row


def sound_row(
    row: object, fields: Mapping[str, tuple[type, str]], shape: str, origin: Origin, log: ProblemLog, key: str = ""
) -> bool:
    """Return whether the row is an object whose fields have these types. `fields`: each type, with advice if it is
    wrong; `shape`: the advice if the row is not an object; `key`: the row's key in an enclosing object."""
    if not isinstance(row, dict):
        log.error("JSON_INVALID", origin.file, origin.row, key[:80], shape)
        return False
    before = log.count
    for field, (kind, advice) in fields.items():
        if field not in row:
            others = [other for other in row if other not in fields]
            missing_column(field, others, origin.file, origin.row, log)
        elif not isinstance(row[field], kind):
            log.error("WRONG_VALUE", origin.file, origin.row, field, advice)
    jsontext.storable_throughout({key: row} if key else row, origin.file, origin.row, "", log)
    return log.count == before
