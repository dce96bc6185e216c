"""The pages by which managers come in, in a real browser: by keyboard, at both sizes, clean of axe's rules."""

import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from playwright.sync_api import Route, expect

from annotation.models import Stage
from annotation.studies import lifecycle
from benchmarks.accounts import limits
from tests.browser.looking import enter, flaws, in_windows, tab_to
from tests.builders import studies

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


def in_one_language() -> Stage:
    """Without translations, about which saving a new text would ask."""
    stage = studies.stage(items=1)
    lifecycle.revise_instructions(stage=stage, text="Look.", translations={}, by="test")
    return stage


def test_what_was_typed_when_the_session_ended_is_in_its_form_after_the_login_of_the_same_user(site, page, sign_in):
    ana, bea = (User.objects.create_superuser(name, password=OWN) for name in ("ana", "bea"))
    stage, rule = in_one_language(), "A rule that took long to write."
    address, field = f"{site}/studies/{stage.study_id}/settings/instructions/?stage=1", page.locator("#id_text")

    def lose_it() -> None:
        sign_in(page, ana)
        page.goto(address)
        field.fill(rule)
        page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
        page.get_by_role("button", name="Save as a new version").click()
        expect(page).to_have_url(re.compile("/login/"))

    lose_it()
    sign_in(page, bea)
    page.goto(address)
    expect(field).not_to_have_value(rule)
    lose_it()
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(OWN)
    enter(page)
    expect(field).to_have_value(rule)
    expect(page.get_by_text("This is what you typed before. It is not saved yet.")).to_be_visible()
    page.get_by_role("button", name="Save as a new version").click()
    expect(page).to_have_url(re.compile(r"/studies/\d+/stages/1/$"))
    assert stage.instructions.latest("version").text == rule
    page.wait_for_function("() => !Object.keys(sessionStorage).some(name => name.startsWith('winnow-typed:'))")


@pytest.mark.parametrize("lost", ["refused", "no answer of ours"])
def test_what_was_typed_stays_until_the_server_has_saved_it(site, page, sign_in, lost):
    sign_in(page, User.objects.create_superuser("ana", password=OWN))
    stage, rule = in_one_language(), "A rule that took long to write."
    address, field = f"{site}/studies/{stage.study_id}/settings/instructions/?stage=1", page.locator("#id_text")
    page.goto(address)
    field.fill(rule)

    def lose(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
        elif lost == "refused":
            route.abort("connectionrefused")
        else:
            route.fulfill(status=502, body="<h1>Bad gateway</h1>", content_type="text/html")

    page.route("**/instructions/*", lose)
    save = page.get_by_role("button", name="Save as a new version")
    save.click()
    expect(save).to_be_hidden()
    for leave in (False, True):  # nor is what a preview has in its form saved
        page.goto(address)
        expect(field).to_have_value(rule)
        expect(page.get_by_text("This is what you typed before. It is not saved yet.")).to_be_visible()
        page.unroute("**/instructions/*")
        if not leave:
            page.get_by_role("button", name="Preview").click()
            expect(page.get_by_role("heading", name="Preview: not saved yet")).to_be_visible()
    save.click()
    expect(page).to_have_url(re.compile(r"/studies/\d+/stages/1/$"))
    assert stage.instructions.latest("version").text == rule
    page.wait_for_function("() => !Object.keys(sessionStorage).some(name => name.startsWith('winnow-typed:'))")
    assert not [one for one in page.context.cookies() if one["name"].startswith("winnow-typed")]
    page.errors.clear()


def test_a_refused_form_gets_its_text_back_and_is_stopped_if_somebody_else_saved_meanwhile(
    site, page, sign_in, axe_violations
):
    sign_in(page, User.objects.create_superuser("ana", password=OWN))
    stage, rule = in_one_language(), "A rule that took long to write."
    page.goto(f"{site}/studies/{stage.study_id}/settings/instructions/?stage=1")
    page.locator("#id_text").fill(rule)
    page.locator("main [name=csrfmiddlewaretoken]").first.evaluate("field => (field.value = 'x'.repeat(64))")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("heading", name="This page was out of date")).to_be_visible()
    lifecycle.revise_instructions(stage=stage, text="The first one’s rule.", by="test")
    page.get_by_role("link", name="Back to the page").click()
    expect(page.locator("#id_text")).to_have_value(rule)
    page.get_by_role("button", name="Save as a new version").click()
    for _ in in_windows(page):
        expect(page.locator("#problems")).to_be_focused()
        for words in ("so yours was not saved", "The first one’s rule."):
            expect(page.locator("main").get_by_text(words).first).to_be_in_viewport()
    assert flaws(page, axe_violations) == []
    expect(page.locator("#id_text")).to_have_value(rule)
    page.errors.clear()
