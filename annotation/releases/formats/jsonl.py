"""JSON Lines without the images: one item per line, each image by its name and hash. Pure."""

from annotation.exports.files import LinesFile
from annotation.releases.export_reader import Row, sha256
from annotation.releases.formats.base import Form, Layout

FOLDER = "jsonl"


class Writer:
    def __init__(self, layout: Layout):
        (layout.folder / FOLDER).mkdir()
        self.files = {split: LinesFile(layout.folder / FOLDER / f"{split}.jsonl") for split in layout.splits}

    def add(self, row: Row) -> None:
        self.files[row.split].add(row_as_json(row))

    def close(self) -> dict[str, int]:
        for file in self.files.values():
            file.close()
        return {f"{FOLDER}/{split}.jsonl": file.count for split, file in self.files.items()}


def row_as_json(row: Row) -> dict[str, object]:
    """Return the row's columns, an image as {"path", "sha256", "width", "height"}; null if the item lacks something."""
    sizes = {image["sha256"]: (image["width"], image["height"]) for image in row.line["images"]}
    cells = dict(row.cells)
    for column, image in row.images():
        width, height = sizes[content := sha256(image)]
        cells[column] = {"path": image["path"], "sha256": content, "width": width, "height": height}
    return cells


FORM = Form(
    name="jsonl",
    title="JSON Lines",
    what="One item per line, without the images, which are named by hash.",
    writer=Writer,
)
