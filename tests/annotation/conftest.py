"""What tests of several rooms share: somebody who may do everything, and exports of studies."""

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from tests.annotation.releases.released import STUDIES


@pytest.fixture
def manager(client) -> User:
    """A superuser: tests/annotation/test_rights.py holds what the members of a study may."""
    user = User.objects.create_superuser("ana", password="x")
    client.force_login(user)
    return user


@pytest.fixture(scope="session")
def exports(tmp_path_factory):
    """The export of one of releases.released.STUDIES, by its name, to be read alone.

    Each study is made once, by the first test that needs it, which has to be marked `django_db(transaction=True)`, and
    only its files are kept.
    """
    found = {}

    def of(name: str):
        if name not in found:
            folder = tmp_path_factory.mktemp(name)
            with override_settings(VAR=folder, MEDIA_ROOT=folder / "media"):
                found[name] = STUDIES[name](folder)
        return found[name]

    return of
