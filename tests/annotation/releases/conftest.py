"""Releases that several tests share, made of the exports of tests/annotation/conftest.py."""

import pytest

from tests.annotation.releases.released import copied, release


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
