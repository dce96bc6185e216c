"""In a test's transaction each `atomic` of the product is a savepoint: a sixth of all statements, and the longest way
is Python's. libpq sends them itself, unless a test counts queries."""

import psycopg
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.pq import ExecStatus, TransactionStatus


def install() -> None:
    DatabaseWrapper._savepoint = _savepoint
    DatabaseWrapper._savepoint_commit = _savepoint_commit
    DatabaseWrapper.check_constraints = _check_constraints


def _savepoint(connection: DatabaseWrapper, sid: str) -> None:
    _send(connection, connection.ops.savepoint_create_sql(sid))


def _savepoint_commit(connection: DatabaseWrapper, sid: str) -> None:
    _send(connection, connection.ops.savepoint_commit_sql(sid))


def _check_constraints(connection: DatabaseWrapper, table_names=None) -> None:
    """After every test that has a transaction of its own."""
    _send(connection, "SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED")


def _send(connection: DatabaseWrapper, *statements: str) -> None:
    if connection.queries_logged or connection.execute_wrappers or not _is_inside(connection):
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        return
    raw = connection.connection
    with connection.wrap_database_errors, raw.lock:
        result = raw.pgconn.exec_("; ".join(statements).encode())
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result)


def _is_inside(connection: DatabaseWrapper) -> bool:
    raw = connection.connection
    return raw is not None and raw.pgconn.transaction_status == TransactionStatus.INTRANS
