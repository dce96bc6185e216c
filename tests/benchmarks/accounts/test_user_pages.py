"""Users in the browser, for admins. tests/annotation/test_rights.py has who else may not."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from benchmarks.models import Event

pytestmark = pytest.mark.django_db
USERS = reverse("user-list")


@pytest.fixture
def admin(client) -> User:
    user = User.objects.create_superuser("ana", password="own-secret-9")
    client.force_login(user)
    return user


@pytest.mark.parametrize("name, email", [("bo", ""), ("bo@lab.example", "bo@lab.example")])
@pytest.mark.parametrize("role", ["manager", "admin"])
def test_an_admin_adds_a_user_whose_password_is_shown_once(client, admin, name, email, role):
    page = client.post(USERS, {"name": name, "role": role}).text
    password = re.search(r'id="password"[^>]*value="([^"]+)"', page)[1]
    user = User.objects.get(username=name)
    assert (user.is_staff, user.is_superuser, user.email) == (True, role == "admin", email)
    assert Client().post(reverse("login"), {"username": name, "password": password}).url == reverse("first-password")
    assert password not in client.get(USERS).text and password not in str(Event.objects.values())
    assert Event.objects.get().by == f"user:{admin.pk}" and ">never<" in page


def test_what_cannot_be_a_name_is_refused_at_its_field(client, admin, settings):
    for name in ("ana", "a b", ""):
        refused = client.post(USERS, {"name": name, "role": "manager"})
        assert refused.status_code == 422 and 'href="#id_name"' in refused.text
    settings.LOCAL_LOGIN = False
    assert 'name="name"' not in client.get(USERS).text
    assert client.post(USERS, {"name": "bo", "role": "manager"}).status_code == 422
    assert User.objects.count() == 1


def test_an_account_is_deactivated_and_activated_but_not_ones_own(client, admin):
    bo = User.objects.create_user("bo", is_staff=True)
    for pk, to, active in ((bo.pk, "closed", False), (bo.pk, "open", True), (admin.pk, "closed", True)):
        client.post(reverse("user-change", args=[pk]), {"to": to})
        assert User.objects.get(pk=pk).is_active is active
