"""The forms of a release, each read a row at a time as {column: value}; an image stands there by its name.

So rows of different forms can be held against each other. Whatever a form says twice, as an image by its bytes and by
its name, is checked here: Wrong where it is not the same.
"""

import csv
import hashlib
import json
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from annotation.releases.verification.place import Place, Wrong, streamed

Row = dict
BATCH = 16  # rows with their images in memory
MEDIA = "images/"
csv.field_size_limit(sys.maxsize)  # a cell is as long as a caption is


def is_image(part: str) -> bool:
    return part.startswith("image:")


def content(name: str) -> str:
    """The hash in an image's name."""
    return name.partition(".")[0]


def parquet(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """(the shard, a row): images are hashed."""
    columns = place.manifest["columns"]
    for name in place.below("data", ".parquet"):
        if name.startswith(f"data/{split}-"):
            with streamed(place.folder / name) as file:
                for batch in file.iter_batches(BATCH, use_threads=False):
                    for row in batch.to_pylist():
                        yield name, {column: _cell(row, column, part) for column, part in columns.items()}


def _cell(row: Mapping, column: str, part: str) -> object:
    """An image whose bytes are not those that its name tells stands there by their hash."""
    value = row[column]
    if not is_image(part) or value is None:
        return value
    found = hashlib.sha256(value["bytes"]).hexdigest()
    return value["path"] if content(value["path"]) == found else f"{found} (named {value['path']})"


def _jsonl(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    for row in place.lines(f"jsonl/{split}.jsonl"):
        yield f"jsonl/{split}.jsonl", named(row)


def named(row: Mapping) -> Row:
    """A line of JSON Lines, its images by their names."""
    return {column: _named(value) if isinstance(value, dict) else value for column, value in row.items()}


def _named(image: Mapping) -> str:
    if content(image["path"]) != image["sha256"]:
        return f"{image['sha256']} (named {image['path']})"
    return image["path"]


def _csv(place: Place, split: str, ending: str = "csv") -> Iterator[tuple[str, Row]]:
    """Cells as they stand; those for spreadsheets have an apostrophe before what may be taken for a formula."""
    name = f"csv/{split}.{ending}"
    with (place.folder / name).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        head = next(rows, None)
        if head is None:
            raise Wrong("it has no header line")
        for row in rows:
            yield name, dict(zip(head, row, strict=True))


def _imagefolder(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """The files were hashed before (place.digests)."""
    name = f"imagefolder/{split}/metadata.jsonl"
    pictures = {column for column, part in place.manifest["columns"].items() if is_image(part)}
    for line in place.lines(name):
        row = {}
        for column, value in line.items():
            image = column.removesuffix("_file_name")
            row[image if image in pictures else column] = _file(place, split, value) if image in pictures else value
        yield name, row


def _file(place: Place, split: str, value: str | None) -> str | None:
    if value is None:
        return None
    path, found = value.removeprefix(MEDIA), place.digests.get(f"imagefolder/{split}/{value}")
    return path if found == content(path) else f"{found or 'no file'} (named {path})"


def _webdataset(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """`__key__` is the place of the item among all, as the entries' names have it."""
    for name in place.below("webdataset", ".tar"):
        if name.startswith(f"webdataset/{split}-"):
            with tarfile.open(place.folder / name, "r|") as archive:
                yield from ((name, row) for row in _samples(archive))


def _samples(archive: tarfile.TarFile) -> Iterator[Row]:
    images: dict[str, str] = {}
    for entry in archive:
        key, _, rest = entry.name.partition(".")
        file = archive.extractfile(entry)
        if file is None:
            raise Wrong(f"{entry.name} is not a file")
        if rest != "json":
            column, _, ending = rest.rpartition(".")
            images[column] = f"{hashlib.sha256(file.read()).hexdigest()}.{ending}"
            continue
        line = json.loads(file.read())
        row = named(line)
        told = {column: row[column] for column, value in line.items() if isinstance(value, dict)}
        if told != images:
            raise Wrong(f"the images before {entry.name} are not the ones that it names")
        yield row | {"__key__": key}
        images = {}
        archive.members.clear()  # type: ignore[attr-defined]  # else it remembers every entry


READERS: Mapping[str, tuple[str, Callable[[Place, str], Iterator[tuple[str, Row]]]]] = {  # in the words of a report
    "jsonl": ("JSON Lines", _jsonl),
    "csv": ("CSV", _csv),
    "spreadsheet": ("CSV for spreadsheets", partial(_csv, ending="spreadsheet.csv")),
    "imagefolder": ("folders of images", _imagefolder),
    "webdataset": ("WebDataset", _webdataset),
}
