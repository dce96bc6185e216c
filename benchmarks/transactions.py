"""Transactions repeated after a deadlock, and read-only transactions with one snapshot.

A transaction that PostgreSQL aborted because of a deadlock is repeated.

Locks are taken in one order as far as possible; an exclusion or a closing locks every stage, and may conflict with an
answer. An aborted transaction has written nothing, and every function reads what it needs after its first lock.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

TRIES = 5
DEADLOCK = "40P01"


def retry_deadlocks(verb: Callable) -> Callable:
    """Wrap a verb's `transaction.atomic`; inside another transaction, that one is repeated."""

    @functools.wraps(verb)
    def tried(*args, **kwargs):
        for left in reversed(range(TRIES)):
            try:
                return verb(*args, **kwargs)
            except OperationalError as error:
                if not left or connection.in_atomic_block or not _is_deadlock(error):
                    raise

    return tried


def _is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", "") == DEADLOCK


@contextmanager
def snapshot() -> Iterator[None]:
    """Open a read-only transaction that sees the database as it was at the first read."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
