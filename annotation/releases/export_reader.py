"""An export as it lies in its folder, read a row at a time: all that a release is made of. Pure.

`items.jsonl` and `data.parquet` have the kept items in the same order, so their lines are read side by side.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

BATCH = 16  # rows with their images in memory
BUFFER = 2**20  # bytes that are read at once, instead of whole columns


@dataclass(frozen=True, slots=True)
class Row:
    """A kept item. `cells` has the columns of data.parquet, an image as {"bytes", "path"} or None, `path` being
    `<sha256>.<ending>`; `line` is its line of items.jsonl."""

    place: int  # among the kept items, from 0
    split: str
    cells: Mapping[str, object]
    line: Mapping[str, object]

    @property
    def key(self) -> str:
        return self.line["id"]

    def images(self) -> Iterator[tuple[str, dict]]:
        """(column, {"bytes", "path"}) of each image that the item has."""
        for column, value in self.cells.items():
            if isinstance(value, dict):
                yield column, value


@dataclass(frozen=True, slots=True)
class ExportReader:
    """`folder` is what exports.export.export_split wrote; `original(sha256)` gives the bytes of images that it only
    names."""

    folder: Path
    original: Callable[[str], bytes] | None = None

    @property
    def manifest(self) -> dict:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def figures(self) -> dict:
        return json.loads((self.folder / "figures.json").read_text(encoding="utf-8"))

    @property
    def schema(self) -> pa.Schema:
        """Of the split: its columns, with the features that the `datasets` library reads."""
        return pq.read_schema(self.folder / "data.parquet")

    @property
    def columns(self) -> dict[str, str]:
        """Column of the split → the part that stands in it (benchmarks.formats.base.SPLIT)."""
        return self.manifest["columns"]

    def items(self) -> Iterator[dict]:
        """The kept items, a line each."""
        return self.lines("items.jsonl")

    def lines(self, name: str) -> Iterator[dict]:
        """Of a .jsonl file."""
        with (self.folder / name).open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def rows(self, splits: Mapping[str, str]) -> Iterator[Row]:
        """The kept items in order, each with its split by its id."""
        with streamed(self.folder / "data.parquet") as file:
            batches = file.iter_batches(BATCH, use_threads=False)
            cells = (row for batch in batches for row in batch.to_pylist())
            for place, (line, found) in enumerate(zip(self.items(), cells, strict=True)):
                row = Row(place, splits[line["id"]], found, line)
                for _, image in row.images():
                    if image["bytes"] is None:
                        image["bytes"] = self.original(sha256(image))
                yield row


def streamed(path: Path | BinaryIO) -> pq.ParquetFile:
    """To be read in batches: without this pyarrow would keep whole columns of what it has read until the end."""
    return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)


def sha256(image: Mapping[str, object]) -> str:
    """Of an embedded image, by its name."""
    return PurePosixPath(image["path"]).stem


def hashes(line: Mapping) -> set[str]:
    """The content of every image that the item has, shown or not."""
    return {image["sha256"] for image in line["images"]}


def record(line: Mapping) -> ItemRecord:
    """The item of a line of items.jsonl or dropped.jsonl, with the words that stand in the end."""
    return ItemRecord(
        key=line["id"],
        type=line["type"],
        subtype=line["subtype"],
        captions=tuple(CaptionRecord(caption["role"], caption["text"]) for caption in line["captions"]),
        images=tuple(_image(image) for image in line["images"]),
        meta=line["meta"],
    )


def _image(image: Mapping) -> ImageRecord:
    crop = tuple(image["crop"]) if "crop" in image else None
    role = image["key"].rpartition("-")[0]
    return ImageRecord(role, image["source_name"], image["licence"], image["attribution"], image["round"], crop)
