"""docs/reference/columns.md, made from `columns`:

python -m annotation.exports.columns_page > docs/reference/columns.md
"""

from collections.abc import Iterable, Iterator

from annotation.exports.columns import TABLES, Column

_HEAD = """\
# The columns of exports and releases

Look up any column of an export or a release. `data/` has the columns of the benchmark's format
([release-formats.md](release-formats.md)), and [measures.md](measures.md) describes `figures.json`.

Columns marked *(times)*, *(annotators)*, *(comments)* or *(gold)* are null in a release unless that part is public
([verifying.md](verifying.md#what-is-public-and-how-it-is-still-verified)). *Optional*: a row has the key only if it has
a value. *Releases*: exports don't have the column. Keys of an *object* differ from row to row; the columns of *objects*
follow them. A column that several tables have is described once, in the first.

To add a column, add its line to `annotation/exports/columns.py`, its value where rows are written (`rows.py`,
`texts.py` or `items.py` beside it) and, if the API has such rows, to `annotation/api/serializers.py`; then run
`python -m annotation.exports.columns_page > docs/reference/columns.md`. From 0.1.0 on it also needs a [new schema
version](verifying.md#schema-versions).
"""


def page() -> str:
    return "".join([_HEAD, *(f"{line}\n" for line in _lines())])


def _lines() -> Iterator[str]:
    described: dict[Column, str] = {}  # → the file of the first table that has it
    for table in TABLES.values():
        yield f"\n## {table.file}"
        yield f"{table.says}{' Only in releases.' if table.only_released else ''}\n"
        for file in dict.fromkeys(described.values()):
            if again := [f"`{column.name}`" for column in table.columns if described.get(column) == file]:
                yield f"As in `{file}`: {', '.join(again)}.\n"
        yield "| column | kind | what |"
        yield "|---|---|---|"
        yield from _rows(column for column in table.columns if column not in described)
        described |= {column: table.file for column in table.columns if column not in described}


def _rows(columns: Iterable[Column], within: str = "") -> Iterator[str]:
    for column in columns:
        kind = "integer" if column.kind == "long" else column.kind
        marks = {"optional": column.may_be_missing, "null": column.may_be_null, "releases": column.only_released}
        kinds = ", ".join([kind, *(mark for mark, is_so in marks.items() if is_so)])
        part = f" *({column.part})*" if column.part else ""
        yield f"| `{within}{column.name}` | {kinds} | {column.says}{part} |"
        yield from _rows(column.of, f"{within}{column.name}.")


if __name__ == "__main__":
    print(page(), end="")
