"""Recognising a rejected file's format: by its beginning and the names of its rows' fields, never by its file name.

Used only for messages: nothing is read in a format other than the chosen one. Pure.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.formats.base import (
    COMMA_TABLE,
    JSON_LINES,
    JSON_LIST,
    JSON_OBJECT,
    PARQUET,
    PICTURES,
    TAB_TABLE,
    Format,
    ProblemLog,
    Shape,
)
from benchmarks.formats.text import BOMS
from workers import parquet
from workers.archives.archive import ArchiveRefused, open_archive

BEGINNING = 2**16  # bytes
FROM_LAYOUT = {"COLUMN_MISSING", "UNKNOWN_FIELD", "SCHEMA"}  # codes for which rows of another format are rejected
OUTER = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\{)')  # start of an object of rows, up to its first row


@dataclass(frozen=True, slots=True)
class Found:
    """`carrier`: as in Shape, or empty; `names`: a row's fields, or the files of a folder or archive."""

    carrier: str
    names: tuple[str, ...]


def replace_by_other_format(path: Path, chosen: Format, formats: Iterable[Format], log: ProblemLog) -> None:
    """If the rejected file at `path` has a format other than the chosen one, log only that.

    The problems so far follow from it, and their advice would mislead.
    """
    with suppress(OSError, ArchiveRefused):
        found = _found(path, chosen, log)
        advice = found and _advice(found, chosen, [one for one in formats if one is not chosen and one.shape], log)
        if advice:
            log.replace_errors("OTHER_FORMAT", path.name, advice)


def recognised(path: Path, formats: Iterable[Format]) -> list[Format]:
    """Return the formats that match this file: with its carrier, and most of its columns among all of theirs."""
    with suppress(OSError, ArchiveRefused):
        if found := _found(path, None, ProblemLog()):
            names = {PurePosixPath(name).name for name in found.names}
            same = [one for one in formats if one.shape and one.shape.carrier == found.carrier]
            fits = [one for one in formats if one.shape and names & {*one.shape.files}]
            return _models(same, found.names) if found.carrier else fits
    return []


def _advice(found: Found, chosen: Format, others: list[Format], log: ProblemLog) -> str:
    """Explain why the chosen format does not fit, and what to do; empty if it fits or nothing is known."""
    if not found.carrier:
        return _advice_for_files(found.names, chosen, others)
    own = _best(chosen.shape, found.names) if chosen.shape else 0
    fits = own if chosen.shape and chosen.shape.carrier == found.carrier else 0
    same = _models([one for one in others if one.shape and one.shape.carrier == found.carrier], found.names)
    codes = {problem.code for problem in log.problems}
    if same and _best(same[0].shape, found.names) > fits and (not fits or FROM_LAYOUT & codes):
        titles = _either([one.title for one in same])
        return f"This looks like {titles}: {found.carrier}{_having(found)}. Choose that format."
    if fits or "WRONG_DELIMITER" in codes:
        return ""
    if own and chosen.shape:
        return f"The rows have the right fields, but the file is {found.carrier}. Write it as {chosen.shape.carrier}."
    model = next(iter(_models(others, found.names)), None)
    if model is None or model.shape is None or (chosen.shape and _resembles(chosen.shape, found)):
        return ""
    return (
        f"The rows look like those of {model.title}{_having(found)}, but the file is {found.carrier}. Write it as "
        f"{model.shape.carrier} and choose that format, or convert the rows to {chosen.title}."
    )


def _resembles(shape: Shape, found: Found) -> bool:
    """Return whether a file of this shape only lacks some fields."""
    return shape.carrier == found.carrier and any({*layout} & {*found.names} for layout in shape.layouts)


def _models(formats: list[Format], names: tuple[str, ...]) -> list[Format]:
    """Return the formats whose largest layout is completely in the names."""
    sizes = [_best(one.shape, names) for one in formats]
    best = max(sizes, default=0)
    return [one for one, size in zip(formats, sizes, strict=True) if size == best and best]


def _advice_for_files(names: tuple[str, ...], chosen: Format, others: list[Format]) -> str:
    if all(name.lower().endswith(PICTURES) for name in names):
        return "This has only images. Give it as the images, and a file with captions as the data."
    files = {PurePosixPath(name).name for name in names}
    if chosen.shape and files & {*chosen.shape.files}:
        return ""
    known = [one for one in others if one.shape and files & {*one.shape.files}]
    if not known or known[0].shape is None:
        return ""
    there = next(name for name in known[0].shape.files if name in files)
    return f"This looks like {_either([one.title for one in known])}: it has {there}. Choose that format."


def _best(shape: Shape | None, names: Iterable[str]) -> int:
    """Return the number of fields in the largest layout that these names contain completely."""
    there = {*names}
    return max((len(layout) for layout in shape.layouts if there >= {*layout}), default=0) if shape else 0


def _having(found: Found) -> str:
    return f" with {', '.join(found.names[:6])}{' …' if len(found.names) > 6 else ''}"[:300]


def _either(titles: list[str]) -> str:
    return " or ".join(f"“{title}”" for title in titles[:3])


def _found(path: Path, chosen: Format | None, log: ProblemLog) -> Found | None:
    if path.is_dir() or path.name.lower().endswith((".zip", ".tar", ".tgz", ".tar.gz")):
        with open_archive(path) as source:
            return Found("", tuple(source.names)) if source.names else None
    with path.open("rb") as stream:
        data = stream.read(BEGINNING)
    if data.startswith(b"PAR1"):
        return _found_parquet(path, chosen, log)
    mark, encoding = next(((mark, name) for mark, name in BOMS if data.startswith(mark)), (b"", "utf-8"))
    text = data[len(mark) :].decode(encoding, "replace").lstrip()
    return _found_json(text) if text.startswith(("{", "[")) else _found_table(text)


def _found_parquet(path: Path, chosen: Format | None, log: ProblemLog) -> Found | None:
    """Return the columns, if the file was safe to open and rejected only for its columns."""
    if (
        chosen
        and chosen.shape
        and chosen.shape.carrier == PARQUET
        and {problem.code for problem in log.problems} <= FROM_LAYOUT
    ):
        return Found(PARQUET, tuple(parquet.schema(path).names))
    return None


def _found_json(text: str) -> Found | None:
    for carrier, row in _first_rows(text):
        if isinstance(row, dict) and row:
            return Found(carrier, tuple(row))
    return None


def _first_rows(text: str) -> Iterator[tuple[str, object]]:
    """Yield what the first row would be, for each way to write rows."""
    if text.startswith("["):
        yield JSON_LIST, _value(text[1:].lstrip())
    elif outer := OUTER.match(text):
        yield JSON_OBJECT, _value(text[outer.end() :])
    else:
        yield JSON_LINES, _value(text)


def _value(text: str) -> object:
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text)[0]
    return None


def _found_table(text: str) -> Found | None:
    first = text.splitlines()[0] if text else ""
    if "\t" in first:
        return Found(TAB_TABLE, tuple(first.split("\t")))
    with suppress(csv.Error):
        if len(names := next(csv.reader([first]), [])) > 1:
            return Found(COMMA_TABLE, tuple(names))
    return None
