"""The pages of people in a real Chromium: by keyboard, without script, at both sizes, clean of axe's rules."""

from playwright.sync_api import expect

from annotation.models import Annotator
from benchmarks.models import Event
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import cohorts


def test_from_a_sign_to_its_screens_and_to_the_decision(visit, page, open_page, axe_violations):
    """By keyboard, then without script. Each page fits and breaks no rule of axe."""
    study = cohorts.study(("honest", "honest", "honest", "always left"), judgments=20)[0].study
    visit(page, f"/studies/{study.pk}/people/")
    assert (flaws(page, axe_violations), page.errors) == ([], [])
    link = page.locator(".evi a[href*='show=side']")
    count = link.inner_text().split()[0]
    tab_to(page, link)
    enter(page)
    expect(page.locator(".shown [aria-current]")).to_have_text(f"most-picked position {count}")
    assert (flaws(page, axe_violations), page.errors) == ([], [])
    tab_to(page, page.get_by_label("Reason"))
    page.keyboard.type("A pilot of ours")
    page.keyboard.press("Tab")
    enter(page)
    expect(page.get_by_text("A-04 is kept. The reason has been stored.")).to_be_visible()
    assert Event.objects.get(verb="kept").data["reason"] == "A pilot of ours"

    page = visit(open_page(java_script_enabled=False), f"/studies/{study.pk}/people/")
    page.get_by_role("link", name="person", exact=True).click()
    expect(page.locator("tbody th").first).to_contain_text("A-01")
    page.locator("summary", has_text="Evidence and decision of A-04").click()
    page.get_by_label("Reason").fill("Always the first image")
    page.get_by_role("button", name="Exclude A-04").click()
    expect(page.get_by_text("A-04 has been excluded")).to_be_visible()
    assert Annotator.objects.get(number=4).exclusion_reason == "Always the first image"
