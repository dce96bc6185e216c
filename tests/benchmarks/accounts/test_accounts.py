"""Accounts by command: a password that is shown once and works once."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

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


@pytest.mark.parametrize(
    "name, options, why",
    [("ana", ["--staff"], "already exists"), ("a b", ["--staff"], "valid username"), ("bo", [], "--staff or --super")],
)
def test_what_cannot_be_is_refused(name, options, why):
    User.objects.create_user("ana")
    with pytest.raises(CommandError, match=why):
        call_command("add_user", name, *options)
    assert User.objects.count() == 1
