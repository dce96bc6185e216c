"""Tar files with an item's images and its text one after the other: for reading in a stream. Pure.

`00000017.image.jpg`, `00000017.negative_image.png`, `00000017.json`: the item's place among all that were kept, which
has no dot; then the column of an image, or the item's line as in JSON Lines.
"""

import io
import json
import tarfile
from pathlib import Path

from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout, Shards
from annotation.releases.formats.jsonl import row_as_json

FOLDER = "webdataset"


class Shard:
    def __init__(self, path: Path):
        self.file = tarfile.TarFile(path, "w", format=tarfile.USTAR_FORMAT)

    def add(self, row: Row) -> None:
        key = f"{row.place:08}"
        for column, image in row.images():
            ending = image["path"].rpartition(".")[2]
            self.put(f"{key}.{column}.{ending}", image["bytes"])
        self.put(f"{key}.json", json.dumps(row_as_json(row), ensure_ascii=False, allow_nan=False).encode())

    def put(self, name: str, content: bytes) -> None:
        """As a file of nobody, of no time."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(content), 0, 0o644
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        self.file.addfile(entry, io.BytesIO(content))
        self.file.members.clear()  # type: ignore[attr-defined]  # else it remembers every file

    def close(self) -> None:
        self.file.close()


class Writer:
    def __init__(self, layout: Layout):
        self.folder = layout.folder / FOLDER
        self.folder.mkdir()
        self.shards = Shards(layout, lambda split, number: Shard(self.folder / _name(split, number)))

    def add(self, row: Row) -> None:
        self.shards.add(row)

    def close(self) -> dict[str, int]:
        return {
            f"{FOLDER}/{_name(split, number)}": count
            for split, rows in self.shards.close().items()
            for number, count in enumerate(rows)
        }


def _name(split: str, number: int) -> str:
    return f"{split}-{number:06}.tar"


FORM = Form(
    name="webdataset",
    title="WebDataset",
    what="Tar files for streaming: each item's images followed by its text.",
    writer=Writer,
)
