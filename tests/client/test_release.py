"""A release in the client, without a server."""

import sys
from types import SimpleNamespace

import pytest

import winnow_client
from winnow_client.studies import Release, Study

FACTS = {"id": 1, "name": "cups", "version": "1.0", "summary": {}, "sha256": "0" * 64}


def test_load_says_what_to_install_before_anything_is_fetched(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(winnow_client.WinnowError, match="Install `datasets` and `pillow`"):
        Release(None, FACTS).load()


def test_one_with_another_plan_asks_for_the_next_version():
    stored = SimpleNamespace(rows=lambda *_, **__: iter([{"plan": {"seed": 1}}]))
    with pytest.raises(winnow_client.WinnowError, match=r"^Release cups@1\.0 exists, .* next version") as caught:
        Study(stored, 1, "Cups").freeze("cups@1.0", seed=2)
    assert caught.value.code == "EXISTS_OTHERWISE"
