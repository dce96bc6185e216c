"""The kept items as a table in the columns of the benchmark's format, and in the source's own layout."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from django.db.models import Max

from annotation.exports.files import EXTENSIONS, IMAGE, ParquetFile, split_schema
from annotation.exports.items import ExportedImage, ExportedItem
from annotation.sql import fetch
from benchmarks.exports import source_layout
from benchmarks.formats.base import SPLIT, own_columns
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, Caption, ItemImage, Role
from benchmarks.models.benchmark import original_path
from benchmarks.records import CaptionRecord, ItemRecord, is_own
from benchmarks.storage.files import kept

NEGATIVE = "image:negative"  # of a column

# What kinds of values a field of `meta` has.
VALUES = """
SELECT jsonb_typeof(meta->%(field)s), bool_and(meta->>%(field)s ~ '^-?[0-9]{1,18}$') FROM benchmarks_item
WHERE benchmark_id = %(benchmark)s AND meta->>%(field)s IS NOT NULL GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Column:
    """`part` is what it contains (formats.base.SPLIT); `packed`: as JSON, since its values have no single type."""

    name: str
    part: str
    kind: pa.DataType
    packed: bool = False

    def cell(self, item: ExportedItem) -> object:
        """Its value if it is not an image; null if the item lacks it."""
        kind, _, name = self.part.partition(":")
        if kind == "caption":
            return _caption(item.final_captions, name)
        if kind != "meta":
            return getattr(item, kind)
        value = item.meta.get(name)
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if self.packed and value is not None else value


class DataFile(ParquetFile):
    """`data.parquet`: images are the original bytes (without `embed`: null), the negative one the chosen one."""

    def __init__(self, path: Path, benchmark: Benchmark, embed: bool = True):
        self.columns, self.embed = columns_of(benchmark), embed
        self.pictures = [column.part for column in self.columns if column.kind == IMAGE]
        super().__init__(path, split_schema([(column.name, column.kind) for column in self.columns]))

    def add_item(self, item: ExportedItem) -> None:
        uses = {use.key: use for use in item.images}
        images: dict[str, ExportedImage | None] = {
            f"image:{use.role}": use for use in uses.values() if use.position == 0
        }
        images |= {f"image:{key}": use for key, use in uses.items()}
        images[NEGATIVE] = uses.get(item.negative)
        cells = {part: _image_cell(images.get(part), self.embed) for part in self.pictures}
        row = {c.name: cells[c.part] if c.part in cells else c.cell(item) for c in self.columns}
        self.add(row, sum(len(cell["bytes"] or b"") for cell in cells.values() if cell))


def columns_of(benchmark: Benchmark) -> list[Column]:
    """The columns of its first import's format, plus the negative image if items have received one since.

    If there are roles of the user's own, their captions and images follow, and no column stays for a role that no item
    has.
    """
    found = FORMATS.get(benchmark.source)
    split = dict(found.split if found else SPLIT)
    uses = ItemImage.objects.filter(item__benchmark=benchmark, role__in=[Role.NEGATIVE, Role.CANDIDATE])
    if NEGATIVE not in split.values() and uses.exists():
        split["negative_image"] = NEGATIVE
    most = _members(benchmark)
    if own := {part: count for part, count in most.items() if is_own(part.partition(":")[2])}:
        split = {name: part for name, part in split.items() if _is_used(part, most)}
        split |= own_columns(own, split)
    return [_column(benchmark, *named) for named in split.items()]


def _members(benchmark: Benchmark) -> dict[str, int]:
    """How many captions or images an item has at most in each role: {"image:picture": 4}."""
    found: dict[str, int] = {}
    for kind, parts in (("caption", Caption.objects), ("image", ItemImage.objects)):
        rows = parts.filter(item__benchmark=benchmark).order_by().values_list("role").annotate(Max("position"))
        found |= {f"{kind}:{role}": last + 1 for role, last in rows}
    return found


def _is_used(part: str, most: Mapping[str, int]) -> bool:
    """Whether some item can have that part."""
    named = part.partition("-")[0]
    return (
        not named.startswith(("caption:", "image:"))
        or named in most
        or (named == NEGATIVE and "image:candidate" in most)
    )


def _column(benchmark: Benchmark, name: str, part: str) -> Column:
    """The type of a field of `meta` depends on all of the benchmark's items, not only on the kept ones."""
    kind, _, field = part.partition(":")
    if kind == "image":
        return Column(name, part, IMAGE)
    values = dict(fetch(VALUES, benchmark=benchmark.pk, field=field)) if kind == "meta" else {}
    if set(values) <= {"string"}:
        return Column(name, part, pa.string())
    if set(values) == {"boolean"}:
        return Column(name, part, pa.bool_())
    if set(values) == {"number"}:
        return Column(name, part, pa.int64() if values["number"] else pa.float64())
    return Column(name, part, pa.string(), packed=True)


def _caption(captions: Sequence[CaptionRecord], name: str) -> str | None:
    """`negative` is the first caption of that role, `negative-1` the second."""
    role, _, place = name.partition("-")
    found = [caption.text for caption in captions if caption.role == role]
    return found[int(place or 0)] if len(found) > int(place or 0) else None


def _image_cell(use: ExportedImage | None, embed: bool) -> dict | None:
    """The original bytes, under a name that is their hash."""
    if use is None:
        return None
    name = f"{use.sha256}.{EXTENSIONS[use.format]}"
    return {"bytes": original_bytes(use.sha256) if embed else None, "path": name}


def original_bytes(sha256: str) -> bytes:
    """Of the image as it was imported."""
    return kept.read(original_path(sha256))


def source_format(benchmark: Benchmark) -> str:
    """The format in which its records can be written as in their source; empty if there is none."""
    try:
        return source_layout.format_of(benchmark).name
    except source_layout.CannotWrite:
        return ""


def write_source(benchmark: Benchmark, records: Sequence[ItemRecord], folder: Path) -> str:
    """Write the records in the benchmark's own format below `source/`, or return why that is impossible."""
    try:
        source_layout.put(source_layout.files(benchmark, records), folder / "source")
    except source_layout.CannotWrite as why:
        return str(why)
    return ""
