"""Hand-written SQL, and its rows as model instances: for the few reads that run at every click.

Building a query takes the ORM longer than PostgreSQL needs to answer it; docs/claiming.md has the figures.
"""

from collections.abc import Sequence

from django.db import connection
from django.db.models import Model


def fetch(statement: str, **values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


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
        made.append(model.from_db("default", fields, row[start : start + len(fields)]))
        start += len(fields)
    return made
