"""The screens of protocol files in a real Chromium: each is judged by keyboard alone, at both sizes."""

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from annotation.models import Annotator, Judgment
from annotation.protocols import library
from annotation.screens import trial
from annotation.screens.material import texts_of
from annotation.screens.painted import unpainted
from annotation.screens.screens import build_screens
from benchmarks.models import Caption
from tests.browser.looking import PHONE, TWO_FRAMES, fits, in_windows
from tests.builders import declared, pictures, studies

DIFFERENT = ["image-questions", "revise", "rich-feedback", "unusual", "visible-or-not"]  # of others see below
EVERY = [
    pytest.param(name, marks=[] if name in DIFFERENT else [pytest.mark.nightly])
    for name in [*library.names(), "unusual"]
]
FIELDS = """() => Object.fromEntries([...document.querySelectorAll('#place [name]:not([name=lease])')]
  .filter(one => !['radio', 'checkbox'].includes(one.type) || one.checked).map(one => [one.name, one.value])
  .map(([name, value]) => [name, value.trim()]).filter(([_, value]) => value))"""
SMALL = """() => [...document.querySelectorAll('.declared :is(label:has(input), select, textarea, button:not(.box))')]
  .filter(one => one.checkVisibility()).map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
  .filter(([_, box]) => Math.min(box.width, box.height) < 43.5).map(([one]) => one)"""

LACKING = {
    "winnow": "protocol/1", "name": "lacking", "title": "A picture that may be missing", "ask": "Does it hold?",
    "instructions": "Look, and answer.", "item": {"images": {"positive": "0..1"}, "captions": {"positive": 1}},
    "screen": [{"picture": "positive"}, {"sentence": "positive"}],
    "answers": [{"name": "holds", "ask": "Does it hold?", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}],
}  # fmt: skip


# Blocks and questions of every kind that an item may have nothing for.
LACKING_ALL = {
    **LACKING, "name": "lacking-all",
    "item": {"images": {"candidate": "0..1", "negative": "0..1", "shot": "0.."},
             "captions": {"positive": 1, "negative": "0..1"}, "lists": {"fact": "0..", "told": "0.."}},
    "screen": [{"picture": "candidate"}, {"on_request": "negative"}, {"pictures": "shot"},
               {"sentence": "negative", "label": "Hint"}, {"list": "told", "label": "Facts"}, {"sentence": "positive"}],
    "answers": [{"name": "facts", "ask": "Which hold?", "kind": "check", "of": "lists.fact"}, *LACKING["answers"]],
}  # fmt: skip
# Of an item that lacks a sentence where one is the screen's heading.
LACKING_WORDS = {
    **LACKING,
    "name": "lacking-words",
    "item": {"images": {"positive": 1}, "captions": {"positive": "0..1"}},
}
BESIDE = {
    **LACKING, "name": "beside", "item": {"images": {"pair": 2, "negative": "0..1", "positive": 1}},
    "screen": [{"pictures": "pair", "layout": "row"}, {"picture": "negative", "label": "Before"},
               {"picture": "positive", "label": "After"}],
}  # fmt: skip
ON_PICTURE = {
    **LACKING, "name": "on-picture", "item": {"images": {"positive": 1, "negative": 1}},
    "screen": [{"picture": "positive"}],
    "answers": [
        {"name": "spots", "ask": "Where is it red?", "kind": "points", "of": "positive", "least": 0, "most": 3},
        {"name": "parts", "ask": "Which parts?", "kind": "boxes", "of": "positive", "most": 2,
         "labels": {"red": "Red", "blue": "Blue"}},
    ],
}  # fmt: skip
IN_ROWS = """() => [...document.querySelectorAll('[data-row]')].map(row => [...row.querySelectorAll('.card-place')]
  .map(one => [one.textContent.trim(), one.getBoundingClientRect()])
  .map(([name, { x, y, width }], place, all) => [name, y === all[0][1].y, x >= 0 && x + width <= innerWidth, x])
  .map(([name, level, inside, x], place, all) => name + (level && inside && x >= all[0][3] + place * 99)))"""


def somebody(name: str) -> Annotator:
    return studies.annotator(pictures.paint(declared.asked(name)))


# What to press for an answer to what is marked; nothing where it is answered.
KEYS = """() => {
  const unit = document.querySelector('MARKED') ?? document.querySelector('#place');
  const ranked = [...document.querySelectorAll('.row select')].filter(one => one.value).length;
  const boxes = unit.querySelector('[type=checkbox]:checked'); // stays marked: there may be more
  if (boxes && !unit.dataset.left) return (unit.dataset.left = 1, ['ArrowDown']);
  if (unit.querySelector('input:checked')) return [];
  if (unit.matches('.row')) return unit.querySelector('select').value ? [] : [`${ranked + 1}`];
  const field = unit.querySelector('textarea');
  if (field?.dataset.typed) return [];
  if (field) return (field.dataset.typed = 1, ['e', ...'Some words', ', and some more'.repeat(15), 'Escape']);
  const number = unit.querySelector('.number');
  if (number) return number.value ? [] : ['1', 'Escape', 'ArrowDown'];
  const where = unit.querySelector('.coordinates');
  if (where?.dataset.typed) return [];
  if (where) return (where.dataset.typed = 1, ['m', 'ArrowLeft', 'Enter', 'Escape', 'ArrowDown']);
  const mark = unit.querySelector('.marks [data-keys]');
  if (mark && unit.dataset.left) return [];
  if (mark && unit.querySelector('.token [aria-label*=": "]')) return (unit.dataset.left = 1, ['ArrowDown']);
  if (mark) return [mark.dataset.keys.trim().split(' ')[0]];
  const input = unit.querySelector('.put') ?? unit.querySelector('input[type=radio], input[type=checkbox]');
  return [(input.dataset.keys || input.value || '1').split(' ')[0]];
}""".replace("MARKED", "#place [aria-current]")


def answer_by_keys(desk) -> None:
    for _ in range(200):
        keys = desk.page.evaluate(KEYS)
        if not keys:
            return
        for key in keys:
            desk.page.keyboard.insert_text(key) if len(key) > 20 else desk.press(key)
    raise AssertionError("There is always another question.")


@pytest.mark.parametrize("name", EVERY)
def test_a_file_is_judged_by_keyboard_at_both_sizes(sit, axe_violations, name):
    desk = sit(annotator=somebody(name))
    answer_by_keys(desk)
    for window in in_windows(desk.page):
        assert axe_violations(desk.page, again=window == PHONE) == [], window
        assert fits(desk.page), window
        assert window[0] > 390 or desk.page.evaluate(SMALL) == []
    given = desk.page.evaluate(FIELDS)
    desk.press("Enter").counts(1).says("saved")
    desk.press("u").told("Undone")
    assert desk.page.evaluate(FIELDS) == given
    assert Judgment.objects.filter(withdrawn=False).exists() and desk.page.errors == []


def test_a_key_stores_what_is_called_by_it(sit):
    desk = sit(annotator=somebody("two-scores"))
    desk.press("1", "a", "Enter").counts(1).says("saved")
    assert Judgment.objects.get().answer == "1/0.5"
    study = pictures.paint(declared.asked("one-of-four"))
    texts = Caption.objects.filter(item__benchmark=study.benchmark).order_by("item", "role", "position")
    for place, caption in enumerate(texts):
        Caption.objects.filter(pk=caption.pk).update(text=str(9 - place % 4))
    for key in "96":
        desk = sit(annotator=studies.annotator(study))
        desk.press(key, "Enter").counts(1).says("saved")
        judgment = Judgment.objects.latest("pk")
        assert texts_of(judgment.lease.task)[judgment.answer] == key


def _halves(width: int, height: int) -> bytes:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (width, height), "red")
    image.paste("blue", (width // 2, 0, width, height))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def _at(desk, x: float, y: float) -> tuple[float, float]:
    """Where on the page that place of the picture is."""
    box = desk.page.locator(".marking").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def _drag(desk, *way: tuple[float, float], touch: bool = False) -> None:
    places = [_at(desk, x, y) for x, y in way]
    if touch:
        session = desk.page.context.new_cdp_session(desk.page)
        for kind, place in [("touchStart", places[0]), *(("touchMove", one) for one in places[1:]), ("touchEnd", None)]:
            points = [dict(zip("xy", place, strict=True))] if place else []
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        return
    desk.page.mouse.move(*places[0])
    desk.page.mouse.down()
    for place in places[1:]:
        desk.page.mouse.move(*place)
    desk.page.mouse.up()


def _near(said: str, wanted: str) -> bool:
    """Whether marks are where they were meant to be, to a pixel."""
    one, other = (re.split(r"[:,]", text) for text in (said, wanted))
    return len(one) == len(other) and all(
        abs(int(a) - int(b)) < 60 if b.isdecimal() else a == b for a, b in zip(one, other, strict=True)
    )


def test_a_picture_is_marked_by_mouse_touch_and_keys_whatever_its_frame(sit, axe_violations):
    study = pictures.paint(declared.of_file(ON_PICTURE).study, [_halves(200, 400), _halves(400, 200)] * 2)
    desk = sit(annotator=studies.annotator(study))
    page = desk.page
    spots, parts = page.locator("[name=spots]"), page.locator("[name=parts]")
    for _ in in_windows(page):
        box = page.locator(".marking").bounding_box()
        assert box["width"] == pytest.approx(2 * box["height"], rel=0.02), "it is the picture, without its frame"
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        corners = [shot.getpixel(tuple(map(round, _at(desk, x, 0.5)))) for x in (0.02, 0.48, 0.52, 0.98)]
        assert [round(one[0] / 255) - round(one[2] / 255) for one in corners] == [1, 1, -1, -1]
    page.evaluate(TWO_FRAMES)
    _drag(desk, (0.25, 0.5))
    _drag(desk, (0.75, 0.5), (0.8, 0.25), touch=True)
    assert _near(spots.input_value(), "2500:5000,8000:2500")
    desk.press("ArrowRight", "Shift+ArrowDown")
    assert _near(spots.input_value(), "2500:5000,8025:2750")
    desk.press("Delete", "Control+z", "Control+z")
    assert _near(spots.input_value(), "2500:5000,8025:2500")
    desk.press("Escape", "ArrowDown")
    _drag(desk, (0.6, 0.2), (0.7, 0.4), (0.9, 0.9))
    desk.press("Escape", "b", "m", "Enter", "ArrowRight", "Shift+ArrowDown", "Enter", "Escape")
    assert _near(parts.input_value(), "6000:2000:9000:9000:red,5000:5000:6525:6750:blue")
    page.locator("[data-name=parts] .remove").first.click()
    (left, top), (right, bottom) = _at(desk, 0.25, 0.25), _at(desk, 0.35, 0.35)
    desk.press("Escape", "z")
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(left + 2.5 * (right - left), top + 2.5 * (bottom - top))
    page.mouse.up()
    desk.press("Escape")
    assert _near(parts.input_value(), "5000:5000:6525:6750:blue,2500:2500:3500:3500:blue"), "also where it is enlarged"
    for window in in_windows(page):
        assert axe_violations(page, again=window == PHONE) == [] and fits(page), window
        assert window[0] > 390 or page.evaluate(SMALL) == []
    given = page.evaluate(FIELDS)
    page.reload()
    desk.at_desk()
    assert page.evaluate(FIELDS) == given, "a draft is kept"
    desk.press("Enter").counts(1).says("saved")
    assert Judgment.objects.get().answer == f"{given['spots']}/{given['parts']}"
    desk.press("u").told("Undone")
    assert page.evaluate(FIELDS) == given and page.locator(".mark").count() == 4 and page.errors == []


def test_words_are_marked_by_clicks_and_stay_over_a_reload(sit):
    desk = sit(annotator=somebody("word-by-word"))
    words = desk.page.locator(".token button")
    words.nth(1).click()
    words.nth(2).dblclick()
    expect(words.nth(1)).to_have_accessible_name(re.compile("Not shown$"))
    desk.page.reload()
    desk.at_desk()
    expect(words.nth(2)).to_have_accessible_name(re.compile("Cannot tell$"))
    desk.press("ArrowDown", "ArrowRight", "n", "ArrowRight", "n", "Enter").counts(1).says("saved")
    assert Judgment.objects.get().answer.partition(";")[2] == "3:not_shown"


def test_a_picture_is_dragged_to_its_rank_and_the_others_make_room(sit):
    desk = sit(annotator=somebody("rank-images"))
    desk.press(*"123456789")
    ranks = "() => [...document.querySelectorAll('.row select')].map(one => one.value).join('')"
    assert desk.page.evaluate(ranks) == "123456789"
    desk.page.locator(".row").nth(2).drag_to(desk.page.locator(".row").nth(0), target_position={"x": 60, "y": 3})
    assert desk.page.evaluate(ranks) == "231456789"
    desk.page.locator(".row select").nth(0).select_option("9")  # its rank was 2
    assert desk.page.evaluate(ranks) == "931456782" and desk.page.errors == []


def test_without_script_all_questions_are_there_and_what_was_not_asked_is_ignored(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{somebody('visible-or-not').token}/")
    for name, value in (("label", "visibly_true"), ("confidence", "0.5"), ("limit", "gaze")):
        page.locator(f"input[name={name}][value='{value}']").check()
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
    page.goto(f"{site}/judge/{somebody('word-by-word').token}/")
    page.locator(".token select").nth(3).select_option("Cannot tell")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
    answers = [answer.partition(";")[2] or answer for answer in Judgment.objects.values_list("answer", flat=True)]
    assert answers == ["visibly_true/0.5//", "4:cannot_tell"]


@pytest.mark.parametrize(
    "file",
    [pytest.param(LACKING, marks=pytest.mark.nightly), LACKING_ALL, LACKING_WORDS],
    ids=lambda file: file["name"],
)
def test_an_item_that_lacks_what_is_optional_is_shown_and_judged(sit, file):
    stage = declared.of_file(file, lacking=True)
    [screen, *_] = build_screens(trial.trial_leases(stage, 1, 1), stage)
    desk = sit(annotator=studies.annotator(pictures.paint(stage.study)))
    assert unpainted(screen.html()) == unpainted(desk.page.content()) == ""
    expect(desk.page.locator("#place h1")).to_be_visible()
    assert desk.page.locator("#place .label").count() == 0 and desk.page.locator("#place .asked:visible").count() < 2
    desk.press("Enter").counts(0)
    desk.press("y", "Enter").counts(1).says("saved")
    assert desk.page.errors == []


NUMBERS = {
    "winnow": "protocol/1", "name": "numbers", "title": "Numbers", "ask": "What do you see?",
    "instructions": "Look, count, and rate.", "item": {"images": {"positive": 1}, "captions": {"positive": 1}},
    "screen": [{"picture": "positive"}, {"sentence": "positive"}],
    "answers": [
        {"name": "count", "ask": "How many cups are there?", "kind": "number", "most": 20,
         "not_applicable": "Too many to count"},
        {"name": "fit", "ask": "How well does the sentence fit?", "kind": "scale", "points": "0..100",
         "anchors": {0: "Not at all", 50: "Half of it", 100: "Perfectly"}},
        {"name": "why", "ask": "How large is the largest, in metres?", "kind": "number", "most": 2, "decimals": 2,
         "when": {"count": [1, 12]}, "required": False},
    ],
}  # fmt: skip


def test_numbers_are_typed_and_set_with_a_slider_by_keyboard(sit, axe_violations):
    study = pictures.paint(declared.of_file(NUMBERS).study)
    desk = sit(annotator=studies.annotator(study))
    page, stated = desk.page, lambda: desk.page.evaluate(FIELDS)
    assert stated() == {}, "a slider that nobody has touched has no value"
    desk.press("Enter").counts(0)
    page.locator(".number").first.fill("1.5")
    desk.press("Enter").told("Write a whole number from 0 to 20.")
    page.locator("h1").focus()
    desk.press("1", "2")  # typed into the question that is marked; 1 is the key of nothing
    expect(page.locator("[data-name=why]")).to_be_visible()
    desk.press("Enter", "e")
    expect(page.locator(".slider")).to_be_focused()
    moved = {"ArrowRight": "50", "ArrowUp": "51", "PageUp": "61", "Home": "0", "End": "100", "ArrowLeft": "99"}
    for key, value in moved.items():
        desk.press(key)
        assert stated()["fit-number"] == value
    for window in in_windows(page):
        assert axe_violations(page, again=window == PHONE) == [], window
        assert fits(page), window
        assert window[0] > 390 or page.evaluate(SMALL) == []
    desk.press("7")  # goes to the field beside the slider
    expect(page.locator("[name=fit-number]")).to_be_focused()
    desk.press("ArrowUp", "PageUp", "ArrowDown", "Enter", "0", ".", "5", "Enter").counts(1).says("saved")
    assert Judgment.objects.get().answer == "12/17/0.5"
    desk.press("u").told("Undone")
    assert stated() == {"count-number": "12", "fit-number": "17", "why-number": "0.5"}
    page.get_by_role("radio", name="Too many to count").check()
    expect(page.locator("[name=count-number]")).to_have_value("")
    page.locator(".slider").click(position={"x": 3, "y": 20})
    desk.press("Enter").counts(1).says("saved")
    assert Judgment.objects.latest("pk").answer == "not_applicable/0/" and page.errors == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_pictures_in_a_row_stay_side_by_side_with_left_on_the_left(sit, language):
    study = pictures.paint(declared.of_file(BESIDE).study)
    study.language = language
    study.save()
    desk = sit(annotator=studies.annotator(study))
    names = ["Left", "Right"] if language == "en" else desk.page.locator("[data-row] kbd").all_text_contents()[:2]
    for window in in_windows(desk.page, (1280, 800, "light"), (390, 844, "dark"), (700, 400, "light")):
        rows = [[f"{name}true" for name in names], ["Beforetrue", "Aftertrue"]]
        assert desk.page.evaluate(IN_ROWS) == rows, window
