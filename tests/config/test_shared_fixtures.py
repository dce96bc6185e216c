"""The fixtures that other tests stand on."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from tests.conftest import clear_page


def test_static_files_are_served_to_the_browser(site, page):
    answer = page.goto(f"{site}/static/css/base.css")
    assert answer.status == 200
    assert "text/css" in answer.headers["content-type"]


def test_the_accessibility_rules_find_a_fault(page, axe_violations):
    page.set_content("<html lang='en'><title>x</title><main><h1>x</h1><img src='data:,'></main>")
    assert any(line.startswith("image-alt") for line in axe_violations(page))


@pytest.mark.parametrize(
    "pale", ["<td style='color: #ddd'>pale</td>", "<tr style='background: #444'><td>dim</td></tr>"]
)
def test_contrast_is_looked_at_in_the_one_text_that_is_drawn_otherwise(page, axe_violations, pale):
    cells = "<tr><td>clear</td></tr>" * 9
    page.set_content(f"<html lang='en'><title>x</title><main><h1>x</h1><table>{cells}{pale}{cells}</table></main>")
    found = [line for line in axe_violations(page) if line.startswith("color-contrast")]
    assert len(found) == 1 and ("pale" in found[0] or "dim" in found[0])
    assert page.locator("[data-alike]").count() == 0


def test_a_page_collects_its_errors(page):
    page.set_content("<p>x</p>")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('planted') })")
    assert any("planted" in error for error in page.errors)


@pytest.mark.django_db
def test_the_client_is_logged_in_as_djangos_is(client):
    found = []
    for reader in (Client(), client):
        user = User.objects.create_user("ana", password="x")
        reader.force_login(user)
        session = reader.session
        user.refresh_from_db()
        assert user.last_login and len(session.session_key) == 32 and session["_auth_user_id"] == str(user.pk)
        assert session["_auth_user_hash"] == user.get_session_auth_hash()
        found.append((sorted(session.keys()), {**reader.cookies["sessionid"], "expires": ""}))
        user.delete()
    assert found[0] == found[1]


def test_files_go_to_a_place_of_their_own(tmp_path):
    assert tmp_path in settings.MEDIA_ROOT.parents


def test_a_page_that_is_used_again_has_nothing_of_the_test_before(site, page):
    page.goto(f"{site}/login/")
    page.evaluate("localStorage.left = sessionStorage.left = document.cookie = 'left=1'")
    page.context.new_page()
    page.route("**/login/", lambda route: route.abort())
    page.context.set_offline(True)
    clear_page(page)
    page.goto(f"{site}/login/")
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert not any(cookie["name"] == "left" for cookie in page.context.cookies()) and len(page.context.pages) == 1


def test_dark_and_phone(open_page):
    page = open_page(width=390, height=844, dark=True)
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches && innerWidth == 390")
