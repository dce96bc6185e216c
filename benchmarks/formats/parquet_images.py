"""Images inside parquet files: their names, and all of them as a source of files. Pure."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from benchmarks.formats.base import ProblemLog
from benchmarks.records import Origin
from workers import parquet
from workers.archives.names import normal
from workers.archives.source import EntryNames, Source
from workers.limits import MAX_ENTRY_BYTES


class ImageNames:
    """The name of each embedded image: its path, or its SHA-256 if it has none or shares it with other bytes. The
    `datasets` library keeps only the last part of a path, so two images may have the same one."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}  # path → the content first seen with it

    def name(self, path: str, data: bytes | None) -> str:
        if data is None:
            return path
        content = hashlib.sha256(data).hexdigest()
        same = path and self.first.setdefault(normal(path), content) == content
        return path if same else f"{content}/{path}".rstrip("/")


def files(path: Path) -> list[Path]:
    """Return the file, or a folder's shards by name."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def cell(batch: pa.RecordBatch, name: str, place: int) -> tuple[bytes | None, bytes]:
    """Return an image's bytes, None if there are none, and its path, not decoded."""
    value = batch.column(name)[place]
    if not value.is_valid:
        return None, b""
    path = value["path"]
    return value["bytes"].as_py(), path.as_buffer().to_pybytes() if path.is_valid else b""


def refuse_large(data: bytes | None, column: str, origin: Origin, log: ProblemLog) -> None:
    if len(data or b"") > MAX_ENTRY_BYTES:
        advice = f"Use images of at most {MAX_ENTRY_BYTES:,} bytes."
        log.error("FILE_TOO_LARGE", origin.file, origin.row, column, advice)


def embedded(found: Sequence[Path], columns: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every image in these columns, in the order in which the record reader meets them."""
    called = ImageNames()
    for file in found:
        for batch in parquet.batches(file, columns):
            here = [name for name in columns if name in batch.schema.names]
            for place in range(batch.num_rows):
                cells = (cell(batch, name, place) for name in here)
                yield from ((called.name(path.decode(), data), data) for data, path in cells if data is not None)


class Embedded(Source):
    """The images of files that were read without a problem, so their paths are plain relative names in UTF-8.
    `contents` reads them again: (name, content) of each."""

    def __init__(self, title: str, contents: Callable[[], Iterator[tuple[str, bytes]]]):
        self._all = contents
        listed = EntryNames()
        for name, _ in contents():
            listed.stored.setdefault(normal(name), name)
        super().__init__(title, listed)
        self._top = ""  # names stand only for themselves

    def _contents(self, asked: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
        left = set(asked)
        for name, data in self._all():
            if (known := normal(name)) in left:
                left.remove(known)
                yield known, data
