"""A small study reads only its own rows, however large the studies beside it are.

Every address of the project is asked for in the world of test_rights, and no statement may scan all leases, slots or
judgments of the installation.
"""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import pytest
from django.db import connection
from django.template.backends.django import Template

from annotation.models import Judgment
from bench import filled_study
from tests.annotation.test_rights import ROUTES, World, address, clients, expected, sessions, world  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("savepoint")]
JUDGMENTS = 10_000
SCANNED = """
SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables
WHERE relname IN ('annotation_lease', 'annotation_slot', 'annotation_judgment')
"""
ASKED = [name for name in ROUTES if not expected(name).startswith("x") and name != "api-schema"]


@pytest.fixture(scope="module")
def beside_large(world) -> World:  # noqa: F811
    filled_study.filled(JUDGMENTS)
    return world


def scanned(ask: Callable[[], object]) -> dict[str, int]:
    """The rows that were read by scanning a whole table."""
    with connection.cursor() as cursor, patch.object(Template, "render", return_value=""):
        before = dict(cursor.execute(SCANNED).fetchall())
        ask()
        after = dict(cursor.execute(SCANNED).fetchall())
    return {table: rows - before.get(table, 0) for table, rows in after.items() if rows > before.get(table, 0)}


def test_no_request_scans_what_every_study_has(beside_large, clients):  # noqa: F811
    get = clients["owner"].get
    found = {name: scanned(partial(get, address(name, beside_large))) for name in ASKED}
    assert {name: tables for name, tables in found.items() if tables} == {}
    assert scanned(Judgment.objects.filter(digest="x").count)["annotation_judgment"] > JUDGMENTS / 2, "it sees scans"
