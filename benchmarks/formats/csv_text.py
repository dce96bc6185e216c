"""CSV output: RFC 4180 with LF, exact for programs, or safe to open in a spreadsheet. Pure.

Text is in quotes; numbers, true and false are not; null is an empty field, and `""` an empty text. A safe table has an
apostrophe before anything a spreadsheet may run as a formula: every table that people download is safe. Tables for
programs are exact: a release's `csv/<split>.csv`, rows passed on by `construct`, and a source's files.
"""

import re
from collections.abc import Iterable

SIGNS = "=+@−＝＋－＠﹢﹣﹦﹫⁺⁻⁼₊₋₌-"  # start of a formula: plain, full-width, small and superscript signs
UNSEEN = r"(?:(?![\t\r\n])[\s\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*"
# Some spreadsheets split at semicolons and ignore quotes, so a formula could start after any of these.
FORMULA = re.compile(rf"(^|[;\t\r\n])(?={UNSEEN}[{SIGNS}])")
BREAKS = ("\t", "\r", "\n")  # some programs skip them


def harmless(text: str) -> str:
    """Put an apostrophe before anything a spreadsheet may run as a formula."""
    safe = FORMULA.sub(r"\1'", text)
    return f"'{safe}" if safe.startswith(BREAKS) else safe


def row(cells: Iterable[object], safe: bool = True, separator: str = ",") -> str:
    """Return a row with its line end."""
    return separator.join(_cell(cell, safe) for cell in cells) + "\n"


def table(rows: Iterable[Iterable[object]], safe: bool = True) -> str:
    """Return a table; the header row is one of the rows."""
    return "".join(row(cells, safe) for cells in rows)


def _cell(value: object, safe: bool) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value).lower()  # true for True, 1e-07 for 1E-07
    text = harmless(value) if safe else value
    return '"' + text.replace('"', '""') + '"'
