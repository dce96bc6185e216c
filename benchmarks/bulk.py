"""Inserting many rows at once by COPY, in a fraction of the time of statements with every value."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model
from django.db.models.expressions import DatabaseDefault

Row = TypeVar("Row", bound=Model)


def insert(rows: Iterable[Row]) -> list[Row]:
    """Insert new instances of one model, as `bulk_create` does, and return them with their ids."""
    new = list(rows)
    if not new:
        return new
    meta = new[0]._meta
    if meta.auto_field:
        for row, pk in zip(new, ids(meta.db_table, len(new)), strict=True):
            row.pk = pk
    using = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each value
    # Whatever the first row leaves to the database, all rows do
    fields = [one for one in meta.concrete_fields if not isinstance(getattr(new[0], one.attname), DatabaseDefault)]
    names = ", ".join(str(field.column) for field in fields)
    copy(
        f"{meta.db_table} ({names})",
        ([field.get_db_prep_save(field.pre_save(row, True), using) for field in fields] for row in new),
    )
    for row in new:
        row._state.adding, row._state.db = False, using.alias
    return new


def ids(table: str, count: int) -> list[int]:
    """Reserve new ids, in ascending order."""
    statement = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
    with connection.cursor() as cursor:
        cursor.execute(statement, [table, count])
        return sorted(pk for (pk,) in cursor.fetchall())


def copy(into: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows `into` a table given with its columns: `annotation_slot (id, rank)`."""
    statement = f"COPY {into} FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as lines:
        for row in rows:
            lines.write_row(row)
