"""Trying a stage in a real browser: the judging page's own script, by keyboard, to what would have been stored."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgment, Lease
from tests.browser.conftest import press
from tests.browser.looking import flaws, in_windows, outside
from tests.builders import every_protocol, pictures, studies


@pytest.mark.parametrize(
    ("protocol", "keys"), [("bivlc-choose", "2"), pytest.param("sugarcrepe-compare", "12", marks=pytest.mark.nightly)]
)
def test_a_stage_is_tried_by_keyboard(visit, page, axe_violations, protocol, keys):
    stage = studies.stage(benchmark=every_protocol.benchmark(items=6), protocol=protocol, state="paused")
    pictures.paint(stage.study)
    visit(page, f"/studies/{stage.study_id}/stages/1/")
    page.get_by_role("link", name="Try it").click()
    assert flaws(page, axe_violations) == []
    page.get_by_role("link", name="Start").press("Enter")
    expect(page.locator("#desk.ready")).to_be_visible()
    assert flaws(page, axe_violations, ".status") == []
    for _ in in_windows(page):
        assert outside(page) == []
        expect(page.get_by_text("Nothing you answer here is stored.")).to_be_in_viewport()

    def answer(done: int) -> None:
        press(page, *keys, "Enter")
        expect(page.locator("#done")).to_have_text(str(done))
        expect(page.locator("#chip")).to_have_text("saved")

    answer(1)
    page.keyboard.press("u")
    expect(page.locator("#done")).to_have_text("0")
    for done in range(1, 4):
        answer(done)
    page.reload()
    expect(page.locator("#done")).to_have_text("3")
    page.keyboard.press("Shift+S")
    expect(page.locator("#say")).to_contain_text("Skipped")
    press(page, *keys, "Enter")
    expect(page.get_by_role("heading", name="What would have been stored")).to_be_visible()
    assert page.locator("tbody tr").count() == 5 and page.get_by_text("not answered").count() == 1
    assert flaws(page, axe_violations) == []
    assert page.errors == [] and not Lease.objects.exists() and not Judgment.objects.exists()
