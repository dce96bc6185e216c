"""CSV as Winnow writes it: RFC 4180 with LF, exact for programs, or safe to open in a spreadsheet. Pure.

Text is in quotes; numbers, true and false are not; null is an empty field, and `""` an empty text. A safe table has an
apostrophe before whatever a spreadsheet may run as a formula: every table that people download is safe. What a program
reads again is exact: a release's `csv/<split>.csv`, rows that `construct` passes on, and the files of a source.
"""

import re
from collections.abc import Iterable

SIGNS = "=+@−＝＋－＠﹢﹣﹦﹫⁺⁻⁼₊₋₌-"  # what a formula begins with, plain, wide, small and raised
UNSEEN = r"(?:(?![\t\r\n])[\s\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*"
# Where a program may take semicolons for commas, and quotes for text, a cell of its own begins after each of these.
FORMULA = re.compile(rf"(^|[;\t\r\n])(?={UNSEEN}[{SIGNS}])")
BREAKS = ("\t", "\r", "\n")  # some programs pass over them


def harmless(text: str) -> str:
    """With an apostrophe before whatever a spreadsheet may run as a formula."""
    safe = FORMULA.sub(r"\1'", text)
    return f"'{safe}" if safe.startswith(BREAKS) else safe


def row(cells: Iterable[object], safe: bool = True, separator: str = ",") -> str:
    """A row with its line end."""
    return separator.join(_cell(cell, safe) for cell in cells) + "\n"


def table(rows: Iterable[Iterable[object]], safe: bool = True) -> str:
    """The header row is one of the rows."""
    return "".join(row(cells, safe) for cells in rows)


def _cell(value: object, safe: bool) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value).lower()  # True is true, 1E-07 is 1e-07
    text = harmless(value) if safe else value
    return '"' + text.replace('"', '""') + '"'
