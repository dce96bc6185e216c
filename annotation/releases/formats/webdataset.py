"""Tar files for streaming, with each item's images and texts one after the other. Pure.

`00000017.jpg`, `00000017.negative_image.png`, `00000017.txt`, `00000017.json`: the item's place among all kept
items (without a dot); then the positive image and the column of each other one, the positive caption on one line, and
the item's line as in JSON Lines. open_clip trains on such tars, img2dataset writes them, and clip_benchmark,
which reads `nshards.txt` and `dataset_type.txt` beside them, retrieves images by captions.
"""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout, Shards
from annotation.releases.formats.jsonl import row_as_json
from annotation.releases.formats.shard_files import FOLDER, caption_of, image_entry, lists, shard_name


class Shard:
    def __init__(self, path: Path, columns: Mapping[str, str]):
        self.file = tarfile.TarFile(path, "w", format=tarfile.USTAR_FORMAT)
        self.columns = columns

    def add(self, row: Row) -> None:
        key = f"{row.place:08}"
        for column, image in row.images():
            self.put(f"{key}.{image_entry(self.columns, column, image['path'])}", image["bytes"])
        if said := caption_of(self.columns, row.cells):
            self.put(f"{key}.txt", said.encode())
        self.put(f"{key}.json", json.dumps(row_as_json(row), ensure_ascii=False, allow_nan=False).encode())

    def put(self, name: str, content: bytes) -> None:
        """Add a file without owner and time."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(content), 0, 0o644
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        self.file.addfile(entry, io.BytesIO(content))
        self.file.members.clear()  # type: ignore[attr-defined]  # else it keeps a record of every file

    def close(self) -> None:
        self.file.close()


class Writer:
    def __init__(self, layout: Layout):
        self.folder = layout.folder
        for split in layout.splits:
            (self.folder / FOLDER / split).mkdir(parents=True)
        self.shards = Shards(
            layout, lambda split, number: Shard(self.folder / shard_name(split, number), layout.columns)
        )

    def add(self, row: Row) -> None:
        self.shards.add(row)

    def close(self) -> dict[str, int]:
        found = self.shards.close()
        for name, content in lists({split: len(rows) for split, rows in found.items()}).items():
            (self.folder / name).write_bytes(content)
        return {shard_name(split, number): count for split, rows in found.items() for number, count in enumerate(rows)}


FORM = Form(
    name="webdataset",
    title="WebDataset",
    what="Tar files for streaming, as OpenCLIP and CLIP benchmark read them: each item's images, then its texts.",
    writer=Writer,
)
