"""Exports that several tests of releases share: each study is made once, by the first test that needs it, which has to
be marked `django_db(transaction=True)`, and only its files are kept.
"""

import pytest
from django.test import override_settings

from tests.annotation.releases.released import STUDIES, copied, release


@pytest.fixture(scope="session")
def exports(tmp_path_factory):
    """The export of one of releases.released.STUDIES, by its name."""
    found = {}

    def of(name: str):
        if name not in found:
            folder = tmp_path_factory.mktemp(name)
            with override_settings(VAR=folder, MEDIA_ROOT=folder / "media"):
                found[name] = STUDIES[name](folder)
        return found[name]

    return of


@pytest.fixture(scope="session")
def whole(exports, tmp_path_factory):
    """Releases in all forms with everything public, by the study's name."""
    found = {}

    def of(name: str):
        if name not in found:
            found[name] = release(exports(name), tmp_path_factory.mktemp(name) / "whole")
        return found[name]

    return of


@pytest.fixture
def released(whole, tmp_path):
    """A copy of such a release, to do with as one likes."""
    return lambda name: copied(whole(name), tmp_path / "release")
