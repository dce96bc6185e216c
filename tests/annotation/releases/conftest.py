"""Releases that several tests share, made of the exports of tests/annotation/conftest.py."""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from django.db import connection

from tests.annotation.releases.released import copied, release
from tests.conftest import EMPTY_TABLES
from tests.made_once import made_once


@pytest.fixture(scope="session")
def whole(exports) -> Callable[[str], Path]:
    """Releases in all forms with everything public, by the study's name."""

    def of(name: str) -> Path:
        export = exports(name)
        return made_once(f"whole-{name}", lambda folder: release(export, folder / "release")) / "release"

    return of


@pytest.fixture(scope="session")
def public_releases(exports) -> Callable[[str, Collection[str]], Path]:
    """Releases in parquet alone, by the study's name and what is public. They are shared: to be read, not changed."""

    def of(name: str, public: Collection[str]) -> Path:
        def make(folder: Path) -> None:
            release(exports(name), folder / "release", public, forms=())

        return made_once(f"public-{name}-{'+'.join(public)}", make) / "release"

    return of


@pytest.fixture(scope="module")
def studies_exported(request, exports, django_db_setup, django_db_blocker):
    """Exports of the module's STUDIES, made before its first test: so its tests, which read files, need no empty
    database each, as those do that are marked `django_db(transaction=True)`. `django_db` will do.
    """
    with django_db_blocker.unblock():
        for name in request.module.STUDIES:
            exports(name)
            with connection.cursor() as cursor:
                cursor.execute(EMPTY_TABLES)


@pytest.fixture
def released(whole, tmp_path):
    """A copy of such a release, to do with as one likes."""
    return lambda name: copied(whole(name), tmp_path / "release")
