"""The shards of a release and the images in them. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from benchmarks.formats.base import FURTHER_COLUMN, SPLIT, ProblemLog
from benchmarks.formats.parquet import FORMATS, is_safe
from benchmarks.formats.parquet_images import Embedded, cell, embedded, refuse_large
from benchmarks.formats.parquet_schema import check_schema
from benchmarks.records import Origin
from workers import parquet

DATA = "data"  # the folder of the shards; without it, single files are shards
SHARD = re.compile(r"(?P<split>.{1,200})-(?P<number>\d{5})-of-(?P<of>\d{5})\.parquet")
NAME = re.compile(rb"(?P<sha256>[0-9a-f]{64})\.[a-z0-9]{3,4}")  # of an image
OPTIONAL = {"id", "negative_image"}
IMAGES = [name for name, part in SPLIT.items() if part.startswith("image:")]
KNOWN = {*SPLIT, *(name for one in FORMATS for name in one.split)}


@dataclass
class ShardContents:
    """A shard folder's contents. `sound` is False if the log has a problem with them."""

    names: dict[str, str] = field(default_factory=dict)  # SHA-256 of an image → its name
    rows: Counter[str] = field(default_factory=Counter)  # of each split
    sound: bool = True


def shards(folder: Path) -> list[Path]:
    """Return the shards by name, which is the order of their rows; other files are ignored."""
    place = folder / DATA if (folder / DATA).is_dir() else folder
    return sorted(path for path in place.glob("*.parquet") if SHARD.fullmatch(path.name))


def read_shards(folder: Path, log: ProblemLog) -> ShardContents:
    """Read all shards once: each image must have the SHA-256 in its name."""
    before, found, shard_contents = log.count, shards(folder), ShardContents()
    if not found:
        advice = "There is no shard of the release, such as test-00000-of-00001.parquet. Give those of its data folder."
        log.error("FILE_UNREADABLE", folder.name, None, "", advice)
    if not (folder / DATA).is_dir():  # beside a data folder, the release has other files of its own
        for path in sorted({*folder.glob("*.parquet")} - {*found}):
            log.note("FILE_IGNORED", path.name, None, "", "Not a shard of the release; ignored.")
    _check_all_there([path.name for path in found], log)
    for path in found:
        if is_safe(path, log) and _fits(path, log):
            _read_shard(path, shard_contents, log)
    shard_contents.sound = log.count == before
    return shard_contents


def _check_all_there(names: Sequence[str], log: ProblemLog) -> None:
    """Check that all shards are present: a shard's name gives the number of its split's shards."""
    for split, of in sorted({(match["split"], match["of"]) for name in names if (match := SHARD.fullmatch(name))}):
        numbers = {f"{split}-{number:05}-of-{of}.parquet" for number in range(int(of))}
        for name in sorted(numbers - {*names})[:100]:
            log.error("FILE_UNREADABLE", name, None, "", "This shard is missing. Give all files of the data folder.")


def _fits(path: Path, log: ProblemLog) -> bool:
    """Return whether it has the columns of the most similar split. Further columns are ignored.

    With further columns, such as those for user-defined roles, it does not need any others.
    """
    names = parquet.schema(path).names
    split = max((SPLIT, *(one.split for one in FORMATS)), key=lambda split: len({*split} & {*names}))
    images = dict.fromkeys(_image_columns(path), "image:")
    further = any(map(_is_further, names))
    fitting = check_schema(parquet.schema(path), {**split, **images}, {*split} if further else OPTIONAL, path.name, log)
    log.drop_notes("EXTRA_COLUMN")
    return fitting


def _read_shard(path: Path, shard_contents: ShardContents, log: ProblemLog) -> None:
    columns = _image_columns(path)
    shard, row = SHARD.fullmatch(path.name), 0
    for batch in parquet.batches(path, columns):
        for place in range(batch.num_rows):
            row += 1
            for column in columns:
                _read_image(batch, column, place, Origin(path.name, row), shard_contents, log)
    shard_contents.rows[shard["split"] if shard else ""] += row


def _read_image(
    batch: pa.RecordBatch, column: str, place: int, origin: Origin, shard_contents: ShardContents, log: ProblemLog
) -> None:
    data, path = cell(batch, column, place)
    if data is None:
        return
    refuse_large(data, column, origin, log)
    content, named = sha256(data).hexdigest(), NAME.fullmatch(path)
    if named and named["sha256"].decode() == content:
        shard_contents.names.setdefault(content, path.decode())
    else:
        advice = "The image does not have the SHA-256 in its name. Copy the file from its source again."
        log.error("IMAGE_CORRUPT", origin.file, origin.row, column, advice)


def _is_further(column: str) -> bool:
    """Return whether it has a text or an image for which the formats have no column."""
    return column not in KNOWN and FURTHER_COLUMN.fullmatch(column) is not None


def _image_columns(path: Path) -> list[str]:
    """Return the columns with images, including further ones."""
    schema = parquet.schema(path)
    further = (name for name in schema.names if _is_further(name) and pa.types.is_struct(schema.field(name).type))
    return [*(name for name in IMAGES if name in schema.names), *further]


def columns(folder: Path) -> set[str]:
    """Return the columns without further ones and votes. Only for shards without problems."""
    found = (name for name in parquet.schema(shards(folder)[0]).names if not _is_further(name))
    return {name for name in found if name.rstrip("_") != "votes"}


def images(folder: Path) -> Embedded:
    """Return the embedded images. Only for shards without problems."""
    found = shards(folder)
    return Embedded(folder.name, partial(embedded, found, _image_columns(found[0])))
