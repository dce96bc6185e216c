"""The page of a human baseline in a browser, in every window: nothing is in the way of anyone."""

from tests.annotation.dashboard.test_human_baseline_page import address, answered
from tests.browser.looking import flaws


def test_axe_finds_nothing(page, visit, axe_violations):
    study = answered(items=6, people=2, batch_items=3)
    visit(page, address(study))
    page.locator("details summary").first.click()
    assert (flaws(page, axe_violations), page.errors) == ([], [])
