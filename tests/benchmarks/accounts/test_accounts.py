"""Accounts by command: a password that is shown once and works once."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from benchmarks.accounts.tokens import make_token
from benchmarks.models import Event

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("options, superuser", [(["--staff"], False), (["--superuser"], True)])
def test_the_printed_password_leads_to_one_of_ones_own(client, capsys, options, superuser):
    call_command("add_user", "ana", *options)
    password = capsys.readouterr().out.split("password ")[1].split()[0]
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser) == (True, superuser)
    answer = client.post(reverse("login"), {"username": "ana", "password": password})
    assert answer.url == reverse("first-password")
    assert password not in str(Event.objects.values())


def test_a_closed_account_opens_nothing_until_it_is_reopened(client):
    user = User.objects.create_user("ana", password="own-secret-9", is_staff=True, last_login="2026-01-01T00:00Z")
    login = {"username": "ana", "password": "own-secret-9"}
    token = make_token(user=user, by="test")
    bearer = {"Authorization": f"Bearer {token}"}
    client.post(reverse("login"), login)
    opened = [client.get(reverse("account")), Client().get(reverse("api-study-list"), headers=bearer)]
    assert [answer.status_code for answer in opened] == [200, 200]
    call_command("close_account", "ana")
    closed = [client.get(reverse("account")), Client().get(reverse("api-study-list"), headers=bearer)]
    assert [answer.status_code for answer in closed] == [302, 401] and not Session.objects.exists()
    assert Client().post(reverse("login"), login).status_code == 422
    call_command("close_account", "ana", "--reopen")
    assert Client().post(reverse("login"), login).status_code == 302


@pytest.mark.parametrize(
    "name, options, why",
    [("ana", ["--staff"], "already exists"), ("a b", ["--staff"], "valid username"), ("bo", [], "--staff or --super")],
)
def test_what_cannot_be_is_refused(name, options, why):
    User.objects.create_user("ana")
    with pytest.raises(CommandError, match=why):
        call_command("add_user", name, *options)
    assert User.objects.count() == 1
