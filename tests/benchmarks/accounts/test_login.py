"""Logging in: the first password works once, tries are limited, nobody is sent elsewhere."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from benchmarks.accounts import views as accounts_views

pytestmark = pytest.mark.django_db
GIVEN = "given-by-somebody-else"


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana", password=GIVEN, is_staff=True)


@pytest.fixture
def bo() -> User:
    """Somebody who has been here before."""
    return User.objects.create_user("bo", password="own-secret-9", is_staff=True, last_login=timezone.now())


def log_in(client, name: str, password: str, **more):
    return client.post(reverse("login"), {"username": name, "password": password, **more})


def test_the_first_login_leads_to_a_password_of_ones_own(client, ana):
    assert log_in(client, "ana", GIVEN).url == reverse("first-password")
    assert client.get(reverse("benchmark-list")).url == reverse("first-password")
    assert client.get(reverse("api-study-list")).status_code == 403
    new = "a-secret-of-my-own"
    answer = client.post(reverse("first-password"), {"new_password1": new, "new_password2": new})
    assert answer.url == reverse("study-list")
    assert client.get(reverse("benchmark-list")).status_code == 200
    ana.refresh_from_db()
    assert ana.check_password(new)


def test_the_given_password_works_once(client, ana):
    log_in(client, "ana", GIVEN)
    client.post(reverse("logout"))
    assert log_in(client, "ana", GIVEN).status_code == 422
    ana.refresh_from_db()
    assert not ana.has_usable_password()


def test_two_at_once_use_it_once(ana):
    same = User.objects.get(pk=ana.pk)
    assert [accounts_views.use_up(ana), accounts_views.use_up(same)] == [True, False]


def test_a_weak_password_is_refused(client, ana):
    log_in(client, "ana", GIVEN)
    answer = client.post(reverse("first-password"), {"new_password1": "password", "new_password2": "password"})
    assert answer.status_code == 422 and "too common" in answer.content.decode()


def test_nobody_else_can_set_a_password(client, bo):
    assert client.get(reverse("first-password")).url == reverse("login")
    client.force_login(bo)
    assert client.get(reverse("first-password")).url == reverse("login")


def test_later_logins_go_where_one_wanted(client, bo):
    assert log_in(client, "bo", "own-secret-9", next="/benchmarks/").url == "/benchmarks/"
    assert client.get(reverse("benchmark-list")).status_code == 200


@pytest.mark.parametrize("next", ["https://example.org/", "//example.org", "javascript:alert(1)", ""])
def test_nobody_is_sent_elsewhere(client, bo, next):
    assert log_in(client, "bo", "own-secret-9", next=next).url == reverse("study-list")


def test_a_wrong_password_is_refused(client, bo):
    answer = log_in(client, "bo", "wrong")
    assert answer.status_code == 422 and "correct" in answer.content.decode()


def test_the_eleventh_try_in_a_minute_waits_even_with_the_right_password(client, bo):
    for _ in range(accounts_views.TRIES):
        assert log_in(client, "bo", "wrong").status_code == 422
    assert log_in(client, "BO", "own-secret-9").status_code == 429
    assert log_in(client, "somebody", "wrong").status_code == 422


def test_logging_out_takes_a_button(client, bo):
    client.force_login(bo)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get(reverse("benchmark-list")).status_code == 302


def test_the_login_page_is_not_kept(client):
    assert "no-store" in client.get(reverse("login"))["Cache-Control"]


def test_who_is_limited_is_not_even_looked_up(client, ana, monkeypatch):
    for _ in range(accounts_views.TRIES):
        log_in(client, "ana", "wrong")
    monkeypatch.setattr(accounts_views.AuthenticationForm, "clean", lambda form: pytest.fail("the password was tried"))
    assert log_in(client, "ana", GIVEN).status_code == 429
