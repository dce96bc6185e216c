"""Comparing two sentences in a real Chromium: answers by key and by click; and how it looks."""

from itertools import product

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment, Lease
from tests.browser.conftest import Sitting, submit_button
from tests.browser.looking import PHONE, fits, flaws, in_windows, outside, send
from tests.browser.test_rank import LONG
from tests.builders import ranking_screens

ANSWERS = ("negative-0", "negative-1", "tie")
PARTS = [".compared li", ".compare-question", ".choice", "#submit", "#skip", "#undo", "#rules", "h1"]
LONG_WORDS = {"positive": [LONG], "negative": [f"{LONG} {number}" for number in range(2)]}


def press(page: Page, question: str, value: str) -> None:
    page.keyboard.press("t" if value == "tie" and question == "sense" else "0" if value == "tie" else value)


def click(page: Page, question: str, value: str) -> None:
    page.locator(f'#place input[name="{question}"][value="{value}"]').click()


def said(page: Page) -> dict[str, str]:
    """Question → what is picked."""
    found = page.evaluate("[...document.querySelectorAll('#place input:checked')].map(one => [one.name, one.value])")
    return dict(found)


def marked(desk: Sitting) -> str:
    return desk.page.locator(".compare-question[aria-current] input").first.get_attribute("name")


PAIRS = list(product(ANSWERS, repeat=2))
WAYS = [(press, pair) for pair in PAIRS[::4]] + [(click, pair) for pair in (PAIRS[1], PAIRS[5], PAIRS[6])]


def test_answers_are_stored_as_they_were_entered_by_key_and_by_click(sit):
    """Each answer once to each question, in either way."""
    desk, entered = sit(annotator=ranking_screens.comparing(len(WAYS))), {}
    for count, (put, (sense, fluency)) in enumerate(WAYS, 1):
        shown = Lease.objects.get(token=desk.lease).shown
        places = {"tie": "tie"} | {one.removeprefix("caption-"): str(n) for n, one in enumerate(shown, 1)}
        entered[desk.lease] = f"{sense}/{fluency}"
        put(desk.page, "sense", places[sense])
        put(desk.page, "fluency", places[fluency])
        assert said(desk.page) == {"sense": places[sense], "fluency": places[fluency]}
        desk.press("Enter")
        if count < len(WAYS):
            desk.counts(count)
    desk.all_done()
    stored = {str(one.lease.token): one.answer for one in Judgment.objects.select_related("lease")}
    assert stored == entered and desk.page.errors == []


def test_what_keys_do_on_screen_after_screen(sit):
    desk = sit(annotator=ranking_screens.comparing(5))

    # Both questions are asked for, and nothing is picked at first.
    assert said(desk.page) == {} and marked(desk) == "sense"
    desk.press("Enter").told("Which makes more sense?").press("ArrowDown", "1", "3")
    assert said(desk.page) == {"fluency": "1"} and marked(desk) == "sense"
    desk.press("Enter").told("Which makes more sense? Pick sentence 1, sentence 2 or a tie.").counts(0)
    desk.press("Shift+T", "Enter").counts(0)  # a capital is no answer
    send(desk.press("t").told("Both questions are answered"), "Enter").counts(1).says("saved")

    # Up and down mark a question and say what it has.
    desk.press("2").told("Which makes more sense? Sentence 2. Which is more fluent?")
    assert marked(desk) == "fluency"
    desk.press("ArrowUp").told("Which makes more sense? Answered: Sentence 2")
    desk.press("0").press("ArrowUp").told("Answered: Tie").press("ArrowUp").told("Not answered yet")
    assert said(desk.page) == {"sense": "tie"} and marked(desk) == "fluency"
    send(desk, "1", "Enter").counts(2)

    # Questions are native radio groups for Tab and arrows.
    sense = desk.page.get_by_role("radiogroup", name="Which makes more sense?")
    sense.get_by_role("radio", name="Sentence 1").focus()
    desk.press("Space", "ArrowRight")
    assert said(desk.page) == {"sense": "tie"} and marked(desk) == "sense"
    desk.press("2")
    expect(desk.page.locator("[name=fluency]").first).to_be_focused()
    send(desk, "1", "Enter").counts(3)

    # An answer comes back undone, looked back at and over a reload.
    send(desk, "1", "2", "Enter").counts(4).says("saved").press("u").told("Undone").counts(3)
    assert said(desk.page) == {"sense": "1", "fluency": "2"}
    send(desk, "Enter").counts(4).says("saved").press("0")
    desk.page.reload()
    desk.at_desk()
    assert said(desk.page) == {"sense": "tie"} and marked(desk) == "fluency"
    desk.press("ArrowLeft").told("This is screen 4, which you have answered")
    assert said(desk.page) == {"sense": "1", "fluency": "2"}
    desk.press("0", "0", "Enter").says("saved").counts(4)
    assert said(desk.page) == {"sense": "tie"}  # the screen that was in front, as it was
    assert Judgment.objects.latest("pk").answer == "tie/tie" and desk.page.errors == []


def test_a_finger_answers_and_the_next_question_is_marked(open_page, site):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="no-preference")
    desk = Sitting(page, site, ranking_screens.comparing(2)).open()
    page.locator(".choice").nth(1).tap()
    assert said(page) == {"sense": "tie"} and marked(desk) == "fluency"
    page.locator(".choice").nth(5).tap()
    submit_button(page).tap()
    desk.counts(1)


@pytest.mark.nightly
def test_all_of_it_works_without_script(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{ranking_screens.comparing(1).token}/")
    page.locator('[name="sense"][value="2"]').check()
    page.locator('[name="fluency"][value="tie"]').check()
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Judgment.objects.get().answer.endswith("/tie")


def test_everything_is_in_sight_whatever_the_sentences_and_every_state_is_accessible(sit, page, axe_violations):
    """The screen, with the rules open, and looked back at with its answer."""

    def is_in_sight() -> None:
        assert outside(page, PARTS) == []
        assert fits(page)
        submit = page.locator("#submit").bounding_box()["y"]
        last = page.locator(".compare-question").last.bounding_box()
        assert last["y"] + last["height"] <= submit

    sit(annotator=ranking_screens.comparing([LONG_WORDS]), page=page)
    for _ in in_windows(page):
        is_in_sight()
    desk = sit(annotator=ranking_screens.comparing(2), page=page)
    desk.press("1", "0")
    for window in in_windows(page):
        is_in_sight()
        assert axe_violations(page, again=window == PHONE) == [], window
    desk.press("h")
    assert flaws(page, axe_violations, "#rules-dialog") == []
    desk.press("Escape", "Enter").counts(1).says("saved").press("ArrowLeft")
    assert flaws(page, axe_violations, "#banner") == []
