"""A second factor: set up after the password, asked for at every login, replaced by recovery codes, removed."""

import json
import time
from urllib.parse import urlencode

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from fido2.utils import websafe_encode

from benchmarks.models import Event

pytestmark = pytest.mark.django_db
PASSWORD = "cups-and-saucers"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
DEEP = "[" * 100_000


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()


@pytest.fixture
def ana(client) -> User:
    user = User.objects.create_user("ana", password=PASSWORD, is_staff=True, last_login="2026-01-01T00:00Z")
    client.force_login(user)
    return user


@pytest.fixture
def app(ana) -> str:
    """Ana has an authenticator app; its key."""
    auth.TOTP.activate(ana, SECRET)
    return SECRET


def code(secret: str, steps: int = 0) -> str:
    return auth.format_hotp_value(auth.hotp_value(secret, int(time.time()) // 30 + steps))


def enter(password: str = PASSWORD) -> tuple[Client, str]:
    """A browser after the password, and where it is sent."""
    made = Client()
    answer = made.post(reverse("login"), {"username": "ana", "password": password, "next": "/benchmarks/"})
    return made, answer.url


def is_logged_in(client) -> bool:
    return client.get(reverse("account")).status_code == 200


def confirmed(client, address: str):
    """The page, after entering the password that it asks for."""
    asked = client.get(address)
    assert asked.url.startswith(reverse("account_reauthenticate"))
    wrong = client.post(asked.url, {"password": "wrong"})
    assert "The password is wrong." in wrong.text
    return client.get(client.post(asked.url, {"password": PASSWORD}).url)


@pytest.mark.parametrize("next", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"])
def test_nobody_is_led_elsewhere_after_entering_the_password(client, ana, next):
    address = reverse("account_reauthenticate")
    assert client.post(address, {"password": PASSWORD, "next": next}).url == reverse("study-list")
    assert client.post(f"{address}?{urlencode({'next': next})}", {"password": PASSWORD}).url == reverse("study-list")


def test_an_app_is_set_up_with_its_first_code_and_gives_recovery_codes(client, ana):
    page = confirmed(client, reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    assert secret in page.text and "data:image/svg+xml" in page.text
    refused = client.post(reverse("mfa_activate_totp"), {"code": code(secret, 100)})
    assert "Incorrect code." in refused.text and not Authenticator.objects.exists()
    answer = client.post(reverse("mfa_activate_totp"), {"code": code(secret)})
    codes = client.get(answer.url).context["unused_codes"]
    assert len(codes) == 10
    page = client.get(reverse("account")).text
    assert "10 left" in page and "Authenticator app" in page
    verbs = Event.objects.filter(verb="added a second factor").values_list("by", flat=True)
    assert set(verbs) == {f"user:{ana.pk}"}


def test_a_login_takes_the_code_and_each_code_works_once(client, ana, app):
    browser, address = enter()
    assert address == reverse("mfa_authenticate") and not is_logged_in(browser)
    assert "Incorrect code." in browser.post(address, {"code": code(app, 100)}).text
    assert not is_logged_in(browser)
    now = code(app)
    assert browser.post(address, {"code": now}).url == "/benchmarks/" and is_logged_in(browser)
    again, address = enter()
    again.post(address, {"code": now})
    assert not is_logged_in(again)
    assert Event.objects.get(verb="logged in").data["ways"] == ["password", "totp"]


def test_a_recovery_code_works_once_instead(client, ana, app):
    confirmed(client, reverse("mfa_generate_recovery_codes"))
    client.post(reverse("mfa_generate_recovery_codes"))
    one = client.get(reverse("mfa_view_recovery_codes")).context["unused_codes"][0]
    for works in (True, False):
        browser, address = enter()
        browser.post(address, {"code": one})
        assert is_logged_in(browser) == works


def test_codes_cannot_be_guessed(client, ana, app):
    """After five wrong codes the account accepts none for five minutes, from any browser."""
    for number in range(6):
        browser, address = enter()
        page = browser.post(address, {"code": code(app, 100 + number)}).text
    assert "Too many attempts." in page
    browser, address = enter()
    browser.post(address, {"code": code(app)})
    assert not is_logged_in(browser)


@pytest.mark.parametrize("password, asked", [("wrong", False), (PASSWORD, True)])
def test_the_code_is_asked_for_only_after_the_password(client, ana, app, password, asked):
    browser = Client()
    browser.post(reverse("login"), {"username": "ana", "password": password})
    assert (browser.get(reverse("mfa_authenticate")).status_code == 200) == asked


def test_a_password_given_anew_still_needs_the_code(client, ana, app):
    """As for somebody who persuades an admin to reset a password."""
    User.objects.update(last_login=None)
    browser, address = enter()
    own = "plates-and-bowls"
    answer = browser.post(address, {"new_password1": own, "new_password2": own})
    assert answer.url == reverse("mfa_authenticate") and not is_logged_in(browser)
    browser.post(answer.url, {"code": code(app)})
    assert is_logged_in(browser)


def test_an_app_is_removed_on_the_page_or_by_an_admin(client, ana, app, capsys):
    confirmed(client, reverse("mfa_deactivate_totp"))
    client.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.exists()
    auth.TOTP.activate(ana, SECRET)
    call_command("remove_second_factor", "ana")
    browser, _ = enter()
    assert is_logged_in(browser)
    by = Event.objects.filter(verb__startswith="removed").order_by("pk").values_list("by", flat=True)
    assert list(by) == [f"user:{ana.pk}", "command"]


def test_every_page_asks_a_passkey_to_verify_its_owner(client, ana, app):
    """Otherwise a stolen key could answer a challenge for one's own second factor without its PIN, and log in alone."""
    browser, address = enter()
    browser.get(address)
    confirmed(client, reverse("mfa_add_webauthn"))
    for one in (browser, client):
        assert one.session[STATE_SESSION_KEY]["user_verification"] == "required"


def credential(**response: bytes) -> str:
    """As a browser sends it."""
    client = b'{"type": "webauthn.get", "challenge": "AA", "origin": "https://testserver"}'
    parts = {name: websafe_encode(part) for name, part in {"clientDataJSON": client, **response}.items()}
    return json.dumps({"id": "eA", "rawId": "eA", "type": "public-key", "response": parts})


CUT_OFF = credential(authenticatorData=bytes(32) + b"\x80" + bytes(4), signature=b"s")  # its extensions are missing


def test_a_passkey_that_is_none_logs_nobody_in(client):
    for wrong in ("", "{}", "5", "[]", '{"id": "x"}', '{"response": {"userHandle": "AA"}}', "{", DEEP, CUT_OFF):
        answer = client.post(reverse("mfa_login_webauthn"), {"credential": wrong})
        assert answer.status_code == 302 and answer.url == reverse("login"), wrong


def test_a_passkey_that_is_none_is_not_added(client, ana):
    confirmed(client, reverse("mfa_add_webauthn"))
    cut_off = [credential(attestationObject=part) for part in (b"\xa3", b"\x19", b"\x81" * 3000)]
    for wrong in ("", "{}", "5", '{"id": "x", "rawId": "x", "type": "public-key"}', DEEP, *cut_off):
        assert client.get(reverse("mfa_add_webauthn")).status_code == 200  # its challenge
        answer = client.post(reverse("mfa_add_webauthn"), {"name": "x", "credential": wrong, "passwordless": "on"})
        assert answer.status_code == 200 and not Authenticator.objects.exists(), wrong
