"""Parquet with the images inside: the `datasets` library opens it directly, with typed columns. Pure."""

from pathlib import Path

import pyarrow as pa

from annotation.exports.files import BYTES, ParquetFile
from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout, Shards

FOLDER = "data"


class Shard:
    """Buffers at most `heavy` bytes of images."""

    def __init__(self, path: Path, schema: pa.Schema, heavy: int):
        self.file, self.heavy = ParquetFile(path, schema), heavy

    def add(self, row: Row) -> None:
        self.file.add(dict(row.cells), row.weight)
        if self.file.weight >= self.heavy:
            self.file.flush()

    def close(self) -> None:
        self.file.close()


class Writer:
    """Names the shards at the end, since each name has their number."""

    def __init__(self, layout: Layout):
        self.folder, self.schema = layout.folder / FOLDER, layout.schema
        self.heavy = BYTES // len(layout.splits)  # all splits' shards are open at once
        self.folder.mkdir()
        self.shards = Shards(layout, self.begin)

    def begin(self, split: str, number: int) -> Shard:
        return Shard(self.part(split, number), self.schema, self.heavy)

    def part(self, split: str, number: int) -> Path:
        return self.folder / f"{split}-{number:05}.part"

    def add(self, row: Row) -> None:
        self.shards.add(row)

    def close(self) -> dict[str, int]:
        written = {}
        for split, rows in self.shards.close().items():
            for number, count in enumerate(rows):
                name = f"{split}-{number:05}-of-{len(rows):05}.parquet"
                self.part(split, number).rename(self.folder / name)
                written[f"{FOLDER}/{name}"] = count
        return written


FORM = Form(
    name="parquet",
    title="Parquet",
    what="Tables with typed columns that include the images; the datasets library loads them directly.",
    writer=Writer,
)
