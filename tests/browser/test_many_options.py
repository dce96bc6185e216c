"""Questions with more options than keys, and picks of many, in a real Chromium."""

from annotation.models import Judgment
from tests.browser.looking import PHONE, fits, in_windows
from tests.builders import declared, pictures, studies

SENTENCES = {
    "winnow": "protocol/1", "name": "many-options", "title": "Many options", "ask": "Which sentence fits the picture?",
    "instructions": "Pick one.", "item": {"images": {"scene": 1}, "captions": {"option": "2..12"}},
    "screen": [{"picture": "scene"}],
    "answers": [{"name": "fit", "kind": "pick", "of": "captions.option", "fixed": {"none": "None"}}],
}  # fmt: skip
PICTURES = {
    "winnow": "protocol/1", "name": "cue", "title": "Cue", "ask": "Which two pictures go with the word?",
    "instructions": "Choose two.", "item": {"texts": {"cue": 1}, "images": {"option": 12}},
    "screen": [{"sentence": "cue"}],
    "answers": [
        {"name": "goes", "ask": "Which?", "kind": "pick", "of": "images.option", "many": 2,
         "fixed": {"none": "None of them"}},
        {"name": "sure", "ask": "How sure are you?", "kind": "scale", "points": 3},
    ],
}  # fmt: skip
FOCUSED = "() => document.activeElement.value"
SEEN = "() => [...document.querySelectorAll('.sentences label')].filter(one => one.checkVisibility()).length"


def test_twelve_options_are_reached_by_keys_and_found_by_words(sit, axe_violations):
    desk = sit(annotator=studies.annotator(pictures.paint(declared.of_file(SENTENCES).study)))
    for window in in_windows(desk.page):
        assert axe_violations(desk.page, again=window == PHONE) == [], window
        assert fits(desk.page), window
    desk.press(*["ArrowDown"] * 11)
    assert desk.page.evaluate(FOCUSED) == "11"
    desk.press("Enter")  # chooses, and the next one submits
    assert desk.page.evaluate("() => document.querySelector('[name=answer]:checked').value") == "11"
    first = Judgment.objects.count()
    desk.press("Enter").counts(1).says("saved")
    judgment = Judgment.objects.get()
    assert first == 0 and judgment.answer == judgment.lease.shown[10]
    desk.press("/", *"11 blue")
    assert desk.page.evaluate(SEEN) == 1 and "1 of 12" in desk.page.text_content(".found")
    desk.press("Enter", "Space", "Enter").all_done()
    assert Judgment.objects.latest("pk").answer == "caption-option-11" and desk.page.errors == []


def test_a_pick_of_many_says_how_many_are_chosen_and_what_is_missing(sit, axe_violations):
    desk = sit(annotator=studies.annotator(pictures.paint(declared.of_file(PICTURES).study)))
    chosen = desk.page.locator(".chosen")
    desk.press("1")
    assert chosen.text_content() == "1 of 2 chosen"
    desk.press("Enter").told("Choose exactly 2. You have chosen 1.")
    desk.press("ArrowUp", "Enter")  # the last answer, which is chosen without others
    assert chosen.text_content() == "1 of 2 chosen" and not desk.page.locator("[name='goes-1']").is_checked()
    desk.press("ArrowUp", "Space", "3")
    assert chosen.text_content() == "2 of 2 chosen" and not desk.page.locator("[data-apart]").is_checked()
    desk.press("ArrowRight", "ArrowDown", "3")  # past the last answer is the next question
    for window in in_windows(desk.page):
        assert axe_violations(desk.page, again=window == PHONE) == [], window
        assert fits(desk.page), window
    desk.press("Enter").counts(1).says("saved")
    judgment = Judgment.objects.get()
    assert judgment.answer == ",".join(sorted(judgment.lease.shown[place] for place in (2, 11))) + "/3"
    assert desk.page.errors == []
