"""GET and HEAD write nothing: every address of the project is asked for, and its statements are looked at.

An owner asks, and is told what the table of test_rights says.

Figures that are computed for a page are kept in a cache (annotation/figures/cache.py), or queued for the worker;
nothing else follows from it.
What an annotator's own link does when it is opened is the one exception: an annotator comes by a plain link, from
Prolific or an e-mail, and finds their screen there, without script and without one more button to press.
"""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.figures import cache
from tests.annotation.test_rights import ROUTES, address, clients, expected, sessions, sign, world  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("savepoint")]
WRITES = ("INSERT", "UPDATE", "DELETE", "WITH")
CACHE = "annotation_cachedfigures"
# What each link of an annotator writes when it is opened.
OPENED = {
    "judge": "the next screens are leased, or the completion code is noted as given",
    "judge-before": "the order of the practice screens is drawn",
    "join": "somebody who comes back from Prolific has a new session there",
}
ASKED = [name for name in ROUTES if not expected(name).split()[0].startswith("x")]


def read(client, url: str, method: str) -> tuple[str, list[str]]:
    """Whether the client may, and the statements that write."""
    with CaptureQueriesContext(connection) as captured:
        answer = client.generic(method, url)
    statements = [query["sql"] for query in captured]
    return sign(answer, url), [sql for sql in statements if writes_rows(sql) and CACHE not in sql]


def writes_rows(sql: str) -> bool:
    words = sql.upper().split()
    return words[0] in WRITES and any(word in words for word in WRITES[:3])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_address_but_an_annotators_own_link_writes(world, clients, method, monkeypatch):  # noqa: F811
    monkeypatch.setattr(cache, "_queue", lambda *_: None)
    found = {name: read(clients["owner"], address(name, world), method) for name in ASKED}
    assert {name: sql for name, (_, sql) in found.items() if sql and name not in OPENED} == {}
    assert found["judge"][1], "the test sees writes"
    assert {name: told for name, (told, _) in found.items()} == {name: expected(name)[0] for name in ASKED}
