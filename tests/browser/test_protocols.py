"""Each protocol's screen in a real Chromium: walked by keyboard alone, in sight, accessible; a study across stages."""

import pytest
from playwright.sync_api import expect

from annotation.designs.plan import StagePlan
from annotation.models import Judgment
from benchmarks.models import Caption, ItemImage
from tests.browser.looking import CONTROLS, DESK, PHONE, flaws, in_windows, outside
from tests.browser.test_judge import stored
from tests.browser.test_judge_look import LONG
from tests.builders import pictures, studies

PARTS = [*CONTROLS[1:], ".card-place", ".text-option", "h1", ".texts"]


def somebody(protocol: str, items: int = 3, shapes=((640, 427), (512, 512))):
    """Ready to judge items that have both images, of these sizes."""
    benchmark = studies.benchmark(items, candidates=2)
    for item in benchmark.items.all():
        ItemImage.objects.create(item=item, image=studies.image(), role="negative", position=0, source_name="x.jpg")
    study = studies.study(benchmark=benchmark, protocol=protocol)
    drawn = [pictures.draw(n, *shapes[n % len(shapes)]) for n in range(4 * items)]
    return studies.annotator(pictures.paint(study, drawn))


def answered(desk) -> list[str]:
    return [answer for _, answer in desk.answers()]


def pick_both(desk) -> None:
    """Both is picked by b, and n is nothing there."""
    desk.press("n").nothing_picked().press("b").picked("both").press("Enter").counts(1)
    desk.press("2").picked("2").press("3").picked("2").press("Enter").counts(2).says("saved")
    desk.press("ArrowLeft").picked("2").press("b", "Enter").counts(2)
    desk.press("1", "Enter")
    desk.all_done()
    assert answered(desk) == ["both", "2", "both", "1"]


def pick_one_of_two(word: str):
    """By number, and it is read out."""

    def walk(desk) -> None:
        desk.press("b").press("n").nothing_picked().press("Enter").told("Pick an answer first")
        for count, key in enumerate("1221", 1):
            desk.press(key).picked(key).told(f"{word} {key} picked").press("Enter")
            if count < 4:
                desk.counts(count).says("saved")
        desk.all_done()
        assert answered(desk) == ["1", "2", "2", "1"]

    return walk


def verify(desk) -> None:
    """Yes, no and "cannot tell" have letters and numbers, and a click on the picture zooms."""
    desk.page.locator(".still").click()
    expect(desk.page.locator("#desk.zoomed")).to_be_visible()
    desk.page.locator(".still").click()
    expect(desk.page.locator("#desk.zoomed")).to_have_count(0)
    desk.nothing_picked()
    pressed = {"y": "yes", "n": "no", "t": "cannot_tell", "1": "yes", "2": "no"}
    for count, (key, answer) in enumerate(pressed.items(), 1):
        desk.press(key).picked(answer).press("Enter").counts(count).says("saved")
    desk.press("3").picked("cannot_tell").told("Cannot tell picked")
    desk.press("u").told("Undone").picked("no").press("Enter").counts(5)
    assert Judgment.objects.filter(answer="cannot_tell").count() == 1


WALKS = {  # items, and how their screens are walked by keyboard
    "bivlc-disambiguate": (3, pick_both),
    "bivlc-i2t": (2, pick_one_of_two("Sentence")),
    "bivlc-t2i": (2, pick_one_of_two("Picture")),
    "verify": (3, verify),
}
SCALES = "[...document.querySelectorAll('#place img')].map(one => getComputedStyle(one).transform)"


@pytest.mark.parametrize(  # a picture is picked like a sentence: one of the two in the suite
    "protocol", [pytest.param(name, marks=[pytest.mark.nightly] if name == "bivlc-t2i" else []) for name in WALKS]
)
def test_every_screen_is_in_sight_accessible_zooms_and_is_judged_by_keyboard(sit, axe_violations, protocol):
    """As it comes, with an answer picked, and with the rules open; also with long texts."""
    items, walk = WALKS[protocol]
    desk = sit(annotator=somebody(protocol, items))
    desk.press("z", "ArrowRight")
    assert set(desk.page.evaluate(SCALES)) == {"matrix(2.5, 0, 0, 2.5, 0, 0)"}
    assert desk.page.evaluate("desk.style.getPropertyValue('--zx')") == "58%"
    desk.press("Escape")
    assert desk.page.evaluate(SCALES)[0] == "none"
    assert outside(desk.page, PARTS) == []
    desk.press("1")
    for window in in_windows(desk.page):
        assert (axe_violations(desk.page, again=window == PHONE), outside(desk.page, PARTS)) == ([], []), window
    desk.press("h")
    assert flaws(desk.page, axe_violations, "#rules-dialog") == []
    Caption.objects.update(text=LONG)
    desk.page.reload()
    desk.at_desk()
    assert {window: outside(desk.page, PARTS) for window in in_windows(desk.page)} == {DESK: [], PHONE: []}
    walk(desk)
    assert desk.page.errors == []


def test_a_caption_of_any_length_leaves_pictures_and_buttons_in_sight(sit, axe_violations):
    annotator = pictures.desk(items=1)
    Caption.objects.update(text=LONG * 9)
    desk = sit(annotator=annotator)
    for window in in_windows(desk.page):
        assert [name for name in outside(desk.page, PARTS) if name not in (".caption", "h1")] == [], window
        assert axe_violations(desk.page, again=window == PHONE) == [], window  # what scrolls can be scrolled by key


def test_two_pictures_of_different_shapes_are_equally_large_and_fill_the_window(sit):
    """In one frame, also by what the browser knows of the files (law 4)."""
    page = sit(annotator=somebody("bivlc-disambiguate")).page
    boxes = [page.locator(".card-option").nth(n).bounding_box() for n in (0, 1)]
    for side in ("width", "height"):
        assert boxes[0][side] == pytest.approx(boxes[1][side], abs=1)
    assert boxes[0]["height"] > 480 or sum(box["width"] for box in boxes) > 1290
    assert boxes[0]["width"] / boxes[0]["height"] == pytest.approx(640 / 512, rel=0.02)
    sizes = "() => [...document.querySelectorAll('#place img')].map((img) => [img.naturalWidth, img.naturalHeight])"
    assert page.evaluate(sizes) == [[640, 512]] * 2


@pytest.mark.parametrize(
    "protocol",
    [
        "bivlc-i2t",  # pictures: test_judge_look.py
        *[pytest.param(name, marks=pytest.mark.nightly) for name in ("bivlc-disambiguate", "bivlc-t2i", "verify")],
    ],
)
def test_without_script_it_is_judged_all_the_same(open_page, site, protocol):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{somebody(protocol).token}/")
    page.locator("input[name=answer]").nth(1).check()
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
    assert Judgment.objects.count() == 1


def test_the_next_stage_comes_by_itself_and_undo_leads_back(sit):
    plans = [
        StagePlan("bivlc-choose", "a", settings={"carries": "negative"}),
        StagePlan("bivlc-disambiguate", "b", "a", apart_from=()),
    ]
    study = pictures.paint(studies.study(items=2, stages=plans))
    desk = sit(annotator=studies.annotator(study))
    desk.press("1", "Enter").counts(1).press("2", "Enter")
    expect(desk.page.get_by_role("heading", name="Before you start")).to_be_visible()
    desk.page.get_by_role("button", name="start").click()
    expect(desk.page.get_by_role("radio", name="Both")).to_be_visible()
    desk.at_desk().counts(0).press("u")
    expect(desk.page.get_by_role("radio", name="None of them")).to_be_visible()
    desk.at_desk().counts(1).told("Undone").picked("2")
    desk.press("3", "Enter")
    expect(desk.page.get_by_role("radio", name="Both")).to_be_visible()
    desk.at_desk().press("b", "Enter").counts(1)
    stored(desk, 5)
    assert desk.page.errors == []
