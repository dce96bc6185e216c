"""Hand-written SQL, with rows as model instances, for the few reads that run at every click.

Building a query takes the ORM longer than PostgreSQL needs to answer it: docs/design/claiming.md.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar, overload

import numpy as np
import pyarrow as pa
from django.db import connection
from django.db.models import JSONField, Model
from pyarrow import csv

CHUNK_SIZE = 10_000  # rows of a stream held in memory

INT4, INT8, BOOL, TEXT = "int4", "int8", "bool", "text"  # types of copied columns
_SENT = {of: f"string_agg({of}send({{0}}), '')" for of in (INT4, INT8, BOOL)}
_SENT[TEXT] = "string_agg(int4send(octet_length({0})), ''), string_agg({0}, '')"
_DTYPES: dict[str, np.dtype[Any]] = {INT4: np.dtype(">i4"), INT8: np.dtype(">i8"), BOOL: np.dtype("?")}

A = TypeVar("A", bound=Model)
B = TypeVar("B", bound=Model)
C = TypeVar("C", bound=Model)
D = TypeVar("D", bound=Model)


def fetch(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def execute(statement: str, **values: Any) -> None:
    """Execute a statement that doesn't return rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def stream(statement: str, **values: Any) -> Iterator[tuple[Any, ...]]:
    """Yield a large result's rows, never holding all in memory. It must be read to the end."""
    for rows in batches(statement, **values):
        yield from rows


def batches(statement: str, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the same, `CHUNK_SIZE` rows at a time.

    Behind a pooler, a cursor lasts only as long as its transaction; outside a transaction, all rows are read at once.
    """
    lasts = connection.in_atomic_block or not connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]
    with connection.chunked_cursor() if lasts else connection.cursor() as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(CHUNK_SIZE):
            yield rows


def copy_columns(statement: str, types: Mapping[str, str], **values: Any) -> dict[str, Any]:
    """Return a large result by columns, without an object per value: arrays of numbers and booleans; for texts, the
    distinct ones with each row's position among them.

    `types` has INT4, INT8, BOOL or TEXT for each column of the statement; none may be null. The database joins the
    values of batches of rows, numbered by a further column `part`, because single rows take the client much longer.
    """
    joined = f"SELECT {', '.join(_SENT[of].format(name) for name, of in types.items())} FROM ({statement}) found"
    copy = f"COPY ({joined} GROUP BY part) TO STDOUT (FORMAT binary)"
    copied = connection.ops.compose_sql(copy, values)  # type: ignore[attr-defined]  # PostgreSQL has it
    with connection.cursor() as cursor, cursor.copy(copied) as parts:
        parts.set_types(["bytea"] * sum(1 + (of == TEXT) for of in types.values()))
        sent = deque(zip(*parts.rows(), strict=True))

    def column() -> bytes:
        """Return the next column, and forget it."""
        return b"".join(sent.popleft()) if sent else b""

    return {name: _texts(column(), column()) if of == TEXT else _numbers(column(), of) for name, of in types.items()}


def copy_tables(statement: str, schema: pa.Schema, **values: Any) -> Iterator[pa.Table]:
    """Yield a large result's rows in order, `CHUNK_SIZE` at a time, as Arrow tables with `schema`, the statement's
    columns. The connection can't do anything else before the last row is read.
    """
    sent = [f"array_to_json({field.name})" if pa.types.is_list(field.type) else field.name for field in schema]
    found = f"SELECT {', '.join(sent)} FROM ({statement}) found ({', '.join(schema.names)})"
    copied = connection.ops.compose_sql(f"COPY ({found}) TO STDOUT (FORMAT csv)", values)  # type: ignore[attr-defined]
    with connection.cursor() as cursor, cursor.copy(copied) as lines:  # PQgetCopyData gives one row at a time
        while text := b"".join(islice(lines, CHUNK_SIZE)):
            yield _table(text, schema)


def _table(text: bytes, schema: pa.Schema) -> pa.Table:
    """Parse CSV in which an empty text has quotation marks and null doesn't. A list is JSON."""
    kinds = {field.name: pa.string() if pa.types.is_list(field.type) else field.type for field in schema}
    found = csv.read_csv(
        pa.py_buffer(text),
        csv.ReadOptions(column_names=schema.names, use_threads=False, block_size=len(text) + 1),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
            true_values=["t"], false_values=["f"],
        ),
    )  # fmt: skip
    columns = [
        of_each(json.loads, column, field.type) if pa.types.is_list(field.type) else column
        for field, column in zip(schema, found.columns, strict=True)
    ]
    return pa.table(columns, schema=schema)


def of_each(make: Callable[[Any], Any], column: pa.ChunkedArray, kind: pa.DataType | None = None) -> pa.Array:
    """Apply `make` to each value that is not null, calling it once per distinct value. `kind` is the result's type, by
    default text.
    """
    coded = column.combine_chunks().dictionary_encode()
    return pa.array(map(make, coded.dictionary.to_pylist()), kind or pa.string()).take(coded.indices)


def _numbers(sent: bytes, of: str) -> Any:
    return np.frombuffer(sent, _DTYPES[of]).astype(_DTYPES[of].newbyteorder("="))


def _texts(sizes: bytes, words: bytes) -> tuple[list[str], Any]:
    """Make an array from the texts' lengths in bytes and the joined texts, as in Arrow."""
    offsets = np.concatenate([[0], np.cumsum(_numbers(sizes, INT4), dtype=np.int64)])
    texts = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(words))
    coded = texts.dictionary_encode()
    codes = coded.indices.buffers()[1]  # to_numpy would import pandas
    return coded.dictionary.to_pylist(), np.frombuffer(codes, np.int32, len(texts)) if codes else np.empty(0, np.int32)


def columns(model: type[Model], alias: str) -> str:
    """Return what to select for `instances`: every column of the model, in order."""
    return ", ".join(f"{alias}.{name}" for name in _fields(model)[0])


@overload
def instances(row: Sequence[Any], a: type[A], /) -> tuple[A]: ...
@overload
def instances(row: Sequence[Any], a: type[A], b: type[B], /) -> tuple[A, B]: ...
@overload
def instances(row: Sequence[Any], a: type[A], b: type[B], c: type[C], /) -> tuple[A, B, C]: ...
@overload
def instances(row: Sequence[Any], a: type[A], b: type[B], c: type[C], d: type[D], /) -> tuple[A, B, C, D]: ...
def instances(row: Sequence[Any], *models: type[Model]) -> tuple[Model, ...]:
    """Turn a row that selected `columns` of each model in turn into an instance of each."""
    made, start = [], 0
    for model in models:
        names, json_places = _fields(model)
        values = list(row[start : start + len(names)])
        for place in json_places:  # JSON arrives as text if the ORM does not request it
            values[place] = None if values[place] is None else json.loads(values[place])
        made.append(model.from_db("default", names, values))
        start += len(names)
    return tuple(made)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[int]]:
    """Return the names of the model's columns, and the positions of JSON columns."""
    fields = model._meta.concrete_fields
    places = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    return [field.attname for field in fields], places
