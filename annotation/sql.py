"""Hand-written SQL, and its rows as model instances: for the few reads that run at every click.

Building a query takes the ORM longer than PostgreSQL needs to answer it; docs/design/claiming.md has the figures.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeVar, overload

from django.db import connection
from django.db.models import JSONField, Model

CHUNK_SIZE = 10_000  # rows of a stream in memory

A = TypeVar("A", bound=Model)
B = TypeVar("B", bound=Model)
C = TypeVar("C", bound=Model)
D = TypeVar("D", bound=Model)


def fetch(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def execute(statement: str, **values: Any) -> None:
    """For a statement that returns no rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def stream(statement: str, **values: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a large answer, never all of them in memory. Read it to its end."""
    for rows in batches(statement, **values):
        yield from rows


def batches(statement: str, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
    """The same, `CHUNK_SIZE` rows at a time.

    Behind a pooler, a cursor lasts only as long as its transaction: outside one, all rows are read at once.
    """
    lasts = connection.in_atomic_block or not connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]
    with connection.chunked_cursor() if lasts else connection.cursor() as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(CHUNK_SIZE):
            yield rows


def columns(model: type[Model], alias: str) -> str:
    """What to select so that `instances` can read it: every column of the model, in its order."""
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
    """One row that selected `columns` of each model in turn, as an instance of each."""
    made, start = [], 0
    for model in models:
        names, json_places = _fields(model)
        values = list(row[start : start + len(names)])
        for place in json_places:  # JSON arrives as text where the ORM does not ask for it
            values[place] = None if values[place] is None else json.loads(values[place])
        made.append(model.from_db("default", names, values))
        start += len(names)
    return tuple(made)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[int]]:
    """The names of the model's columns, and the positions of those that hold JSON."""
    fields = model._meta.concrete_fields
    places = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    return [field.attname for field in fields], places
