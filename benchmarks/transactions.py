"""Transactions that are begun again after a deadlock, and those that only read, from one snapshot.

A transaction that PostgreSQL ended, since it and another waited for each other, is begun again.

Locks are taken in one order as far as that goes; an exclusion or a closing meets every stage, and may cross an answer.
Whoever is ended has written nothing, and every verb reads what it needs after its first lock.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

TRIES = 5
DEADLOCK = "40P01"


def retry_deadlocks(verb: Callable) -> Callable:
    """Around a verb's `transaction.atomic`; inside another transaction it is that one that begins again."""

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
    """A read-only transaction that sees the database as it was at the first read."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
