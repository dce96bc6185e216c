"""PostgreSQL's advisory locks, by name: others who request the same name wait, or learn that it is taken.

A lock is held until the transaction ends, or by the session until a block ends. A session's lock is released with its
connection, so whoever can take it knows that the process that held it is gone.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

_KEY = "hashtextextended(%s, 0)"
_mine = threading.local()  # `names`: locks held by this thread's session


def wait_for(name: str) -> None:
    """Take the lock until the transaction ends."""
    _ask(connection, f"SELECT pg_advisory_xact_lock({_KEY})", name)


def try_to_take(name: str) -> bool:
    """Take the lock until the transaction ends; False if somebody holds or shares it."""
    return _ask(connection, f"SELECT pg_try_advisory_xact_lock({_KEY})", name)


@contextmanager
def held(name: str, shared: bool = False) -> Iterator[None]:
    """Hold the lock until the block ends, across transactions; `shared`, with others who share it."""
    how = "_shared" if shared else ""
    _ask(session(), f"SELECT pg_advisory_lock{how}({_KEY})", name)
    try:
        yield
    finally:
        _release(name, how)


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Hold the lock until the block ends; yield False if another session, or this one, already holds it.

    PostgreSQL would grant a session its own lock a second time.
    """
    mine = _mine.__dict__.setdefault("names", set())
    if name in mine:
        yield False
        return
    taken = _ask(session(), f"SELECT pg_try_advisory_lock({_KEY})", name)
    mine |= {name} if taken else set()
    try:
        yield taken
    finally:
        mine.discard(name)
        if taken:
            _release(name)


def session() -> BaseDatabaseWrapper:
    """Return the connection whose session holds locks across transactions: behind a pooler, a direct one."""
    return connections[settings.SESSION_DATABASE]


def _release(name: str, how: str = "") -> None:
    if session().is_usable():  # a lost connection has released its locks
        _ask(session(), f"SELECT pg_advisory_unlock{how}({_KEY})", name)


def _ask(database: BaseDatabaseWrapper, statement: str, name: str) -> bool:
    with database.cursor() as cursor:
        cursor.execute(statement, [name])
        return bool(cursor.fetchone()[0])
