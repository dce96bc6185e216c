"""A split in several files, each with about so many bytes of images. Pure."""

from collections.abc import Callable
from typing import Protocol

from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Layout


class Shard(Protocol):
    def add(self, row: Row) -> None: ...

    def close(self) -> None: ...


class Shards:
    """Begins a split's next shard when a row's images would take the one at hand past the limit. A shard has a row at
    least; only the one shard of a split without rows has none. `begin(split, number)` opens a shard, from 0."""

    def __init__(self, layout: Layout, begin: Callable[[str, int], Shard]):
        self.limit, self.begin = layout.shard_bytes, begin
        self.rows = {split: [0] for split in layout.splits}  # of each shard
        self.weight = dict.fromkeys(layout.splits, 0)  # of the last one
        self.last = {split: begin(split, 0) for split in layout.splits}

    def add(self, row: Row) -> None:
        split, weight = row.split, sum(len(image["bytes"]) for _, image in row.images())
        if self.rows[split][-1] and self.weight[split] + weight > self.limit:
            self.last[split].close()
            self.last[split] = self.begin(split, len(self.rows[split]))
            self.rows[split].append(0)
            self.weight[split] = 0
        self.last[split].add(row)
        self.rows[split][-1] += 1
        self.weight[split] += weight

    def close(self) -> dict[str, list[int]]:
        """The rows of each split's shards."""
        for shard in self.last.values():
            shard.close()
        return self.rows
