"""The page of checks and practice in a real browser."""

import pytest
from playwright.sync_api import expect

from annotation.models import Kind
from tests.annotation.checks.test_attention_checks import with_checks
from tests.annotation.checks.test_qualification import QUESTIONS
from tests.browser.looking import enter, flaws
from tests.builders.pictures import paint, paint_benchmark


@pytest.fixture
def stage(site):
    made, checks = with_checks(known=3, items=3, comprehension=QUESTIONS)
    paint_benchmark(checks[0].item.benchmark)
    paint(made.study)
    return made


def test_checks_are_added_and_removed_by_keyboard(page, visit, stage, axe_violations):
    """The page with everything open breaks no rule of accessibility and fits."""
    visit(page, f"/studies/{stage.study_id}/settings/checks/1/")
    page.get_by_role("link", name="Pick checks").focus()
    enter(page)
    expect(page.get_by_text("Items that you pick leave the study: 3 are left.")).to_be_visible()
    page.get_by_role("button", name="Right: candidate 1 of item-0").focus()
    enter(page)
    expect(page.get_by_text("Items that you pick leave the study: 2 are left.")).to_be_visible()
    expect(page.locator("#item-" + str(stage.study.benchmark.items.get(key="item-0").pk))).to_be_in_viewport()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert flaws(page, axe_violations) == []
    page.get_by_role("link", name="Checks and practice of").focus()
    enter(page)
    page.locator("input[name=task]").first.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Remove selected").first.focus()
    enter(page)
    expect(page.get_by_text("Removed 1, retired 0.")).to_be_visible()
    assert stage.tasks.filter(kind=Kind.CHECK).count() == 3
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert (flaws(page, axe_violations), page.errors) == ([], [])
