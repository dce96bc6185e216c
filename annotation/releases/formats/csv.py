"""Tables of text without the images, twice: exact for programs, and safe to open in a spreadsheet. Pure."""

from collections.abc import Iterable
from pathlib import Path

from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout
from benchmarks.formats import csv_text

FOLDER = "csv"
EXACT, SAFE = ".csv", ".spreadsheet.csv"


class Table:
    def __init__(self, path: Path, columns: Iterable[str], safe: bool):
        self.safe = safe
        self.file = path.open("w", encoding="utf-8-sig" if safe else "utf-8", newline="")
        self.add(columns)

    def add(self, cells: Iterable[object]) -> None:
        self.file.write(csv_text.row(cells, self.safe))


class Writer:
    def __init__(self, layout: Layout):
        folder = layout.folder / FOLDER
        folder.mkdir()
        self.tables = {
            split: [Table(folder / f"{split}{ending}", layout.schema.names, ending == SAFE) for ending in (EXACT, SAFE)]
            for split in layout.splits
        }
        self.rows = dict.fromkeys(layout.splits, 0)

    def add(self, row: Row) -> None:
        named = {column: image["path"] for column, image in row.images()}
        cells = {**row.cells, **named}
        for table in self.tables[row.split]:
            table.add(cells.values())
        self.rows[row.split] += 1

    def close(self) -> dict[str, int]:
        for tables in self.tables.values():
            for table in tables:
                table.file.close()
        return {f"{FOLDER}/{split}{ending}": rows for split, rows in self.rows.items() for ending in (EXACT, SAFE)}


FORM = Form(
    name="csv",
    title="CSV",
    what="Tables without the images: one copy exact, one safe to open in a spreadsheet.",
    writer=Writer,
)
