"""What tests of pages share: somebody who may do everything, logged in to Django's client."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def manager(client) -> User:
    """A superuser: tests/annotation/test_rights.py holds what the members of a study may."""
    user = User.objects.create_superuser("ana", password="x")
    client.force_login(user)
    return user
