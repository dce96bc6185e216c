"""What only a browser shows of logging in: passkeys, with Chromium's virtual authenticator, and the way to a provider
and back, which the Content-Security-Policy would stop if it were a form's redirect."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from playwright.sync_api import Page, expect

from benchmarks.models import Event
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import oidc

PASSWORD = "cups-and-saucers"
DEVICE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()


def press(page: Page, name: str, role: str = "button") -> None:
    """By keyboard."""
    tab_to(page, page.get_by_role(role, name=name, exact=True))
    page.keyboard.press("Enter")


def test_a_passkey_is_added_and_logs_in_alone_and_as_second_factor(site, page, sign_in, axe_violations):
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    added = device.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]
    ana = User.objects.create_user("ana", password=PASSWORD, is_staff=True, last_login="2026-01-01T00:00Z")
    sign_in(page, ana)
    page.goto(f"{site}/account/")
    press(page, "Set up an authenticator app", "link")
    expect(page.get_by_label("Password")).to_be_visible()
    assert flaws(page, axe_violations) == []
    page.keyboard.insert_text(PASSWORD)
    enter(page)
    expect(page.get_by_label("Key")).to_be_visible()
    assert flaws(page, axe_violations) == []

    page.goto(f"{site}/account/passkeys/add/")
    assert flaws(page, axe_violations) == []
    page.keyboard.type("Laptop")
    enter(page)
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert flaws(page, axe_violations) == []
    press(page, "Your account", "link")
    expect(page.get_by_text("Laptop")).to_be_visible()
    assert flaws(page, axe_violations) == []

    press(page, "Log out")
    page.wait_for_url("**/login/")
    device.send("WebAuthn.setUserVerified", {"authenticatorId": added, "isUserVerified": False})
    press(page, "Use a passkey")
    expect(page.get_by_role("alert")).to_have_text("The passkey was not used. Try again.")
    device.send("WebAuthn.setUserVerified", {"authenticatorId": added, "isUserVerified": True})
    press(page, "Use a passkey")
    expect(page).to_have_url(f"{site}/studies/")

    press(page, "Log out")
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(PASSWORD)
    enter(page)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    assert flaws(page, axe_violations) == []
    press(page, "Use a passkey")
    expect(page).to_have_url(f"{site}/studies/")
    logins = Event.objects.filter(verb="logged in").order_by("pk")
    assert [event.data["ways"] for event in logins] == [["webauthn"], ["password", "webauthn"]]
    assert page.errors == []


def test_the_way_to_a_provider_and_back(site, page, settings, tmp_path, axe_violations):
    with oidc.running(tmp_path) as provider:
        settings.PROVIDERS = provider.configured()
        provider.set(claims={"groups": ["lab"]}, redirect_uri=f"{site}/login/provider/lab/callback/")
        page.goto(f"{site}/benchmarks/")
        assert flaws(page, axe_violations) == []
        press(page, "Log in through Lab")
        expect(page).to_have_url(f"{site}/benchmarks/")
        page.goto(f"{site}/account/")
        expect(page.get_by_text("You can log in through Lab.")).to_be_visible()
        assert page.errors == []
