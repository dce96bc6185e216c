"""docs/reference/columns.md, made from `columns`:

python -m annotation.exports.columns_page > docs/reference/columns.md
"""

from collections.abc import Iterable, Iterator

from annotation.exports.columns import TABLES, Column

_HEAD = """\
# The columns of exports and releases

`annotation/exports/columns.py` defines each column, and this page is made from it (`python -m
annotation.exports.columns_page`; a test checks this). `data/` has the columns of the benchmark's format
([release-formats.md](release-formats.md)); `figures.json` is described in [measures.md](measures.md).

Columns marked *(times)*, *(annotators)*, *(comments)* or *(gold)* are null in a release unless that part is public
([verifying.md](verifying.md#what-is-public-and-how-it-is-still-verified)). *Optional*: a row has the key only if there
is something in it. *Releases*: an export does not have it. Objects have other keys from row to row; lists of objects
have the columns listed under theirs.

To add a column, add its line there, and its value where rows are written: the SQL in `annotation/exports/rows.py` or
`texts.py`, or `items.py` for items. Schemas, card, Croissant description, redaction and verification follow; lines
of the API need it in `annotation/api/serializers.py`. After 0.1.0 it needs a new schema version as well
([verifying.md](verifying.md#schema-versions)).
"""


def page() -> str:
    return "".join([_HEAD, *(f"{line}\n" for line in _lines())])


def _lines() -> Iterator[str]:
    for table in TABLES.values():
        yield f"\n## {table.file}"
        yield f"{table.says}{' Only in releases.' if table.only_released else ''}\n"
        yield "| column | kind | what |"
        yield "|---|---|---|"
        yield from _rows(table.columns)


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
