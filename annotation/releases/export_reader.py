"""Read an export from its folder a row at a time: everything a release is made from. Pure.

`items.jsonl` and `data.parquet` have the kept items in the same order, so their lines are read side by side.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from annotation.releases.archive_reader import MANIFEST, Files
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

BATCH = 16  # rows with their images in memory
DATA, ITEMS = "data.parquet", "items.jsonl"


@dataclass(frozen=True, slots=True)
class Row:
    """A kept item. `cells` has the columns of data.parquet, an image as None or {"bytes", "path"} (`path` is
    `<sha256>.<ending>`); `line` is its line of items.jsonl."""

    place: int  # among the kept items, from 0
    split: str
    cells: Mapping[str, Any]
    line: Mapping[str, Any]

    @property
    def key(self) -> str:
        return self.line["id"]

    @property
    def weight(self) -> int:
        """Return the number of bytes of its images."""
        return sum(len(image["bytes"]) for _, image in self.images())

    def images(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (column, {"bytes", "path"}) for each image of the item."""
        for column, value in self.cells.items():
            if isinstance(value, dict):
                yield column, value


class ExportReader(Files):
    """The output of exports.export.export_split; `original(sha256)` gives the bytes of images that it only names."""

    def __init__(self, folder: Path, original: Callable[[str], bytes] | None = None):
        super().__init__(folder)
        self._original = original

    @cached_property
    def manifest(self) -> dict:
        return self.json(MANIFEST)

    @property
    def columns(self) -> dict[str, str]:
        """Return the split's columns with their parts (benchmarks.formats.base.SPLIT)."""
        return self.manifest["columns"]

    def rows(self, splits: Mapping[str, str]) -> Iterator[Row]:
        """Yield the kept items in order, each with its split by id."""
        cells = (row for batch in self.batches(DATA, BATCH) for row in batch.to_pylist())
        for place, (line, found) in enumerate(zip(self.lines(ITEMS), cells, strict=True)):
            row = Row(place, splits[line["id"]], found, line)
            for _, image in row.images():
                if image["bytes"] is None and self._original:
                    image["bytes"] = self._original(sha256(image))
            yield row


def sha256(image: Mapping[str, Any]) -> str:
    """Return the hash of an embedded image, from its name."""
    name: str = image["path"]
    return name.partition(".")[0]


def hashes(line: Mapping) -> set[str]:
    """Return the hashes of all the item's images, shown or not."""
    return {image["sha256"] for image in line["images"]}


def exclusions(judgments: Iterable[pa.RecordBatch], annotators: Iterable[Mapping]) -> list[dict]:
    """Return who was excluded and why, and how many rows of judgments.parquet are theirs. `judgments` has one column,
    the annotator's pseudonym; `annotators` are lines of annotators.jsonl.
    """
    given: Counter[str] = Counter()
    for batch in judgments:
        given.update(batch.column(0).to_pylist())
    return [
        {"annotator": line["annotator"], "reason": line["exclusion_reason"], "judgments": given[line["annotator"]]}
        for line in annotators
        if line["excluded"]
    ]


def record(line: Mapping) -> ItemRecord:
    """Return the item in a line of one of the files of items, with its final texts."""
    return ItemRecord(
        key=line["id"],
        type=line["type"],
        subtype=line["subtype"],
        captions=tuple(
            CaptionRecord(caption["role"], caption["text"], caption.get("attributes", {}))
            for caption in line["captions"]
        ),
        images=tuple(_image(image) for image in line["images"]),
        meta=line["meta"],
    )


def record_of_open(task: Mapping) -> ItemRecord:
    """Return the item in a line of tasks.jsonl with `of_item`."""
    return record({"id": task["item"], "type": task["type"], "subtype": task["subtype"], **task["of_item"]})


def _image(image: Mapping) -> ImageRecord:
    crop = tuple(image["crop"]) if "crop" in image else None
    role = image["key"].rpartition("-")[0]
    said = image["source_name"], image["licence"], image["attribution"], image["round"], crop
    return ImageRecord(role, *said, attributes=image.get("attributes", {}), format=image.get("format", ""))
