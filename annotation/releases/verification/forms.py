"""Read each form of a release a row at a time as {column: value}, with images by name.

So rows of different forms can be compared. Whatever a form has twice, such as an image's bytes and its name, is checked
here: Wrong if they differ.
"""

import csv
import hashlib
import re
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from annotation.releases.formats import shard_files
from annotation.releases.verification.place import Place, Wrong, as_object, streamed
from workers import images, videos

Row = dict
BATCH = 16  # rows with their images in memory
MEDIA = "images/"
KEY = re.compile("[0-9]{8,}")  # key of a WebDataset sample
csv.field_size_limit(sys.maxsize)  # a cell can be as long as a caption


def is_image(part: str) -> bool:
    return part.startswith("image:")


def content(name: str) -> str:
    """Return the hash in an image's name."""
    return name.partition(".")[0]


def parquet(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """Yield (the shard, a row): images are hashed, and each distinct one is decoded once."""
    columns = place.manifest["columns"]
    for name in place.below("data", ".parquet"):
        if name.startswith(f"data/{split}-"):
            with streamed(place.folder / name) as file:
                for batch in file.iter_batches(BATCH, use_threads=False):
                    for row in batch.to_pylist():
                        yield name, {column: _cell(place, row, column, part) for column, part in columns.items()}


def _cell(place: Place, row: Mapping, column: str, part: str) -> object:
    """Return the cell; an image whose bytes don't match its name is given by their hash."""
    value = row[column]
    if not is_image(part) or value is None:
        return value
    found = hashlib.sha256(value["bytes"]).hexdigest()
    if found not in place.decoded:
        place.decoded[found] = _decode(value["bytes"])
    return value["path"] if content(value["path"]) == found else f"{found} (named {value['path']})"


def _decode(data: bytes) -> tuple[str, int, int] | None:
    """Return format, width and height, upright; None unless it is a whole image or video that imports accept."""
    try:
        if videos.is_video(data):
            video = videos.checked(data)
            return video.format, *video.poster.size
        found = images.decoded(data)
    except images.ImageRefused:
        return None
    return found.format, *found.size


def _jsonl(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    for row in place.lines(f"jsonl/{split}.jsonl"):
        yield f"jsonl/{split}.jsonl", named(row)


def named(row: Mapping) -> Row:
    """Return a line of JSON Lines with its images by name."""
    return {column: _named(value) if isinstance(value, dict) else value for column, value in row.items()}


def _named(image: Mapping) -> str:
    if content(image["path"]) != image["sha256"]:
        return f"{image['sha256']} (named {image['path']})"
    return image["path"]


def _csv(place: Place, split: str, ending: str = "csv") -> Iterator[tuple[str, Row]]:
    """Yield the cells unchanged; those for spreadsheets have an apostrophe before what looks like a formula."""
    name = f"csv/{split}.{ending}"
    with (place.folder / name).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        head = next(rows, None)
        if head is None:
            raise Wrong("it has no header line")
        for row in rows:
            yield name, dict(zip(head, row, strict=True))


def _imagefolder(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows; the files were hashed before (place.digests)."""
    used: set[str | None] = set()
    name = f"imagefolder/{split}/metadata.jsonl"
    pictures = {column for column, part in place.manifest["columns"].items() if is_image(part)}
    for line in place.lines(name):
        row = {}
        for column, value in line.items():
            image = column.removesuffix("_file_name")
            row[image if image in pictures else column] = _file(place, split, value) if image in pictures else value
            used |= {value} if image in pictures else set()
        yield name, row
    folder = f"imagefolder/{split}/"
    unlisted = [one for one in place.below(folder.rstrip("/")) if one != name and one.removeprefix(folder) not in used]
    if unlisted:
        raise Wrong(f"{unlisted[0].removeprefix(folder)} is not in the list")


def _file(place: Place, split: str, value: str | None) -> str | None:
    if value is None:
        return None
    path, found = value.removeprefix(MEDIA), place.digests.get(f"imagefolder/{split}/{value}")
    return path if found == content(path) else f"{found or 'no file'} (named {path})"


def _webdataset(place: Place, split: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows; `__key__` is the item's place among all, as in the entries' names."""
    names = place.below(f"{shard_files.FOLDER}/{split}", ".tar")
    for name, content in shard_files.lists({split: len(names)}).items():
        if (place.folder / name).read_bytes() != content:
            raise Wrong(f"{name} is not {content.decode().strip()}")
    for name in sorted(names, key=lambda name: (len(name), name)):
        with tarfile.open(place.folder / name, "r|") as archive:
            yield from ((name, row) for row in _samples(archive, place.manifest["columns"]))
            end = archive.offset
        _check_end(place.folder / name, end)


def _check_end(path: Path, end: int) -> None:
    """Check that the last entry is followed by two blocks of zeros, padded to a whole record: 2 to 21 blocks."""
    whole = -(-(end + 2 * tarfile.BLOCKSIZE) // tarfile.RECORDSIZE) * tarfile.RECORDSIZE
    with path.open("rb") as file:
        file.seek(end)
        rest = file.read(whole - end + 1)
        if len(rest) > whole - end or rest.strip(b"\0"):
            raise Wrong("it has more data after its last entry")


def _samples(archive: tarfile.TarFile, columns: Mapping[str, str]) -> Iterator[Row]:
    found: dict[str, str] = {}  # after the key → an image by its name, or the text
    sample = ""
    for entry in archive:
        key, _, rest = entry.name.partition(".")
        file = archive.extractfile(entry)
        if file is None or not entry.isreg():
            raise Wrong(f"{entry.name} is not a file")
        if not KEY.fullmatch(key) or sample not in ("", key):
            raise Wrong(f"{entry.name} does not belong to the sample {sample or 'that follows'}")
        if rest in found:
            raise Wrong(f"{entry.name} is there twice")
        sample, data = key, file.read()
        if rest != "json":
            ending = rest.rpartition(".")[2]
            found[rest] = data.decode() if rest == "txt" else f"{hashlib.sha256(data).hexdigest()}.{ending}"
            continue
        line = as_object(data)
        row = named(line)
        images = [column for column, value in line.items() if isinstance(value, dict)]
        told = {shard_files.image_entry(columns, column, row[column]): row[column] for column in images}
        if said := shard_files.caption_of(columns, row):
            told["txt"] = said
        if told != found:
            raise Wrong(f"the images and the caption before {entry.name} are not the ones that it names")
        yield row | {"__key__": key}
        found, sample = {}, ""
        archive.members.clear()  # type: ignore[attr-defined]  # else it keeps a record of every entry
    if found:
        raise Wrong(f"the images of {sample} have no text")


READERS: Mapping[str, tuple[str, Callable[[Place, str], Iterator[tuple[str, Row]]]]] = {  # by its name in a report
    "jsonl": ("JSON Lines", _jsonl),
    "csv": ("CSV", _csv),
    "spreadsheet": ("CSV for spreadsheets", partial(_csv, ending="spreadsheet.csv")),
    "imagefolder": ("folders of images", _imagefolder),
    "webdataset": ("WebDataset", _webdataset),
}
