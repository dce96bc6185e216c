"""Where one is logged in: listed on the account page, and ended."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from benchmarks.accounts.sessions import browser_name
from benchmarks.models import Event

pytestmark = pytest.mark.django_db
PASSWORD = "cups-and-saucers"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/18.4 Safari/605.1"
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0"


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana", password=PASSWORD, is_staff=True, last_login="2026-01-01T00:00Z")


def browser(name: str = "ana", agent: str = FIREFOX, **environ) -> Client:
    made = Client(headers={"User-Agent": agent}, **environ)
    made.post(reverse("login"), {"username": name, "password": PASSWORD})
    return made


def is_logged_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def listed(client: Client) -> list:
    return client.get(reverse("account")).context["sessions"]


def test_the_page_lists_each_browser_with_its_address(ana, settings):
    settings.TRUSTED_PROXIES = 1
    here = browser()
    other = browser(agent=EDGE, HTTP_X_FORWARDED_FOR="10.0.0.1, 192.0.2.7")
    assert [(one.browser, one.ip) for one in listed(here)] == [
        ("Edge on Windows", "192.0.2.7"),
        ("Firefox on Linux", "127.0.0.1"),
    ]
    other.post(reverse("logout"))
    assert [one.browser for one in listed(here)] == ["Firefox on Linux"]
    Session.objects.update(expire_date="2026-01-01T00:00Z")
    assert not is_logged_in(here)


def test_one_session_is_ended_or_all_others(ana):
    here, first, second, third = (browser() for _ in range(4))
    here.post(reverse("sessions-end"), {"session": listed(first)[2].pk})
    assert [is_logged_in(one) for one in (here, first, second, third)] == [True, False, True, True]
    here.post(reverse("sessions-end"))
    assert [is_logged_in(one) for one in (here, second, third)] == [True, False, False]
    ended = Event.objects.filter(verb="ended sessions").order_by("pk")
    assert [event.data["sessions"] for event in ended] == [1, 2]


def test_nobody_ends_the_session_of_another(ana):
    User.objects.create_user("bo", password=PASSWORD, is_staff=True, last_login="2026-01-01T00:00Z")
    here, other = browser(), browser("bo")
    for named in (listed(other)[0].pk, "x", "9" * 30, "-1"):
        here.post(reverse("sessions-end"), {"session": named})
    assert is_logged_in(other) and is_logged_in(here)


def test_a_changed_password_ends_the_others_and_keeps_this_one_listed(ana):
    here, other = browser(), browser()
    new = "plates-and-bowls"
    fields = {"save": "password", "old_password": PASSWORD, "new_password1": new, "new_password2": new}
    here.post(reverse("account"), fields)
    assert not is_logged_in(other)
    assert [one.session_key for one in listed(here)] == [here.session.session_key]


@pytest.mark.parametrize(
    ("agent", "name"),
    [(FIREFOX, "Firefox on Linux"),
     (SAFARI, "Safari on macOS"),
     (EDGE, "Edge on Windows"),
     ("curl/8", "Unknown browser"), ("", "Unknown browser")],
)  # fmt: skip
def test_browsers_have_names(agent, name):
    assert browser_name(agent) == name
