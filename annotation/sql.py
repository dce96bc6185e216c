"""Hand-written SQL, and its rows as model instances: for the few reads that run at every click.

Building a query takes the ORM longer than PostgreSQL needs to answer it; docs/design/claiming.md has the figures.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache

from django.db import connection
from django.db.models import JSONField, Model

CHUNK = 10_000  # rows of a stream in memory


def fetch(statement: str, **values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def stream(statement: str, **values: object) -> Iterator[tuple]:
    """The rows of a large answer, never all of them in memory. To be read to its end."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(CHUNK):
            yield from rows


@cache
def names(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def columns(model: type[Model], alias: str) -> str:
    """What to select so that `instances` can read it: every column of the model, in its order."""
    return ", ".join(f"{alias}.{name}" for name in names(model))


def instances(row: Sequence[object], *models: type[Model]) -> list[Model]:
    """One row that selected `columns` of each model in turn, as an instance of each."""
    made, start = [], 0
    for model in models:
        fields = names(model)
        made.append(model.from_db("default", fields, _read(model, row[start : start + len(fields)])))
        start += len(fields)
    return made


def _read(model: type[Model], values: Sequence[object]) -> Sequence[object]:
    """JSON arrives as text where the ORM does not ask for it."""
    found = json_places(model)
    if not found:
        return values
    return [json.loads(value) if place in found and value is not None else value for place, value in enumerate(values)]


@cache
def json_places(model: type[Model]) -> frozenset[int]:
    fields = enumerate(model._meta.concrete_fields)
    return frozenset(place for place, field in fields if isinstance(field, JSONField))
