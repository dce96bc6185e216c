"""Parquet with embedded images: BiVLC as released, and `data.parquet` in Winnow's own exports.

Columns are those of a released split (Format.split). An image is a struct of `bytes` and `path`, as the `datasets`
library embeds it; everything else is text. Nothing is converted: numbers do not become ids.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import pyarrow as pa

from benchmarks.formats import aro, hard_positives, jsontext, limits, sugarcrepe, sugarcrepe_compare, text, visla
from benchmarks.formats.base import PARQUET as CARRIER
from benchmarks.formats.base import SPLIT, Format, ProblemLog, Shape, further_part
from benchmarks.formats.parquet_images import Embedded, ImageNames, cell, embedded, files, refuse_large
from benchmarks.formats.parquet_schema import TEXT, check_schema, expected
from benchmarks.formats.table import too_many_rows
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin
from workers import parquet

PACKED = {"meta:origins"}  # parts stored in their column as JSON
LACKS = "These cells are null."
ABSENT = "Rows from here on lack this image; their items have none."


@dataclass(frozen=True, slots=True)
class Layout:
    """`prefix` starts the generated ids of rows in a file without an id column."""

    prefix: str
    split: Mapping[str, str]  # with optional columns in addition to the format's
    optional: frozenset[str]

    def parts(self, names: Iterable[str]) -> dict[str, str]:
        """Map columns to parts: the format's, and a split's columns for further texts and images."""
        return {**self.split, **{name: part for name in names if (part := further_part(name, self.split))}}

    def image_columns(self, path: Path) -> list[str]:
        parts = self.parts(parquet.schema(files(path)[0]).names)
        return [name for name, part in parts.items() if part.startswith("image:")]

    def read(self, path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
        """Yield the rows of a file, or of a folder's shards in the order of their names."""
        found = files(path)
        if not found:
            log.error("NO_ROWS", path.name, None, "", "There is no .parquet file in this folder.")
        sound = [file for file in found if is_safe(file, log) and self.fits(file, log)]
        rows = Rows(self, log)
        for file in sound:
            yield from rows.read(file)
        if sound and not rows.count:
            log.error("NO_ROWS", path.name, None, "", "The file has columns but no rows. Export it again.")

    def fits(self, file: Path, log: ProblemLog) -> bool:
        schema = parquet.schema(file)
        parts = self.parts(schema.names)
        return check_schema(schema, parts, self.optional | {*parts} - {*self.split}, file.name, log)


def is_safe(file: Path, log: ProblemLog) -> bool:
    """Return whether the whole file can be read in bounded memory; if not, log why."""
    try:
        parquet.refuse_unsafe(file, limits.MAX_ROWS)
    except parquet.ParquetRefused as refused:
        log.error(refused.code, file.name, None, "", refused.advice)
        return False
    return True


class Rows:
    """Reads the rows of all files of an import."""

    def __init__(self, layout: Layout, log: ProblemLog):
        self.layout, self.log = layout, log
        self.called = ImageNames()
        self.count = 0
        self.absent: set[str] = set()  # columns in which some row has no image

    def read(self, file: Path) -> Iterator[ItemRecord]:
        number = 0
        for batch in parquet.batches(file, parquet.schema(file).names):
            for place in range(batch.num_rows):
                number += 1
                self.count += 1
                if self.count > limits.MAX_ROWS:
                    too_many_rows(file.name, number, self.log)
                yield from self.record(batch, place, Origin(file.name, number))

    def record(self, batch: pa.RecordBatch, place: int, origin: Origin) -> Iterator[ItemRecord]:
        """Yield the item of a row; nothing if the row has a problem, which is logged."""
        before = self.log.count
        if null := [name for name in self.required(batch) if not batch.column(name)[place].is_valid]:
            self.log.gap("INCOMPLETE_ROW", origin.file, origin.row, ", ".join(null), LACKS)
            return
        parts = [self.part(batch, name, place, origin) for name in batch.schema.names]
        if self.log.count > before:
            return
        texts = {of: cast(str, value) for of, value in parts if of in ("key", "type", "subtype")}
        yield ItemRecord(
            key=texts.get("key", f"{self.layout.prefix}-{self.count - 1}"),
            type=texts.get("type", ""),
            subtype=texts.get("subtype", ""),
            captions=tuple(value for _, value in parts if isinstance(value, CaptionRecord)),
            images=tuple(value for _, value in parts if isinstance(value, ImageRecord)),
            meta={of[5:]: value for of, value in parts if of.startswith("meta:") and value is not None},
            origin=origin,
        )

    def required(self, batch: pa.RecordBatch) -> list[str]:
        """Return the columns that must not have null cells: all but images, further texts and further information."""
        parts = ((name, self.layout.split.get(name, "meta:")) for name in batch.schema.names)
        return [name for name, part in parts if not part.startswith(("meta:", "image:"))]

    def part(self, batch: pa.RecordBatch, name: str, place: int, origin: Origin) -> tuple[str, object]:
        """Return which part of an item the cell has, and its value."""
        part = self.layout.split.get(name) or further_part(name, self.layout.split) or f"meta:{name}"
        of, _, role = part.partition(":")
        role = role.partition("-")[0]
        if of == "image":
            return part, self.image(batch, name, place, role, origin)
        value = self.plain(batch.column(name)[place], name, origin)
        if part in PACKED and isinstance(value, str):
            value = jsontext.parse(value, f"{origin.file}, {name}", origin.row, self.log)
        if of == "meta":
            return part, value
        return part, CaptionRecord(role, cast(str, value)) if of == "caption" and value is not None else value

    def image(self, batch: pa.RecordBatch, name: str, place: int, role: str, origin: Origin) -> ImageRecord | None:
        data, path = cell(batch, name, place)
        if data is None and not path:
            if name not in self.absent:
                self.log.note("IMAGE_ABSENT", origin.file, origin.row, name, ABSENT)
            self.absent.add(name)
            return None
        refuse_large(data, name, origin, self.log)
        return ImageRecord(role, self.called.name(self.decoded(path, name, origin), data))

    def plain(self, value: pa.Scalar, name: str, origin: Origin) -> object:
        """Return storable text, a finite number, true or false; None if the cell is null."""
        if not value.is_valid:
            return None
        if value.type in TEXT:
            return self.decoded(value.as_buffer().to_pybytes(), name, origin)
        number = value.as_py()
        if not math.isfinite(number):
            self.log.error("WRONG_VALUE", origin.file, origin.row, name, "Write a finite number, or null.")
        return number

    def decoded(self, data: bytes, name: str, origin: Origin) -> str:
        """Check text, because Arrow does not check that it is UTF-8."""
        try:
            decoded = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            advice = f"Byte {error.start} of this text is not UTF-8. Write the text as UTF-8."
            self.log.error("ENCODING", origin.file, origin.row, name, advice)
            return ""
        text.storable(decoded, origin.file, origin.row, name, self.log)
        return decoded


def format_of(name: str, title: str, split: Mapping[str, str]) -> Format:
    """Make a format with optional ids and, for splits without that column, optional negative images."""
    negative = {"negative_image": SPLIT["negative_image"]}
    optional = {"id", *negative} - ({*split} & {*negative})
    layout = Layout(name, {**split, **negative}, frozenset(optional))
    columns = ", ".join(one for one in split if one != "id")
    return Format(
        name=f"{name}-parquet",
        title=title,
        accepts=f"A .parquet file, or its shards, with {columns}. It contains its images; do not add any others.",
        endings=(".parquet",),
        reader=layout.read,
        several=True,
        split=split,
        images=lambda path: Embedded(path.name, partial(embedded, files(path), layout.image_columns(path))),
        keeps_same=name in ("visla", "hard-positives"),
        shape=Shape(CARRIER, ([name for name in split if name not in optional],)),
        example="".join(f"{name}: {expected(part)}\n" for name, part in split.items() if name not in optional),
    )


WRITTEN: tuple[Format, ...] = tuple(
    module.FORMAT for module in (sugarcrepe, sugarcrepe_compare, visla, hard_positives, aro)
)
OWN = "parquet of a Winnow export"
OF_EXPORTS = tuple(
    format_of(one.name, f"{one.title.partition(':')[0].partition(' (')[0]} ({OWN})", one.split) for one in WRITTEN
)
FORMATS = (format_of("bivlc", "BiVLC as released (parquet)", SPLIT), *OF_EXPORTS)
