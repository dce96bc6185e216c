"""The record sets of croissant.json: the rows of every table, field by field. Pure.

Lists of objects are fields with sub-fields, read by JSON path. Objects whose names differ from row to row have no
type in Croissant: they are in the files, and the description of their record set names them.
"""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from annotation.exports.files import IMAGE
from annotation.releases.documents.facts import Facts
from annotation.releases.documents.tables import TABLES, Column, Table

LISTS = ("texts", "integers")
SHARDS, DATA, SPLITS = "shards", "data", "splits"
TYPES = {
    "image": "sc:ImageObject", "text": "sc:Text", "texts": "sc:Text", "integer": "sc:Integer",
    "integers": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean", "time": "sc:DateTime",
}  # fmt: skip
PARTS = {
    "image:positive": "The image that the positive caption describes, with its original bytes.",
    "image:negative": "The image that the negative caption describes, with its original bytes.",
    "caption:positive": "A caption that is true of the image.",
    "caption:negative": "A caption that is near to it and not true of the image.",
    "caption:second_positive": "Another caption that is true of the image, in other words.",
    "key": "The item's id.",
    "type": "How the negative differs.",
    "subtype": "In what it differs.",
}


def record_sets(facts: Facts, schema: pa.Schema, tables: Mapping[str, list[Column]]) -> list[dict]:
    """The splits and their rows, then each table."""
    found = [_splits(facts), _data(facts, schema)] if facts.loadable else []
    return found + [_table(TABLES[name], columns) for name, columns in tables.items()]


def _splits(facts: Facts) -> dict:
    named = f"{SPLITS}/name"
    return {
        "@type": "cr:RecordSet",
        "@id": SPLITS,
        "name": SPLITS,
        "dataType": "cr:Split",
        "description": facts.manifest["split_rule"],
        "key": {"@id": named},
        "field": [{"@type": "cr:Field", "@id": named, "name": "name", "dataType": "sc:Text"}],
        "data": [{named: name} for name in facts.loadable],
    }


def _data(facts: Facts, schema: pa.Schema) -> dict:
    parts = facts.manifest["columns"]
    split = _field(f"{DATA}/split", "split", "The split that it is in, by the file's name.", "text")
    pattern = f"^(?:.*data/)?({'|'.join(facts.loadable)})(?:-.*parquet)?$"  # also of what it gave: it is tried twice
    split["source"] = {
        "fileSet": {"@id": SHARDS},
        "extract": {"fileProperty": "fullpath"},
        "transform": {"regex": pattern},
    }
    split["references"] = {"field": {"@id": f"{SPLITS}/name"}}
    key = [name for name, part in parts.items() if part == "key"]
    return {
        "@type": "cr:RecordSet",
        "@id": DATA,
        "name": DATA,
        "description": "The kept items.",
        **({"key": {"@id": f"{DATA}/{key[0]}"}} if key else {}),
        "field": [split, *(_cell(column, parts.get(column.name, "")) for column in schema)],
    }


def _cell(column: pa.Field, part: str) -> dict:
    role = part.partition("caption:")[2]
    says = PARTS.get(part, f"The caption in the role {role}." if role else "As imported.")
    field = _field(f"{DATA}/{column.name}", column.name, says, _type(column.type))
    field["source"] = {"fileSet": {"@id": SHARDS}, "extract": {"column": column.name}}
    if column.type == IMAGE:
        field["source"]["transform"] = {"jsonPath": "bytes"}
    return field


def _type(kind: pa.DataType) -> str:
    if kind == IMAGE:
        return "image"
    kinds = ((pa.types.is_boolean, "boolean"), (pa.types.is_integer, "integer"), (pa.types.is_floating, "number"))
    return next((name for fits, name in kinds if fits(kind)), "text")


def _table(table: Table, columns: Iterable[Column]) -> dict:
    columns = list(columns)
    free = list(_free(columns))
    more = f" The file also has objects whose names differ from row to row: {', '.join(free)}." if free else ""
    key = [{"@id": f"{table.name}/{name}"} for name in table.key if name in {column.name for column in columns}]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"{table.says}{more}",
        **({"key": key if len(key) > 1 else key[0]} if key else {}),
        "field": [_told(table, column) for column in columns if column.kind != "object"],
    }


def _free(columns: Iterable[Column], within: str = "") -> Iterator[str]:
    for column in columns:
        if column.kind == "object":
            yield f"{within}{column.name}"
        yield from _free(column.of, f"{column.name}.")


def _told(table: Table, column: Column) -> dict:
    name = f"{table.name}/{column.name}"
    source = {"fileObject": {"@id": table.file}, "extract": {"column": column.name}}
    if column.kind != "objects":
        return {**_field(name, column.name, column.says, column.kind), "source": source}
    field = {"@type": "cr:Field", "@id": name, "name": column.name, "description": column.says, "repeated": True}
    return {**field, "subField": [_within(name, part, source) for part in column.of if part.kind != "object"]}


def _within(name: str, part: Column, source: Mapping) -> dict:
    field = _field(f"{name}/{part.name}", part.name, part.says, part.kind)
    return {**field, "source": {**source, "transform": {"jsonPath": part.name}}}


def _field(id: str, name: str, says: str, kind: str) -> dict:
    many = {"repeated": True} if kind in LISTS else {}
    return {"@type": "cr:Field", "@id": id, "name": name, "description": says, "dataType": TYPES[kind], **many}
