"""What tests of annotation share: exports of studies, and a world that a module builds once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import override_settings

from tests.annotation.releases.released import STUDIES
from tests.lazy import LazyModule
from tests.made_once import made_once

datasets = LazyModule("datasets")


@pytest.fixture(scope="module")
def module_world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Path]:
    """A folder for files, and a transaction that lasts as long as the module.

    A module-scoped fixture that takes it builds what all tests of the module ask. They take `savepoint`.
    """
    media = tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=media), transaction.atomic():
        yield media
        transaction.set_rollback(True)


@pytest.fixture
def savepoint(module_world, db, own_files, settings) -> None:
    """What a test changes in the module's world is undone after it: the test's own transaction is a savepoint then."""
    settings.MEDIA_ROOT = module_world


@pytest.fixture
def offline(monkeypatch, tmp_path) -> None:
    """The `datasets` library asks nobody, and keeps what it has read in a folder of the test."""
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def exports() -> Callable[[str], Path]:
    """The export of one of releases.released.STUDIES, by its name, to be read alone.

    Each study is made once, by the first test that needs it, which has to be marked `django_db(transaction=True)`, and
    only its files are kept.
    """

    def of(name: str) -> Path:
        def make(folder: Path) -> None:
            with override_settings(VAR=folder, MEDIA_ROOT=folder / "media"):
                STUDIES[name](folder)

        return made_once(f"export-{name}", make) / "export"

    return of
