"""Whoever ends a batch and is given the next one sees how far they are, without loading the page anew."""

import re

from playwright.sync_api import expect

from annotation.models import Strategy
from tests.browser.looking import in_windows, outside


def test_sheets_stay_in_the_window_and_the_next_batch_counts(sit):
    desk = sit(items=4, strategy=Strategy.BATCHES, batch_size=2).at_desk()
    for name in ("flag", "cannot"):
        desk.page.locator(f"#{name} summary").click()
        for _ in in_windows(desk.page, (1366, 768, "light"), (1000, 768, "light")):
            assert outside(desk.page, [f"#{name} .sheet", f"#{name} textarea"]) == []
        desk.press("Escape")
    expect(desk.page.locator("#total")).to_have_text("2")
    for done in (1, 2):
        desk.press("1", "Enter").counts(done).says("saved")
    expect(desk.page.locator("#total")).to_have_text("4")
    desk.press("1", "Enter").counts(3)
    expect(desk.page).to_have_title(re.compile(r"^3 of 4 · "))
