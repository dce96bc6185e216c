"""A release in the client, without a server."""

import sys

import pytest

import winnow_client
from winnow_client.studies import Release

FACTS = {"id": 1, "name": "cups", "version": "1.0", "summary": {}, "sha256": "0" * 64}


def test_load_says_what_to_install_before_anything_is_fetched(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(winnow_client.WinnowError, match="Install `datasets` and `pillow`"):
        Release(None, FACTS).load()
