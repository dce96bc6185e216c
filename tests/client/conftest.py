"""A server and a client of it."""

import pytest
from django.contrib.auth.models import User

import winnow_client
from benchmarks.accounts import tokens
from tests.lazy import LazyModule

datasets = LazyModule("datasets")


@pytest.fixture
def token(transactional_db) -> str:
    return tokens.make_token(user=User.objects.create_superuser("ana"), by="test")


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    """Short pauses between attempts, and caches of the test's own."""
    monkeypatch.setattr("winnow_client.transport.LONGEST_PAUSE", 0.05)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "datasets"))


@pytest.fixture
def server(site, eager_tasks, token) -> winnow_client.Server:
    return winnow_client.connect(site, token, progress=False)
