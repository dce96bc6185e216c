"""The pages by which managers come in, in a real browser: by keyboard, at both sizes, clean of axe's rules."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from playwright.sync_api import expect

from benchmarks.accounts import limits
from tests.browser.looking import enter, flaws, tab_to

pytestmark = pytest.mark.django_db(transaction=True)
GIVEN, OWN = "given-by-somebody-else", "a-secret-of-my-own"


def test_a_manager_waits_after_too_many_attempts_and_then_chooses_a_password(site, page, axe_violations, monkeypatch):
    cache.clear()
    monkeypatch.setattr(limits, "_clock", lambda: (27_000_000, 40))
    User.objects.create_user("ana", password=GIVEN, is_staff=True)
    page.goto(f"{site}/login/")
    monkeypatch.setattr(limits, "TRIES", 0)
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.insert_text(GIVEN)
    enter(page)
    expect(page.get_by_role("alert")).to_have_text("Too many attempts. Try again in 20 seconds.")
    expect(page.get_by_label("Name")).to_have_value("ana")
    assert flaws(page, axe_violations, "[role=alert]") == []  # the rest of the page: test_passkeys.py

    monkeypatch.setattr(limits, "TRIES", 10)
    tab_to(page, page.get_by_label("Password"))
    page.keyboard.insert_text(GIVEN)
    enter(page)
    expect(page.get_by_role("heading", name="Choose a password")).to_be_visible()
    assert flaws(page, axe_violations) == []
    for label in ("New password", "Repeat password"):
        tab_to(page, page.get_by_label(label))
        page.keyboard.insert_text(OWN)
    enter(page)
    expect(page).to_have_url(f"{site}/studies/")
    assert [one for one in page.errors if "429" not in one] == []
