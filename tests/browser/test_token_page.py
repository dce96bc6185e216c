"""The page of one's own API token in a real browser: by keyboard, at both sizes, clean of axe's rules. A token is
copied, and gone when one comes back."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from rest_framework.authtoken.models import Token

from tests.browser.looking import enter, flaws, tab_to


@pytest.fixture
def ana(site) -> User:
    return User.objects.create_user("ana", is_staff=True)


def test_a_token_is_made_renewed_copied_and_revoked_by_keyboard(site, ana, sign_in, page, axe_violations):
    sign_in(page, ana)
    page.goto(f"{site}/studies/")
    for name in ("ana", "Manage your token"):
        tab_to(page, page.get_by_role("link", name=name))
        page.keyboard.press("Enter")
    expect(page.get_by_text("You have no token.")).to_be_visible()
    for press, says in (
        ("Create a token", "Copy it now"),
        ("Create a new token", "Copy it now"),
        ("Copy", "Copied."),
        (None, "Only its digest is stored"),
        ("Revoke token", "You have no token."),
    ):
        if press == "Copy":
            tab_to(page, page.get_by_role("button", name=press))
            page.keyboard.press("Enter")
        elif press:
            tab_to(page, page.get_by_role("button", name=press))
            enter(page)  # two pages in a row say the same
        else:
            page.goto(f"{site}/token/")
            assert page.get_by_label("Your new token").count() == 0
        expect(page.get_by_text(says)).to_be_visible()
        assert press != "Copy" or flaws(page, axe_violations) == []
    assert page.errors == [] and not Token.objects.exists()
