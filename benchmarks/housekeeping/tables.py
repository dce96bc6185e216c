"""Every table of the database out and in again, as PostgreSQL's own text, a stream at a time.

What there is, is asked of the database itself: a table that somebody adds is in the next backup. Data goes only into a
database of the same migrations, so its tables are the same ones; foreign keys are taken off for the loading and put on
again, which checks them all. Everything of `load` is in one transaction.
"""

from collections.abc import Iterable, Iterator

from django.db import connection

HISTORY = "django_migrations"
BY_MIGRATIONS = {"django_content_type", "auth_permission"}  # have rows in a database that nobody has used

NAMES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> %s ORDER BY tablename"
COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1"
FOREIGN = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def _rows(statement: str, *values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def names() -> list[str]:
    return [name for (name,) in _rows(NAMES, HISTORY)]


def columns(table: str) -> list[str]:
    return [name for (name,) in _rows(COLUMNS, table)]


def migrations() -> list[str]:
    """`annotation.0001_initial` and so on: what the database is migrated to. None before the first migration."""
    if HISTORY not in connection.introspection.table_names():
        return []
    return [f"{app}.{name}" for app, name in _rows(f"SELECT app, name FROM {HISTORY} ORDER BY app, name")]


def filled() -> list[str]:
    """Tables with rows that no migration has put there."""
    quote = connection.ops.quote_name
    asked = [name for name in names() if name not in BY_MIGRATIONS]
    return [name for name in asked if _rows(f"SELECT EXISTS (SELECT FROM {quote(name)})")[0][0]]


def sequences() -> dict[str, int | None]:
    """The last number that each gave; none: it has given none."""
    return dict(_rows(SEQUENCES))


def others() -> int:
    """Connections to this database besides our own."""
    return _rows(OTHERS)[0][0]


def _copied(table: str, named: Iterable[str]) -> str:
    quote = connection.ops.quote_name
    return f"COPY {quote(table)} ({', '.join(map(quote, named))})"


def dump(table: str, named: list[str]) -> Iterator[bytes]:
    """The rows as the transaction sees them, in pieces."""
    with connection.cursor() as cursor, cursor.copy(f"{_copied(table, named)} TO STDOUT") as copy:
        yield from map(bytes, copy)


def load(tables: Iterable[tuple[str, list[str], Iterable[bytes]]], last: dict[str, int | None]) -> dict[str, int]:
    """In place of everything that is there. In the caller's transaction. Returns the rows of each table."""
    quote = connection.ops.quote_name
    foreign = _rows(FOREIGN)
    counts = {}
    with connection.cursor() as cursor:
        for table, name, _ in foreign:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        cursor.execute(f"TRUNCATE {', '.join(map(quote, names()))}")
        for table, named, pieces in tables:
            counts[table] = _load_one(cursor, table, named, pieces)
        for table, name, definition in foreign:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        for name, value in last.items():
            _set_sequence(cursor, name, value)
    return counts


def _load_one(cursor, table: str, named: list[str], pieces: Iterable[bytes]) -> int:
    with cursor.copy(f"{_copied(table, named)} FROM STDIN") as copy:
        for piece in pieces:
            copy.write(piece)
    return cursor.rowcount


def _set_sequence(cursor, name: str, value: int | None) -> None:
    """RESTART belongs to the transaction, setval does not, except on what RESTART has begun in it."""
    cursor.execute(f"ALTER SEQUENCE {connection.ops.quote_name(name)} RESTART")
    if value is not None:
        cursor.execute("SELECT setval(%s::regclass, %s)", [connection.ops.quote_name(name), value])
