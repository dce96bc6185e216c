"""What tests of pages share: somebody who manages, logged in to Django's client."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def manager(client) -> User:
    user = User.objects.create_user("ana", password="x", is_staff=True)
    client.force_login(user)
    return user
