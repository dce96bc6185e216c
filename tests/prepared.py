"""Statements stay prepared from test to test: psycopg forgets all of them at every ROLLBACK, which ends nearly every
test, and PostgreSQL would parse and plan everything anew. After a DROP or ALTER it still forgets them."""

import re
from collections.abc import Sequence

from django.db.backends.postgresql import base
from psycopg._preparing import Prepare, PrepareManager
from psycopg.pq.abc import PGresult

from config.database.base import DatabaseWrapper

_FORGETS = re.compile(rb"(?:DROP|ALTER|DISCARD ALL|DEALLOCATE ALL)\b")
_forget = PrepareManager.clear
product_cursor = DatabaseWrapper.create_cursor


def install() -> None:
    """Also the statements of managers' pages, which the product plans anew: a test's tables are small."""
    DatabaseWrapper.create_cursor = base.DatabaseWrapper.create_cursor
    PrepareManager.prepared_max = 2000  # psycopg's 100 are fewer than the tests of a file may take
    PrepareManager.clear = _keep
    PrepareManager._should_discard = _should_discard


def _keep(manager: PrepareManager) -> bool:
    return False


def _should_discard(manager: PrepareManager, prep: Prepare, results: Sequence[PGresult]) -> bool:
    return any(_FORGETS.match(result.command_status or b"") for result in results) and _forget(manager)
