"""The form of a release (a way to write the same kept items as files), and splits in several files. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from annotation.releases.export_reader import Row


@dataclass(frozen=True, slots=True)
class Layout:
    """The information that a form may need before the first row."""

    folder: Path  # of the release; each form writes below its own folder
    schema: pa.Schema  # of the split
    columns: Mapping[str, str]  # ExportReader.columns
    splits: tuple[str, ...]  # in order
    shard_bytes: int
    source_format: str  # the benchmark's format, if its files can be written; else ""


class Writer(Protocol):
    def add(self, row: Row) -> None: ...

    def close(self) -> dict[str, int]:
        """Finish the files; return the rows of each by its name in the release."""


@dataclass(frozen=True, slots=True)
class Form:
    name: str
    title: str
    what: str  # a sentence that helps to choose
    writer: Callable[[Layout], Writer] | None  # None: releases.scoring writes it, from the other files


# A split in several files, each with images of about the same total size


class Shard(Protocol):
    def add(self, row: Row) -> None: ...

    def close(self) -> None: ...


class Shards:
    """Begins a split's next shard when a row's images would take the current one past the limit. A shard has at least
    one row; only the single shard of an empty split is empty. `begin(split, number)` opens a shard, from 0."""

    def __init__(self, layout: Layout, begin: Callable[[str, int], Shard]):
        self.limit, self.begin = layout.shard_bytes, begin
        self.rows = {split: [0] for split in layout.splits}  # per shard
        self.weight = dict.fromkeys(layout.splits, 0)  # bytes in the last shard
        self.last = {split: begin(split, 0) for split in layout.splits}

    def add(self, row: Row) -> None:
        split, weight = row.split, row.weight
        if self.rows[split][-1] and self.weight[split] + weight > self.limit:
            self.last[split].close()
            self.last[split] = self.begin(split, len(self.rows[split]))
            self.rows[split].append(0)
            self.weight[split] = 0
        self.last[split].add(row)
        self.rows[split][-1] += 1
        self.weight[split] += weight

    def close(self) -> dict[str, list[int]]:
        """Return the rows of each split's shards."""
        for shard in self.last.values():
            shard.close()
        return self.rows
