"""The format of users' own files: rows of any table, made into items by a mapping."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.formats.base import Format, ProblemLog
from benchmarks.formats.own import parquet_rows, rows
from benchmarks.formats.own.guess import guess
from benchmarks.formats.own.mapping import ColumnMapping, items, read_mapping
from benchmarks.formats.parquet_images import Embedded, files
from benchmarks.records import ItemRecord
from workers.archives.archive import Source, open_archive


def proposed(path: Path, log: ProblemLog, files: Sequence[str] = ()) -> tuple[ColumnMapping, list[str], list[rows.Row]]:
    """Propose a mapping for the file; also return its columns and first rows. `files`: its images' names, if known."""
    sample = rows.first_rows(path, log)
    names = rows.columns(sample)
    return guess(names, sample, files), names, sample


def read(path: Path, log: ProblemLog, mapping: str = "") -> Iterator[ItemRecord]:
    """Yield the items of all rows. `mapping`: its JSON; without one, the columns' meanings are guessed."""
    how = read_mapping(mapping) if mapping else proposed(path, ProblemLog())[0]
    with rows.opened(path, log) as there:
        yield from items(rows.read(there, log), how, log)


@contextmanager
def images(path: Path) -> Iterator[Source | None]:
    """Return the images that the files contain: inside parquet files, or beside the table in a folder or archive.
    Raises ArchiveRefused."""
    with rows.unpacked(path) as there:
        if shards := [file for file in files(there) if parquet_rows.is_parquet(file)]:
            yield Embedded(path.name, partial(parquet_rows.images, shards))
        elif rows.is_several(there):
            with open_archive(there) as source:
                yield source
        else:
            yield None


FORMAT = Format(
    name="own",
    title="Your own file",
    accepts=(
        "A table (.csv, .tsv, .xlsx, .json, .jsonl, .parquet), or a folder or archive with one and its images. You "
        "state the meaning of each column."
    ),
    endings=rows.ENDINGS,
    reader=read,
    several=True,
    images=images,
    example="image,caption,foil\n7.jpg,A red cup.,A blue cup.\n",
)
