"""The pages of annotators in a real Chromium: by keyboard, without script, at both sizes, clean of axe's rules."""

from playwright.sync_api import expect

from annotation.models import Annotator
from benchmarks.models import Event
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import cohorts


def test_from_the_table_to_the_evidence_to_a_decision(visit, page, open_page, axe_violations):
    """By keyboard, then without script. Each page fits and breaks no rule of axe (the first: test_plots.py)."""
    study = cohorts.study(("honest", "honest", "honest", "always left"), judgments=20)[0].study
    visit(page, f"/studies/{study.pk}/annotators/?stage=1")
    tab_to(page, page.get_by_role("link", name="one place"))
    enter(page)
    expect(page.get_by_text("picked place 1 in 100%").first).to_be_visible()
    tab_to(page, page.get_by_label("Reason"))
    page.keyboard.type("A pilot of ours")
    page.keyboard.press("Tab")
    enter(page)
    expect(page.get_by_text("A-04 is kept. The reason has been stored.")).to_be_visible()
    assert Event.objects.get(verb="kept").data["reason"] == "A pilot of ours"
    assert (flaws(page, axe_violations), page.errors) == ([], [])

    page = visit(open_page(java_script_enabled=False), f"/studies/{study.pk}/annotators/")
    page.get_by_role("link", name="annotator", exact=True).click()
    expect(page.locator("tbody th").first).to_contain_text("A-01")
    page.get_by_role("link", name="annotator", exact=True).click()
    expect(page.locator("tbody th").first).to_contain_text("A-04")
    page.get_by_role("link", name="A-04", exact=True).click()
    page.get_by_label("Reason").fill("Always the first image")
    page.get_by_role("button", name="Exclude A-04").click()
    expect(page.get_by_text("A-04 has been excluded")).to_be_visible()
    assert Annotator.objects.get(number=4).exclusion_reason == "Always the first image"
