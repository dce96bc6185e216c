"""Logging in: the first password opens the choice of another alone, tries are limited, nobody is sent elsewhere."""

import time

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.accounts import limits
from benchmarks.accounts import views as accounts_views
from benchmarks.permissions import client_address

pytestmark = pytest.mark.django_db
GIVEN, OWN = "given-by-somebody-else", "a-secret-of-my-own"


@pytest.fixture(autouse=True)
def no_tries_yet(monkeypatch):
    """And it is 20 seconds before the minute is over."""
    cache.clear()
    monkeypatch.setattr(limits, "_clock", lambda: (27_000_000, 40))


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana", password=GIVEN, is_staff=True)


@pytest.fixture
def bo() -> User:
    """Somebody who has been here before."""
    return User.objects.create_user("bo", password="own-secret-9", is_staff=True, last_login=timezone.now())


def log_in(client, name: str, password: str, next: str = "", **environ):
    return client.post(reverse("login"), {"username": name, "password": password, "next": next}, **environ)


def choose(client, password: str):
    return client.post(reverse("first-password"), {"new_password1": password, "new_password2": password})


def test_the_first_login_leads_to_a_password_of_ones_own(client, ana):
    assert log_in(client, "ana", GIVEN).url == reverse("first-password")
    assert client.get(reverse("benchmark-list")).url.startswith(reverse("login"))
    assert client.get(reverse("api-study-list")).status_code == 403
    assert choose(client, OWN).url == reverse("study-list")
    assert client.get(reverse("benchmark-list")).status_code == 200
    ana.refresh_from_db()
    assert ana.check_password(OWN) and ana.last_login


def test_the_given_password_works_until_one_of_ones_own_is_stored(client, ana):
    """Whoever closes the window in between is not locked out."""
    log_in(client, "ana", GIVEN)
    other = Client()
    assert log_in(other, "ana", GIVEN).url == reverse("first-password")
    choose(client, OWN)
    assert log_in(Client(), "ana", GIVEN).status_code == 422
    assert choose(other, "another-secret-9").url == reverse("login")
    ana.refresh_from_db()
    assert ana.check_password(OWN)


@pytest.mark.parametrize("change", [{"is_active": False}, {"last_login": timezone.now()}, {"password": "!gone"}])
def test_a_first_password_that_is_one_no_longer_opens_nothing(client, ana, change):
    log_in(client, "ana", GIVEN)
    User.objects.update(**change)
    assert choose(client, OWN).url == reverse("login")
    assert client.get(reverse("benchmark-list")).status_code == 302


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


SAME = ["bo", "BO", " bo ", "\uff42\uff4f", "bo\u3000"]  # full-width letters; a space of full width


def test_the_eleventh_try_in_a_minute_waits_even_with_the_right_password(client, bo):
    for number in range(limits.TRIES):
        assert log_in(client, SAME[number % len(SAME)], "wrong").status_code == 422
    refused = log_in(client, "bo", "own-secret-9")
    assert refused.status_code == 429 and refused["Retry-After"] == "20"
    assert "Try again in 20 seconds." in refused.content.decode() and 'value="bo"' in refused.content.decode()
    assert log_in(client, "somebody", "wrong").status_code == 422
    assert log_in(client, "bo", "wrong", REMOTE_ADDR="192.0.2.7").status_code == 422


def test_an_address_has_its_limit_too(client, bo, monkeypatch):
    monkeypatch.setattr(limits, "TRIES_FROM_ADDRESS", 3)
    for number in range(3):
        assert log_in(client, f"name-{number}", "wrong").status_code == 422
    assert log_in(client, "bo", "own-secret-9").status_code == 429


def test_a_name_has_its_limit_over_all_addresses(client, bo, monkeypatch):
    monkeypatch.setattr(limits, "TRIES_OF_NAME", 3)
    for number in range(3):
        assert log_in(client, "bo", "wrong", REMOTE_ADDR=f"192.0.2.{number}").status_code == 422
    assert log_in(client, "bo", "own-secret-9", REMOTE_ADDR="192.0.2.9").status_code == 429


def test_an_open_session_gives_no_more_tries(client, bo, monkeypatch):
    """As for somebody who finds a browser that is logged in, and guesses the password where it is changed."""
    monkeypatch.setattr(limits, "TRIES", 3)
    client.force_login(bo)
    own = {"save": "password", "new_password1": OWN, "new_password2": OWN}
    for password, status in [("wrong", 422)] * 3 + [("own-secret-9", 302)]:
        answer = client.post(reverse("account"), {**own, "old_password": password})
        assert answer.status_code == status
    assert "Too many attempts." in client.get(reverse("account")).text
    bo.refresh_from_db()
    assert not bo.check_password(OWN)


@pytest.mark.parametrize("proxies", [0, 1, 2])
def test_a_forged_header_gives_nobody_more_tries(client, bo, settings, monkeypatch, proxies):
    """What a client writes stands before what the proxies append."""
    settings.TRUSTED_PROXIES = proxies
    monkeypatch.setattr(limits, "TRIES", 3)
    seen = ", ".join(["192.0.2.7", "10.9.9.9"][:proxies])
    answers = [
        log_in(client, "bo", "wrong", HTTP_X_FORWARDED_FOR=", ".join(filter(None, [f"10.0.0.{number}", seen])))
        for number in range(4)
    ]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [(0, "192.0.2.7", "127.0.0.1"), (1, "192.0.2.7", "192.0.2.7"), (1, "10.0.0.1, 192.0.2.7", "192.0.2.7"),
     (2, "10.0.0.1, 192.0.2.7, 10.9.9.9", "192.0.2.7"), (2, "192.0.2.7", "127.0.0.1"), (1, "", "127.0.0.1")],
)  # fmt: skip
def test_the_address_is_what_trusted_proxies_saw(rf, settings, proxies, forwarded, expected):
    settings.TRUSTED_PROXIES = proxies
    assert client_address(rf.get("/", headers={"X-Forwarded-For": forwarded})) == expected


def test_without_redis_one_can_log_in_at_once(client, bo, settings, tmp_path):
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": f"unix://{tmp_path}/nobody.sock"}}
    begun = time.monotonic()
    assert log_in(client, "bo", "wrong").status_code == 422
    assert log_in(client, "bo", "own-secret-9").status_code == 302
    assert time.monotonic() - begun < 2


def test_logging_out_takes_a_button(client, bo):
    client.force_login(bo)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get(reverse("benchmark-list")).status_code == 302


def test_the_login_page_is_not_kept(client):
    assert "no-store" in client.get(reverse("login"))["Cache-Control"]


def test_who_is_limited_is_not_even_looked_up(client, ana, monkeypatch):
    for _ in range(limits.TRIES):
        log_in(client, "ana", "wrong")
    monkeypatch.setattr(accounts_views.AuthenticationForm, "clean", lambda form: pytest.fail("the password was tried"))
    assert log_in(client, "ana", GIVEN).status_code == 429
