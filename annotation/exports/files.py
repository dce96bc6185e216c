"""The files of an export: how each is laid out, and how the same rows give the same bytes."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from annotation.exports.columns import TABLES, Column
from benchmarks.records import VIDEOS

ROWS = 100  # rows with images in a row group
BYTES = 32 * 1024 * 1024  # bytes of images after which a row group is closed early
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "AVIF": "avif", **VIDEOS}

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
PARQUET = {
    "text": pa.string(), "integer": pa.int32(), "long": pa.int64(), "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"), "texts": pa.list_(pa.string()),
}  # fmt: skip


def parquet_schema(found: Iterable[Column]) -> pa.Schema:
    return pa.schema([(column.name, PARQUET[column.kind]) for column in found])


JUDGMENTS = parquet_schema(TABLES["judgments"].exported)

FEATURES = {pa.float64(): "float64"}  # if the `datasets` library's name differs from arrow's


BYTES_AND_PATH = {name: {"dtype": str(IMAGE.field(name).type), "_type": "Value"} for name in ("bytes", "path")}
MEDIA: Mapping[frozenset[bool], dict] = {  # by the kinds of its cells (videos or not)
    frozenset([True]): {"_type": "Video"},
    frozenset([True, False]): BYTES_AND_PATH,  # no feature decodes a mixture
}


def are_videos(names: Iterable[str]) -> frozenset[bool]:
    """Return whether files with these names are videos, images, or both."""
    return frozenset(name.rpartition(".")[2] in VIDEOS.values() for name in names)


def _feature(kind: pa.DataType, media: frozenset[bool]) -> dict:
    if kind == IMAGE:
        return MEDIA.get(media, {"_type": "Image"})
    return {"dtype": FEATURES.get(kind, str(kind)), "_type": "Value"}


def split_schema(
    columns: Sequence[tuple[str, pa.DataType]], media: Mapping[str, frozenset[bool]] = MappingProxyType({})
) -> pa.Schema:
    """Return the schema with the features that the `datasets` library reads, so that images arrive decoded. `media`:
    `are_videos` for columns with files."""
    features = {name: _feature(kind, media.get(name, frozenset())) for name, kind in columns}
    return pa.schema(columns, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def feature_of(schema: pa.Schema, column: str) -> dict:
    """Return the column's feature in a `split_schema`."""
    return json.loads(schema.metadata[b"huggingface"])["info"]["features"][column]


class ParquetFile:
    """A parquet file written a row group at a time, with every writer option pinned."""

    def __init__(self, path: Path, schema: pa.Schema):
        self.schema, self.count = schema, 0
        self.waiting: list[dict] = []
        self.weight = 0
        # A dictionary would store an image shared by several rows of a group once. For BiVLC's 37,560 cells with
        # images, that saves only 0.9%: all candidates differ, and a group's 100 rows share few positive images.
        options = {"compression": "zstd", "compression_level": 3, "version": "2.6", "data_page_version": "1.0"}
        self.file = pq.ParquetWriter(path, schema, use_dictionary=False, write_statistics=True, **options)

    def add(self, row: dict, weight: int = 0) -> None:
        self.waiting.append(row)
        self.weight += weight
        self.count += 1
        if len(self.waiting) >= ROWS or self.weight >= BYTES:
            self.flush()

    def add_table(self, table: pa.Table) -> None:
        """Write the table as a separate row group."""
        self.file.write_table(table)
        self.count += len(table)

    def flush(self) -> None:
        if self.waiting:
            self.file.write_table(pa.Table.from_pylist(self.waiting, schema=self.schema))
        self.waiting, self.weight = [], 0

    def close(self) -> None:
        self.flush()
        self.file.close()


def as_line(row: Mapping) -> bytes:
    return f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n".encode()


class LinesFile:
    """One JSON object per line."""

    def __init__(self, path: Path):
        self.file, self.count = path.open("wb"), 0

    def add(self, row: Mapping) -> None:
        self.file.write(as_line(row))
        self.count += 1

    def close(self) -> None:
        self.file.close()


def write_lines(path: Path, rows: Iterable[dict]) -> int:
    """Write the rows and return how many there were."""
    file = LinesFile(path)
    for row in rows:
        file.add(row)
    file.close()
    return file.count


def read_lines(path: Path) -> Iterator[dict]:
    """Yield the objects of a file written by `write_lines`."""
    with path.open("rb") as file:
        yield from map(json.loads, file)


def write_judgments(path: Path, parts: Iterable[pa.Table]) -> int:
    """Write the tables in `parts` and return how many rows there were."""
    file = ParquetFile(path, JUDGMENTS)
    for table in parts:
        file.add_table(table)
    file.close()
    return file.count


def write_json(path: Path, content: Mapping) -> None:
    path.write_bytes(as_json(content))


def as_json(content: Mapping) -> bytes:
    """Encode as indented JSON, using msgspec because json, which indents in Python, takes twice as long."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
    return msgspec.json.format(text, indent=2) + b"\n"


def files_below(folder: Path) -> list[str]:
    """Return every file below the folder, by its relative name."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def content_hash(files: Mapping[str, Mapping], without: Collection[str] = ()) -> str:
    """Return the SHA-256 of `sha256sum`'s output for these files ({name: {"sha256"}}), in name order."""
    lines = "".join(f"{file['sha256']}  {name}\n" for name, file in sorted(files.items()) if name not in without)
    return hashlib.sha256(lines.encode()).hexdigest()


def describe_files(folder: Path, rows: Mapping[str, int], known: Collection[str] = ()) -> dict[str, dict]:
    """Return SHA-256, size and rows of each file, by name, except the manifest and the known files."""
    names = [name for name in files_below(folder) if name != "manifest.json" and name not in known]
    return {name: {**digest(folder / name), "rows": rows.get(name)} for name in names}


def digest_of(content: bytes) -> dict:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def digest(path: Path) -> dict:
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
