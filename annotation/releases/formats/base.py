"""What a form of a release is: a way to lay the same kept items out as files. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from annotation.releases.export_reader import Row


@dataclass(frozen=True, slots=True)
class Layout:
    """What a form may need to know before the first row."""

    folder: Path  # of the release; each form writes below a folder of its own
    schema: pa.Schema  # of the split
    columns: Mapping[str, str]  # Exported.columns
    splits: tuple[str, ...]  # in order
    shard_bytes: int
    source_format: str  # the benchmark's format, if its files can be written; else ""


class Writer(Protocol):
    def add(self, row: Row) -> None: ...

    def close(self) -> dict[str, int]:
        """Finish the files; the rows of each by its name in the release."""


@dataclass(frozen=True, slots=True)
class Form:
    name: str
    title: str
    what: str  # for people who choose, in a sentence
    writer: Callable[[Layout], Writer]
