"""Write and read every table of the database with COPY, as a stream, over Winnow's own connection.

The database itself lists its tables, so the next backup includes a table added by a migration. The database to load
into has the same migrations, and therefore the same tables. docs/guide/housekeeping.md explains why pg_dump is not
used.
"""

from collections.abc import Iterable, Iterator

from django.db import connection

HISTORY = "django_migrations"
BY_MIGRATIONS = {"django_content_type", "auth_permission"}  # tables with rows even in an unused database

NAMES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> %s ORDER BY tablename"
COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
SEQUENCES = """
SELECT sequencename, last_value FROM pg_sequences
WHERE schemaname = current_schema() AND sequencename <> %s ORDER BY 1
"""
FOREIGN = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def _rows(statement: str, *values: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def names() -> list[str]:
    return [name for (name,) in _rows(NAMES, HISTORY)]


def columns(table: str) -> list[str]:
    return [name for (name,) in _rows(COLUMNS, table)]


def migrations() -> list[str]:
    """Return the database's migrations, such as `annotation.0001_initial`; empty before the first one."""
    if HISTORY not in connection.introspection.table_names():
        return []
    return [f"{app}.{name}" for app, name in _rows(f"SELECT app, name FROM {HISTORY} ORDER BY app, name")]


def filled() -> list[str]:
    """Return tables with rows that are not from migrations."""
    quote = connection.ops.quote_name
    used = [name for name in names() if name not in BY_MIGRATIONS]
    return [name for name in used if _rows(f"SELECT EXISTS (SELECT FROM {quote(name)})")[0][0]]


def sequences() -> dict[str, int | None]:
    """Return each sequence's last value; None for an unused one. Leaves out the migrations' sequence."""
    return dict(_rows(SEQUENCES, f"{HISTORY}_id_seq"))


def others() -> int:
    """Return the number of other connections to this database."""
    return _rows(OTHERS)[0][0]


def _copy(table: str, columns: Iterable[str]) -> str:
    quote = connection.ops.quote_name
    return f"COPY {quote(table)} ({', '.join(map(quote, columns))})"


def dump(table: str, columns: Iterable[str]) -> Iterator[bytes]:
    """Yield pieces of the table's rows as the transaction sees them, in PostgreSQL's text format."""
    with connection.cursor() as cursor, cursor.copy(f"{_copy(table, columns)} TO STDOUT") as copy:
        yield from map(bytes, copy)


def load(tables: Iterable[tuple[str, list[str], Iterable[bytes]]], sequences: dict[str, int | None]) -> dict[str, int]:
    """Replace all rows by those of `tables`: (name, columns, pieces as from `dump`). Return each table's row count.

    Runs in the caller's transaction. Foreign keys are dropped before and added after, which checks every row.
    """
    foreign = _rows(FOREIGN)
    counts = {}
    with connection.cursor() as cursor:
        for table, name, _ in foreign:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        # Only a sequence restarted in this transaction gets its value back if the transaction fails.
        cursor.execute(f"TRUNCATE {', '.join(map(connection.ops.quote_name, names()))} RESTART IDENTITY")
        for name, value in sequences.items():
            if value is not None:
                cursor.execute("SELECT setval(%s::regclass, %s)", [connection.ops.quote_name(name), value])
        for table, columns, pieces in tables:
            counts[table] = _load_table(cursor, table, columns, pieces)
        for table, name, definition in foreign:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    return counts


def _load_table(cursor, table: str, columns: list[str], pieces: Iterable[bytes]) -> int:
    with cursor.copy(f"{_copy(table, columns)} FROM STDIN") as copy:
        for piece in pieces:
            copy.write(piece)
    return cursor.rowcount
