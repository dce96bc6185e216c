"""Tables of text without the images, twice: as they are for programs, and safe to open in a spreadsheet. Pure.

Exact: RFC 4180 with LF; text stands in quotes, numbers, true and false do not, and nothing at all is null. So `""` is a
text without letters. In a spreadsheet a text that begins like a formula gets an apostrophe before it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Form, Layout

FOLDER = "csv"
EXACT, SAFE = ".csv", ".spreadsheet.csv"
SIGNS = "=+@−＝＋－＠﹢﹣﹦﹫⁺⁻⁼₊₋₌-"  # what a formula begins with, plain, wide, small and raised
UNSEEN = r"(?:(?![\t\r\n])[\s\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*"
# Where a program may take semicolons for commas, and quotes for text, a cell of its own begins after each of these.
FORMULA = re.compile(rf"(^|[;\t\r\n])(?={UNSEEN}[{SIGNS}])")
BREAKS = ("\t", "\r", "\n")  # some programs pass over them


class Table:
    def __init__(self, path: Path, columns: Iterable[str], safe: bool):
        self.safe = safe
        self.file = path.open("w", encoding="utf-8-sig" if safe else "utf-8", newline="")
        self.add(columns)

    def add(self, cells: Iterable[object]) -> None:
        self.file.write(",".join(map(self.cell, cells)) + "\n")

    def cell(self, value: object) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            return str(value).lower()  # True is true, 1E-07 is 1e-07
        text = harmless(value) if self.safe else value
        return '"' + text.replace('"', '""') + '"'


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


def harmless(text: str) -> str:
    """With an apostrophe before whatever a spreadsheet may run as a formula."""
    safe = FORMULA.sub(r"\1'", text)
    return f"'{safe}" if safe.startswith(BREAKS) else safe


FORM = Form(
    name="csv",
    title="CSV",
    what="Tables without the images: one copy exact, one safe to open in a spreadsheet.",
    writer=Writer,
)
