"""Judging in other languages, in a real Chromium: longer words and the other direction fit; scripts speak them too."""

import pytest
from playwright.sync_api import expect

from tests.browser.looking import fits, in_windows
from tests.builders import pictures, ranking_screens

OUTSIDE = """() => [...document.querySelectorAll('.tool, .walk > *, .status > *, .choice, #submit, .put, .prompt')]
  .map((part) => [part.textContent.trim(), part.getBoundingClientRect()])
  .filter(([, { left, right, width }]) => width && (left < 0 || right > innerWidth)).map(([words]) => words)"""
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
