"""Questions and practice in a real browser: by keyboard alone, without script, within the accessibility rules."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from annotation.checks import qualification
from annotation.models import Kind
from annotation.screens import read_answer
from tests.annotation.checks.test_qualification import QUESTIONS, stage_with
from tests.browser.looking import fits, flaws, in_windows
from tests.builders import pictures, studies


@pytest.fixture
def stage(site):
    made = stage_with(practice_items=2, comprehension=QUESTIONS, items=3)
    source = made.tasks.filter(kind=Kind.PRACTICE).first().item.benchmark
    for benchmark in (made.study.benchmark, source):
        pictures.paint(SimpleNamespace(benchmark=benchmark))
    return made


def right_key(annotator, stage):
    step = qualification.step(annotator=annotator, stage=stage)
    return read_answer.place_on_screen(step.lease, "candidate-1")


def test_by_keyboard_alone_and_nothing_runs_over_the_edge(page, site, stage, axe_violations):
    annotator = studies.annotator(stage.study)
    page.goto(f"{site}/judge/{annotator.token}/")
    assert axe_violations(page) == [] and all(fits(page) for _ in in_windows(page))
    page.locator("summary").focus()
    for presses in (["Tab", "ArrowDown"], ["Tab", "Space"]):  # the second option of the first, the first of the second
        for key in presses:
            page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Practice 1 of 2")
    assert axe_violations(page) == [] and all(fits(page) for _ in in_windows(page))
    for right in (True, False):
        page.keyboard.press(right_key(annotator, stage) if right else "n")
        page.keyboard.press("Enter")
        page.wait_for_selector("#feedback")
        assert page.locator("#feedback strong").inner_text() == ("Right." if right else "Wrong.")
        assert right or flaws(page, axe_violations, "#feedback") == []
        picture = page.locator(".card-place img").first
        picture.wait_for()  # laid out again after another window
        assert picture.bounding_box()["width"] > 100
        page.keyboard.press("Enter")
        page.wait_for_function("() => !document.getElementById('feedback')")
        page.wait_for_load_state()  # with its pictures: before, no answer is taken
    page.wait_for_selector("text=Right answers: 1 of 2; you need 2.")
    assert page.errors == []


def test_without_script(open_page, site, stage):
    annotator = studies.annotator(stage.study)
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{annotator.token}/")
    page.get_by_label("content").check()
    page.get_by_label("none").check()
    page.get_by_role("button", name="Send my answers").click()
    for _ in range(2):
        page.wait_for_load_state()  # with its styles: a forced check does not wait to see its button
        page.locator(f"input[name=answer][value='{right_key(annotator, stage)}']").check(force=True)
        page.get_by_role("button", name="Answer").click()
        page.get_by_role("button", name="Continue").click()
    expect(page.locator("#desk[data-done='0']")).to_have_count(1)
