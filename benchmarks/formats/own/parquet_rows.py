"""Rows of parquet files with any columns; embedded images become names."""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.formats import jsontext
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.parquet import is_safe
from benchmarks.formats.parquet_images import ImageNames
from benchmarks.records import Origin
from workers import parquet

IMAGE = {"bytes", "path"}  # fields of an image embedded by the `datasets` library


class ImageName(str):
    """The name of an image that the file contains."""


def is_parquet(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def read(path: Path, log: ProblemLog, called: ImageNames) -> Iterator[tuple[Origin, dict[str, Any]]]:
    """`called` gives the images their names, those of all files of an import. Raises Unreadable."""
    if not is_safe(path, log):
        raise Unreadable
    for number, row in enumerate(_rows(path, log), 1):
        plain = {name: _plain(value, called) for name, value in row.items()}
        if jsontext.storable_throughout(plain, path.name, number, "", log):
            yield Origin(path.name, number), plain


def images(files: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every image, in the order in which `read` meets them."""
    called = ImageNames()
    for file in files:
        for row in _rows(file, ProblemLog()):
            for image in filter(_is_image, _members(row)):
                yield _name(image, called), image if isinstance(image, bytes) else image["bytes"]


def _rows(path: Path, log: ProblemLog) -> Iterator[dict[str, Any]]:
    try:
        for batch in parquet.batches(path, parquet.schema(path).names):
            yield from batch.to_pylist()
    except UnicodeDecodeError as error:
        log.error(*_wrong_text(error.object, path.name))
        raise Unreadable from error


def _wrong_text(text: bytes, file: str) -> tuple[str, str, None, str, str]:
    with suppress(UnicodeDecodeError):
        text.decode("utf-8", "surrogatepass")
        return "BAD_UNICODE", file, None, "", "Some text has half of a surrogate pair. Write the whole character."
    return "ENCODING", file, None, "", "Some text is not UTF-8. Write it as UTF-8."


def _members(row: dict[str, Any]) -> Iterator[Any]:
    for value in row.values():
        yield from value if isinstance(value, list) else [value]


def _is_image(value: object) -> bool:
    return isinstance(value, bytes) or (
        isinstance(value, dict) and value.keys() == IMAGE and value["bytes"] is not None
    )


def _name(image: Any, called: ImageNames) -> ImageName:
    path, content = ("", image) if isinstance(image, bytes) else (image["path"] or "", image["bytes"])
    return ImageName(called.name(path, content))


def _plain(value: Any, called: ImageNames) -> Any:
    if _is_image(value):
        return _name(value, called)
    if isinstance(value, dict):
        return value["path"] if value.keys() == IMAGE else {name: _plain(one, called) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, called) for one in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | None) else str(value)
