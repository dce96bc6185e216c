"""Judging in other languages, in a real Chromium: longer words and the other direction fit; scripts speak them too."""

import pytest
from playwright.sync_api import expect

from tests.browser.looking import fits, in_windows
from tests.builders import declared, pictures, ranking_screens, studies

OUTSIDE = """() => [...document.querySelectorAll('.tool, .walk > *, .status > *, .choice, #submit, .put, .prompt')]
  .map((part) => [part.textContent.trim(), part.getBoundingClientRect()])
  .filter(([, { left, right, width }]) => width && (left < 0 || right > innerWidth)).map(([words]) => words)"""
BOTH = {
    "winnow": "protocol/1", "name": "both", "title": "Both", "ask": "Which, and how well?", "instructions": "Look.",
    "item": {"images": {"scene": 1}, "captions": {"option": 20}}, "screen": [{"picture": "scene"}],
    "answers": [
        {"name": "fit", "ask": "Which?", "kind": "pick", "of": "captions.option"},
        {"name": "how", "ask": "How well?", "kind": "scale", "points": "0..100",
         "anchors": {"0": "Not at all", "50": "Only in some of its parts", "100": "Completely"}},
    ],
}  # fmt: skip
BELOW = """() => {
  const { top } = document.querySelector('.typing > p').getBoundingClientRect();
  return [...document.querySelectorAll('.in-places > span')].every((one) => one.getBoundingClientRect().bottom <= top);
}"""
MADE = {"pictures": pictures.desk, "ranking": ranking_screens.ranking}


@pytest.mark.parametrize("made", ["pictures", pytest.param("ranking", marks=pytest.mark.nightly)])
def test_every_language_fits_both_windows(sit, axe_violations, made):
    desk = sit(annotator=MADE[made]())
    for language in ("es", "de", "zh-hans", "eu", "ar"):
        desk.annotator.language = language
        desk.annotator.save()
        desk.open()
        for window in in_windows(desk.page):
            assert (desk.page.evaluate(OUTSIDE), fits(desk.page)) == ([], True), (language, window)
    assert axe_violations(desk.page) == [] and desk.page.errors == []


def test_another_language_is_chosen_and_the_scripts_speak_it(sit):
    desk = sit(annotator=pictures.desk())
    desk.page.goto(f"{desk.home}?rules")
    desk.page.get_by_label("Language").select_option("es")
    desk.page.get_by_role("button", name="Change").click()
    desk.at_desk().press("Enter")
    expect(desk.page.locator("#say")).not_to_contain_text("Pick an answer")
    desk.told("Elige primero una respuesta").press("1", "Enter").counts(1).says("guardado")


def test_back_is_to_the_right_where_pages_are_read_from_there(sit):
    desk = sit(annotator=studies.annotator(pictures.paint(studies.study(items=3)), language="ar"))
    back = desk.page.locator("#back")
    assert (back.inner_text(), back.get_attribute("title")) == ("→", "الشاشة السابقة (→)")
    desk.press("1", "Enter").counts(1).press("ArrowLeft", "ArrowRight").picked("1").press("ArrowLeft").nothing_picked()
    desk.press("h")
    assert desk.page.locator(".keys dt", has_text="→").inner_text().split() == ["→", "←"]


def test_twenty_options_and_an_untouched_slider_are_in_order_from_right_to_left(sit):
    """The field that finds options begins on the right, and no words are on others, however many lines they take."""
    stage = declared.of_file(BOTH, 1)
    desk = sit(annotator=studies.annotator(pictures.paint(stage.study), language="ar"))
    for window in in_windows(desk.page):
        assert (desk.page.evaluate(BELOW), fits(desk.page)) == (True, True), window
    find = desk.page.locator(".find input")
    assert find.evaluate("one => getComputedStyle(one).direction") == "rtl" and desk.page.errors == []
