"""The screens on which sentences are rewritten, in a real Chromium: by keyboard, by mouse, without script."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Judgment, Outcome
from tests.browser.looking import flaws, send
from tests.browser.test_judge import stored
from tests.builders import pictures, studies, visla_items

ANOTHER = "A cat sits in the basket."


def somebody(protocol: str, items=2, **settings):
    return studies.annotator(pictures.paint(visla_items.study(protocol, items, **settings)))


def last() -> Judgment:
    return Judgment.objects.latest("pk")


def place(desk, words: str) -> str:
    return desk.page.locator(".text-option", has_text=words).locator("input").get_attribute("value")


def words(desk):
    return desk.page.locator("#place [name=words]")


def type_all(desk, text: str):
    desk.press("Control+a")
    desk.page.keyboard.insert_text(text)


def test_pick_edit_and_reject_by_keyboard_alone(sit):
    desk = sit(annotator=somebody("visla-paraphrase", 3))
    desk.press("Enter").told("Pick a sentence").press("e").told("First pick the sentence you want to edit")
    send(desk, place(desk, "basket holds"), "Enter").press(place(desk, "basket holds"), "e")
    type_all(desk, "The basket contains a cat.")
    desk.press("Enter")
    expect(desk.page.locator("h1")).to_be_focused()
    send(desk, "Enter").press("r", "Enter").told("Tick every problem").press("s", "p", "p", "w", "r")
    desk.page.keyboard.type("er, no")
    desk.press("Control+Enter").says("saved")
    stored(desk, 3)
    first, then, rejected = Judgment.objects.order_by("pk")
    assert (first.answer, first.content["texts"]) == (
        "caption-second_positive-0",
        {"second_positive": "The basket holds a cat."},
    )
    assert (then.answer, then.content["from"]) == ("edited", {"second_positive": "caption-second_positive-0"})
    assert (rejected.answer, rejected.reason) == ("reject", "er, no")
    assert rejected.content["guidelines"] == {"same": False, "fluent": False} and desk.page.errors == []


DIFF = """async ([was, is]) => {
  const { diff } = await import('/static/js/judging/diff.js');
  const parts = diff(was, is);
  const only = (...kinds) => parts.filter(([kind]) => kinds.includes(kind)).flatMap(([, words]) => words).join('');
  return [only('same', 'gone'), only('same', 'new'), parts.length];
}"""


DIFFS = [("", "", 0), ("a b", "a b", 1), ("a b c", "a c", 3), ("ein Haus.", "Häuser!", 2), ("x", "", 1), ("", "y z", 1)]


LATE = """async () => {
  const { forgetHere, readOut, say } = await import("/static/js/judging/say.js"), later = setTimeout;
  window.setTimeout = (work, ms) => later(work, ms === 900 ? 10 : ms);
  const afterwards = async (then) => {
    readOut(() => "1 word added");
    then();
    await new Promise(done => later(done, 50));
    return document.getElementById("say").textContent;
  };
  const found = [await afterwards(() => {}), await afterwards(() => say("Saved.")), await afterwards(forgetHere)];
  window.setTimeout = later;
  return found;
}"""


REFUSED = {
    " ": "Your version is empty.",
    "A cat is in  the basket.": "the same as the sentence at the top",
    "A cat is beside the basket.": "the same as the sentence that it must not mean",
}


def test_marks_follow_every_letter_what_would_be_refused_stays_here_and_what_was_typed_comes_back(sit):
    """After a reload, an undo and in looking back. The picture comes on request."""
    desk = sit(annotator=somebody("visla-paraphrase", 2))
    # A summary of what was typed comes neither over newer words nor on the next screen.
    assert desk.page.evaluate(LATE) == ["1 word added", "Saved.", "Saved."]
    for was, now, parts in DIFFS:
        before, after, count = desk.page.evaluate(DIFF, [was, now])
        assert (before.replace(" ", ""), after, count) == (was.replace(" ", ""), now, parts)
    picture = desk.page.locator("#place img")
    expect(picture).to_be_hidden()
    desk.press("z")
    expect(picture).to_be_visible()
    desk.press(" ")
    expect(picture).to_be_hidden()
    desk.press(place(desk, "In the basket"), "e", "Control+a")
    desk.page.keyboard.type(ANOTHER)
    marks = desk.page.locator(".editor .diff")
    expect(marks.locator("ins")).to_have_text(["sits"])
    expect(marks.locator("del")).to_have_text(["is"])
    expect(desk.page.locator(".editor .compares")).to_have_text("Compared with the sentence at the top:")
    expect(desk.page.locator("#say.quietly")).to_have_text("1 word added, 1 word removed")
    desk.press("Escape", "1", "e")
    for text, told in REFUSED.items():
        words(desk).focus()
        type_all(desk, text)
        desk.press("Control+Enter").told(told)
    assert not Judgment.objects.exists()
    words(desk).focus()
    type_all(desk, ANOTHER)
    desk.press("Escape", "2").picked("2")
    expect(words(desk)).to_be_hidden()
    desk.press("1", "e")
    expect(words(desk)).to_have_value(ANOTHER)
    desk.press("Escape", "3", "e")
    type_all(desk, ANOTHER)
    desk.page.reload()
    desk.at_desk().picked("3")
    expect(words(desk)).to_have_value(ANOTHER)
    send(desk, "Enter").says("saved").press("u").told("Undone").picked("3")
    expect(words(desk)).to_have_value(ANOTHER)
    send(desk, "Enter").says("saved").press("ArrowLeft").picked("3")
    expect(words(desk)).to_have_value(ANOTHER)
    desk.press("2", "Enter").says("saved")
    desk.page.reload()
    desk.at_desk().press("ArrowLeft").picked("2")
    expect(words(desk)).to_be_hidden()
    assert last().content["from"]["second_positive"] == last().answer and desk.page.errors == []


def test_the_second_annotator_sees_the_edit_and_confirms_it(sit):
    study = pictures.paint(visla_items.study("visla-paraphrase", 1))
    desk = sit(annotator=studies.annotator(study))
    desk.press("1", "e")
    type_all(desk, ANOTHER)
    desk.press("Control+Enter").says("saved")
    stored(desk, 1)
    other = sit(annotator=studies.annotator(study), page=desk.page)
    edited = other.page.locator(".edit-option", has=other.page.locator(".by"))
    expect(edited).to_have_count(1)
    expect(edited.locator("ins")).to_have_text(["sits"])
    expect(edited.locator(".compares")).to_be_visible()
    other.press(place(other, "sits"), "Enter").says("saved")
    stored(other, 1)
    outcome = Outcome.objects.get()
    assert (outcome.state, outcome.content["texts"]) == ("kept", {"second_positive": ANOTHER})


def test_three_sentences_are_valid_edited_or_dropped_by_keyboard(sit):
    """What is dropped keeps its broken lines when all others hold."""
    desk = sit(annotator=somebody("visla-triplet", 5))
    desk.press("Enter").told("every line")
    send(desk, "a", "Enter")
    desk.press("a", "t", "Enter").told("Correct the sentences").press("e")
    type_all(desk, ANOTHER)
    desk.press("Enter", "t")
    expect(desk.page.locator(".comes")).to_have_text("Submit to save your changes to A.")
    send(desk, "Enter").press("a", "d", "Enter").told("Mark what does not hold")
    send(desk, "c", "Enter").says("saved")
    stored(desk, 3)
    valid, edited, _ = Judgment.objects.order_by("pk")
    assert (valid.answer, edited.answer, edited.content["texts"]) == ("valid", "edited", {"positive": ANOTHER})
    assert (last().answer, last().reason) == ("dropped", "C contradicts both A and B.")
    desk.press("d", "Enter").told("Mark what does not hold").press("t", "Enter").told("every line")
    send(desk, "a", "Enter").says("saved")
    stored(desk, 4)
    assert (last().answer, last().content["guidelines"]["text_alone"]) == ("dropped", False)
    assert sum(last().content["guidelines"].values()) == len(last().content["guidelines"]) - 1
    desk.press("d", "a", "Enter").says("saved")  # "All hold" takes a drop without a broken line back
    stored(desk, 5)
    assert last().answer == "valid" and desk.page.errors == []


def test_another_sentence_takes_the_place_of_the_third_and_all_of_it_by_mouse(sit):
    desk = sit(annotator=somebody("visla-triplet", 2))
    third, under = desk.page.locator("[name=third]"), place(desk, "under")
    desk.press(under)
    expect(third).to_have_value("A cat is under the basket.")
    expect(desk.page.locator(".sentence").nth(2).locator(".change")).to_be_hidden()
    desk.press("0")
    expect(third).to_have_value("A cat is beside the basket.")
    desk.press(under, "a")
    third.press("End")
    third.press_sequentially(" No.")
    expect(desk.page.locator(".sentence").nth(2).locator("ins")).to_have_text(["No."])
    desk.page.reload()
    desk.at_desk()
    expect(third).to_have_value("A cat is under the basket. No.")
    send(desk, "Enter").says("saved")
    stored(desk, 1)
    assert last().content["from"] == {"negative": "caption-candidate-0"}
    desk.page.get_by_role("button", name="All hold").click()
    desk.page.get_by_role("textbox", name="Sentence B").fill("A basket with a cat in it.")
    desk.page.get_by_role("button", name="Restore sentence B").click()
    expect(desk.page.get_by_role("textbox", name="Sentence B")).to_have_value("The basket holds a cat.")
    desk.page.get_by_role("radiogroup", name="All three make sense").get_by_role("radio", name="broken").click()
    desk.page.get_by_role("checkbox", name="Drop all three").click()
    desk.press("Enter").says("saved")  # keys go on after a click on a box
    stored(desk, 2)
    assert last().content["guidelines"]["fluent"] is False


def test_without_script_a_sentence_is_edited_all_the_same(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{somebody('visla-paraphrase').token}/")
    expect(page.locator("[name=words]")).to_be_hidden()
    page.get_by_role("radio").first.check(force=True)
    page.get_by_role("checkbox", name="Edit").check(force=True)
    page.get_by_label("Your version").fill(ANOTHER)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Your version")).to_have_value(ANOTHER)
    assert Judgment.objects.filter(answer="edited").count() == 1


@pytest.mark.nightly
def test_without_script_three_sentences_are_mended_all_the_same(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{somebody('visla-triplet').token}/")
    for line in page.get_by_role("radio", name="holds").all():
        line.check(force=True)
    page.get_by_role("radio", name=re.compile("under")).check(force=True)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#done")).to_have_text("1")
    assert last().content["texts"] == {"negative": "A cat is under the basket."}


def test_another_study_in_the_same_browser_leaves_what_was_typed_alone(sit):
    desk = sit(annotator=somebody("visla-triplet", 1))
    desk.press("e")
    type_all(desk, ANOTHER)
    sit(annotator=somebody("visla-triplet", 1), page=desk.page)
    expect(desk.open().page.locator("[name=first]")).to_have_value(ANOTHER)


def test_sentences_beyond_what_a_request_that_outlives_its_page_may_hold_arrive(sit):
    """Written as a form's fields, these are 72,900 bytes; a browser takes 65,536 with `keepalive`."""
    said = {"positive": "猫在篮", "second_positive": "篮里猫", "negative": "猫在旁"}
    desk = sit(annotator=somebody("visla-triplet", [{role: [words * 900] for role, words in said.items()}]))
    desk.press("a", "Enter")
    stored(desk, 1)


@pytest.mark.real
@pytest.mark.parametrize(
    ("protocol", "keys"),
    [("visla-paraphrase", ["1", "Enter"]), pytest.param("visla-triplet", ["a", "Enter"], marks=pytest.mark.nightly)],
)
def test_real_rows_are_walked_by_keyboard_and_break_no_rule_of_accessibility(real, sit, axe_violations, protocol, keys):
    """The last screen edited, and rejected."""
    desk = sit(annotator=studies.annotator(visla_items.real(real / "data", protocol, 3)))
    for _ in range(2):
        send(desk, *keys)
    desk.press("1", "e")
    desk.page.keyboard.type(" And more.")
    assert flaws(desk.page, axe_violations) == []
    desk.press("Escape", "z", *("rs" if protocol == "visla-paraphrase" else "asd"))
    assert flaws(desk.page, axe_violations, "#place") == []
    desk.press("Enter")
    desk.all_done()
    assert Judgment.objects.count() == 3 and desk.page.errors == []
