"""Images as files beside a list of items: for browsing, and for `load_dataset("imagefolder")`. Pure.

That loader makes an image column `<name>` of each column `<name>_file_name`.
"""

from typing import Any

from annotation.exports.files import LinesFile
from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout

FOLDER = "imagefolder"
IMAGES = "images"
LIST = "metadata.jsonl"


class Writer:
    """Writes each distinct image once per split, named by its hash."""

    def __init__(self, layout: Layout):
        self.folder = layout.folder / FOLDER
        self.pictures = {name for name, part in layout.columns.items() if part.startswith("image:")}
        for split in layout.splits:
            (self.folder / split / IMAGES).mkdir(parents=True)
        self.lists = {split: LinesFile(self.folder / split / LIST) for split in layout.splits}

    def add(self, row: Row) -> None:
        for _, image in row.images():
            self.put(row.split, image["path"], image["bytes"])
        self.lists[row.split].add(dict(self.cell(name, value) for name, value in row.cells.items()))

    def put(self, split: str, name: str, data: bytes) -> None:
        path = self.folder / split / IMAGES / name
        if not path.exists():
            path.write_bytes(data)

    def cell(self, column: str, value: Any) -> tuple[str, object]:
        if column not in self.pictures:
            return column, value
        return f"{column}_file_name", value and f"{IMAGES}/{value['path']}"

    def close(self) -> dict[str, int]:
        for file in self.lists.values():
            file.close()
        return {f"{FOLDER}/{split}/{LIST}": file.count for split, file in self.lists.items()}


FORM = Form(
    name="imagefolder",
    title="Image folder",
    what="The images as files, with a list of the items: for browsing and for the datasets library.",
    writer=Writer,
)
