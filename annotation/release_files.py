"""The files of an export: how each is laid out, and writing them so that the same rows give the same bytes."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 100  # of images, in a row group
BYTES = 32 * 1024 * 1024  # of images, after which a row group is closed early
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
SPLIT = [
    ("image", IMAGE),
    ("caption", pa.string()),
    ("negative_caption", pa.string()),
    ("negative_image", IMAGE),
    ("type", pa.string()),
    ("subtype", pa.string()),
    ("id", pa.string()),
]
JUDGMENTS = pa.schema(
    [
        ("item", pa.string()),
        ("position", pa.int64()),  # the item's place in the benchmark
        ("question", pa.string()),
        ("type", pa.string()),
        ("subtype", pa.string()),
        ("annotator", pa.string()),
        ("slot", pa.int32()),
        ("screen", pa.int32()),  # an annotator who lost a screen may have met the item on a second one
        ("revision", pa.int32()),
        ("answer", pa.string()),  # null where an answer was taken back
        ("place", pa.int32()),  # where the answer stood in `shown`, from 1; null for fixed answers
        ("shown", pa.list_(pa.string())),
        ("created_at", pa.timestamp("us", tz="UTC")),
        ("active_ms", pa.int64()),
        ("elapsed_ms", pa.int64()),
        ("counted", pa.bool_()),
        ("withdrawn", pa.bool_()),
        ("surplus", pa.bool_()),
        ("instructions_version", pa.int32()),
        ("reason", pa.string()),
        ("flags", pa.list_(pa.string())),
    ]
)


def _feature(kind: pa.DataType) -> dict:
    return {"_type": "Image"} if kind == IMAGE else {"dtype": str(kind), "_type": "Value"}


def split_schema() -> pa.Schema:
    """With the features that the `datasets` library reads, so that images arrive decoded."""
    features = {name: _feature(kind) for name, kind in SPLIT}
    return pa.schema(SPLIT, metadata={"huggingface": json.dumps({"info": {"features": features}})})


class ParquetFile:
    """A parquet file that is written a row group at a time, every writer option pinned."""

    def __init__(self, path: Path, schema: pa.Schema, rows: int = ROWS):
        self.schema, self.limit, self.count = schema, rows, 0
        self.waiting: list[dict] = []
        self.weight = 0
        options = {"compression": "zstd", "compression_level": 3, "version": "2.6", "data_page_version": "1.0"}
        self.file = pq.ParquetWriter(path, schema, use_dictionary=False, write_statistics=True, **options)

    def add(self, row: dict, weight: int = 0) -> None:
        self.waiting.append(row)
        self.weight += weight
        self.count += 1
        if len(self.waiting) >= self.limit or self.weight >= BYTES:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            self.file.write_table(pa.Table.from_pylist(self.waiting, schema=self.schema))
        self.waiting, self.weight = [], 0

    def close(self) -> None:
        self.flush()
        self.file.close()


class LinesFile:
    """A JSON object a line."""

    def __init__(self, path: Path):
        self.file, self.count = path.open("w", encoding="utf-8", newline="\n"), 0

    def add(self, row: dict) -> None:
        self.file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        self.count += 1

    def close(self) -> None:
        self.file.close()


def write_lines(path: Path, rows: Iterable[dict]) -> int:
    lines = LinesFile(path)
    for row in rows:
        lines.add(row)
    lines.close()
    return lines.count


def write_json(path: Path, content: dict) -> None:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_judgments(path: Path, rows: Iterable[Sequence]) -> int:
    file = ParquetFile(path, JUDGMENTS, rows=10_000)
    names = JUDGMENTS.names
    for row in rows:
        file.add(dict(zip(names, row, strict=True)))
    file.close()
    return file.count


def digest(path: Path) -> dict:
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def card(name: str, counts: dict, rule: str, data: str) -> str:
    """The dataset card. Its YAML tells `load_dataset(folder)` which of the files is the split.

    `data` is the split's SHA-256: the loader keeps what it read under a hash of this YAML, and would else take another
    export in a folder of the same name for this one.
    """
    reasons = "\n".join(f"- {reason}: {count:,}" for reason, count in counts["reasons"].items()) or "- none"
    return f"""\
---
pretty_name: {json.dumps(name, ensure_ascii=False)}
configs:
- config_name: default
  description: data.parquet has SHA-256 {data}
  data_files:
  - split: test
    path: data.parquet
---
# {name}

A validated split, exported by Winnow: {counts["kept"]:,} items kept of {counts["items"]:,};
{counts["dropped"]:,} dropped, {counts["open"]:,} still open.

Dropped, by reason:

{reasons}

How items were decided: {rule}

| file | what |
|---|---|
| `data.parquet` | the kept items: image, caption, negative_caption, negative_image, type, subtype, id |
| `items.jsonl` | the same items: which option was chosen, by which votes, and the identity of every image |
| `dropped.jsonl` | the dropped items, each with its reason and its votes |
| `judgments.parquet` | every judgment and revision, also those that do not count |
| `annotators.jsonl`, `flags.jsonl` | annotators by number alone; what they reported |
| `figures.json` | every figure of the study page that does not depend on the time of day |
| `manifest.json` | SHA-256, size and rows of each file; the study's settings; the instructions |
"""
