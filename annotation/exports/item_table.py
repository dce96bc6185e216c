"""The kept items as a table in the columns of the benchmark's format, and in the source's own layout."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from annotation.exports import item_parts
from annotation.exports.files import EXTENSIONS, IMAGE, ParquetFile, are_videos, split_schema
from annotation.protocols.schema import ProtocolFile
from annotation.sql import fetch
from benchmarks.exports import source_layout
from benchmarks.formats.base import SPLIT
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, ItemImage
from benchmarks.models.benchmark import original_path
from benchmarks.records import VIDEOS, ItemRecord
from benchmarks.storage.files import kept

Lines = Callable[[], Iterable[Mapping[str, Any]]]  # the kept items' lines of items.jsonl, from the start

# The kinds of values that a `meta` field can have.
VALUES = """
SELECT jsonb_typeof(meta->%(field)s), bool_and(meta->>%(field)s ~ '^-?[0-9]{1,18}$') FROM benchmarks_item
WHERE benchmark_id = %(benchmark)s AND meta->>%(field)s IS NOT NULL GROUP BY 1
"""
AT_ONCE = 4  # rows whose images are read at once, since a bucket takes longer to answer than to send
OF_LINE = {"key": "id"}  # a part's name in a line of items.jsonl, if it differs


@dataclass(frozen=True, slots=True)
class Column:
    """`part` is what it contains (formats.base.SPLIT, item_parts); `packed`: stored as JSON, since its values have
    different types.
    """

    name: str
    part: str
    kind: pa.DataType
    packed: bool = False

    def cell(self, line: Mapping[str, Any], parts: Mapping[str, list]) -> object:
        """Return its value, an image as in the line; null if the item lacks it."""
        if self.part.startswith((*item_parts.KINDS, item_parts.VOTES)):
            return item_parts.part_of(parts, self.part)
        kind, _, name = self.part.partition(":")
        if kind != "meta":
            return line[OF_LINE.get(kind, kind)]
        value = line["meta"].get(name)
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if self.packed and value is not None else value


def write_data(
    path: Path,
    benchmark: Benchmark,
    lines: Lines,
    files: Mapping[str, ProtocolFile],
    embed: bool = True,
    step: Callable[[int], None] = lambda done: None,
) -> tuple[list[Column], int]:
    """Write `data.parquet`: images are the original bytes (without `embed`: null), and the negative image is the chosen
    one. `files` are the stages' protocol files, by name; `step(done)` counts rows. Return the columns and the number of
    rows.
    """
    columns = columns_of(benchmark, lines())
    media = _media(columns, lines()) if _has_videos(benchmark) else {}
    file = ParquetFile(path, split_schema([(column.name, column.kind) for column in columns], media))

    def row_of(line: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        parts, weight = item_parts.parts_of(line), 0
        parts[item_parts.VOTES] = [item_parts.votes_of(line, files)]
        row = {column.name: column.cell(line, parts) for column in columns}
        for column in columns:
            if column.kind == IMAGE:
                row[column.name] = image = _image_cell(row[column.name], embed)
                weight += len(image["bytes"] or b"") if image else 0
        return row, weight

    for done, row in enumerate(_made_ahead(row_of, lines()), 1):
        file.add(*row)
        step(done)
    file.close()
    return columns, file.count


def _made_ahead(
    make: Callable[[Mapping[str, Any]], tuple[dict[str, Any], int]], lines: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the result of `make` for each line, in order, making AT_ONCE of them at a time."""
    waiting: deque[Future[tuple[dict[str, Any], int]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in lines:
            if len(waiting) == AT_ONCE:
                yield waiting.popleft().result()
            waiting.append(pool.submit(make, line))
        while waiting:
            yield waiting.popleft().result()


def _has_videos(benchmark: Benchmark) -> bool:
    return ItemImage.objects.filter(item__benchmark=benchmark, image__format__in=VIDEOS).exists()


def _media(columns: Sequence[Column], lines: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[bool]]:
    """Return, for each column that may have files, whether they are images, videos or both."""
    found = {column.name: frozenset[bool]() for column in columns if column.kind == IMAGE}
    for line in lines:
        parts = item_parts.parts_of(line)
        for column in columns:
            if column.name in found and (image := item_parts.part_of(parts, column.part)):
                found[column.name] |= are_videos([_name(image)])
    return found


def columns_of(benchmark: Benchmark, lines: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Return the columns of the format of its first import, and columns for whatever else these items have."""
    found = FORMATS.get(benchmark.source)
    split = item_parts.columns_of(found.split if found else SPLIT, lines)
    return [_column(benchmark, *named) for named in split.items()]


def _column(benchmark: Benchmark, name: str, part: str) -> Column:
    """Return the column. A `meta` field's type depends on all of the benchmark's items, kept or not."""
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


def _image_cell(image: Any, embed: bool) -> dict | None:
    """Return the original bytes, under a name that is their hash."""
    if image is None:
        return None
    return {"bytes": original_bytes(image["sha256"]) if embed else None, "path": _name(image)}


def _name(image: Mapping[str, Any]) -> str:
    return f"{image['sha256']}.{EXTENSIONS[image['format']]}"


def original_bytes(sha256: str) -> bytes:
    """Return the image's bytes as they were imported."""
    return kept.read(original_path(sha256))


def source_format(benchmark: Benchmark) -> str:
    """Return the format for writing its records as in their source; empty if there is none."""
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
