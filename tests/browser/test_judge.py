"""Judging in a real Chromium by keyboard alone, as DESIGN's laws 1 to 3 promise it to the annotator."""

import re

import pytest
from playwright.sync_api import expect

from annotation.assignment import leases
from annotation.models import Annotator, Flag, Judgment, Slot, Stage
from annotation.protocols.keys import given_keys
from annotation.screens.read_answer import place_on_screen
from annotation.studies import lifecycle as study_lifecycle
from tests.annotation.protocols.files import changed, read
from tests.annotation.protocols.typed import LOOKS, SCREENS
from tests.browser.conftest import Sitting, refuse, submit_button
from tests.browser.looking import compose, flaws, in_windows, tab_to
from tests.builders import pictures, studies

PAST = "2020-01-01T00:00Z"


def stored(sitting: Sitting, count: int) -> list[tuple[str, str]]:
    """Waits until the page says that all is saved; then the database has that many."""
    sitting.says("saved")
    sitting.page.wait_for_function("() => !Object.keys(localStorage).length")
    answers = sitting.answers()
    assert len(answers) == count
    return answers


def test_six_screens_by_keyboard_alone_and_the_time_that_somebody_looks(sit):
    desk = sit(items=6, ready=False)
    desk.page.get_by_role("button", name="start").focus()
    desk.press("Enter")
    first = desk.at_desk().lease
    expect(desk.page.locator("#chip")).to_be_hidden()
    desk.page.evaluate("new Promise(done => setTimeout(done, 300))")  # the annotator looks at the screen
    desk.press("2").picked("2").press("Enter").counts(1).says("saved")  # 1: a picture
    judgment = Judgment.objects.get()
    assert 250 < judgment.active_ms <= judgment.elapsed_ms < 5000
    expect(desk.page.locator("#left")).to_have_text("about 1 min, 5 screens left")
    desk.press("n").picked("none").press("Enter").counts(2).says("saved")  # 2: none
    desk.press("0").picked("none").press("1").picked("1").press("Enter").counts(3).says("saved")  # 3: another mind
    desk.press("f")
    desk.page.keyboard.type("n u 1 z: odd sentence")
    desk.press("Tab", "Enter").told("Flagged")
    desk.press("Shift+S").told("Skipped")  # 4: skipped
    desk.page.get_by_text("Cannot judge").first.focus()
    desk.press("Enter")
    desk.page.keyboard.type("It is blank.")
    desk.press("Tab", "Enter").counts(4)  # 5
    desk.press("3", "Enter")  # 6
    desk.all_done()
    answers = desk.answers()
    assert answers[0] == (first, "2") and [answer for _, answer in answers] == ["2", "none", "1", "cannot_judge", "3"]
    assert Flag.objects.get().reason == "n u 1 z: odd sentence"
    assert desk.page.errors == []


def test_undo_brings_the_screen_back_and_keeps_the_one_in_front_as_next(sit):
    desk = sit()
    first = desk.lease
    desk.press("2", "Enter").counts(1).says("saved")
    second = desk.lease
    desk.press("u").told("Undone").picked("2").counts(0)
    assert desk.lease == first
    desk.press("3", "Enter").counts(1).nothing_picked()
    assert desk.lease == second
    assert [answer for _, answer in stored(desk, 3)] == ["2", "", "3"]
    desk.press("Backspace").counts(1).press("Control+z").told("Undone. Pick again").counts(0)
    desk.press("Enter").counts(1)
    assert desk.page.locator("#say").inner_text() == ""  # what was said was of the screen before


def test_looking_back_changes_nothing_without_another_answer_and_otherwise_makes_a_revision(sit):
    desk = sit(items=4)
    on_their_way, banner = [], desk.page.locator("#banner")
    desk.page.route("**/submit/", lambda route: on_their_way.append(route))
    first = desk.lease
    desk.press("1", "Enter").counts(1)
    present = desk.lease
    desk.press("ArrowLeft").picked("1")
    expect(banner).to_contain_text("This is screen 1, which you have answered.")
    on_their_way.pop().continue_()
    desk.says("saved").page.unroute("**/submit/")
    assert banner.inner_text().startswith("This is screen 1,")  # the number stays
    desk.press("Enter")
    assert desk.lease == present
    desk.press("ArrowLeft", "3", "ArrowRight").nothing_picked()
    desk.press("ArrowLeft").picked("1")
    stored(desk, 1)
    desk.press("ArrowRight", "2", "Enter").counts(2)
    present = desk.lease
    desk.press("ArrowLeft").picked("2").press("ArrowLeft").picked("1").press("4", "Enter").counts(2)
    assert desk.lease == present
    assert stored(desk, 3)[2] == (first, "4")
    assert str(Judgment.objects.get(revision=2).lease.token) == first
    desk.press("n", "Enter").counts(3).says("saved")
    desk.page.reload()  # the history goes back before it
    desk.at_desk().press("ArrowLeft").picked("none")
    desk.press("ArrowLeft").picked("4").press("ArrowLeft").picked("2").press("ArrowLeft").told("no earlier screen")


def test_enter_twice_or_held_down_and_two_clicks_submit_once_and_ctrl_enter_sends_a_sheet(sit):
    desk = sit(items=5)
    desk.press("1", "Enter", "Enter").counts(1).told("Pick an answer first")
    desk.press("2")
    for repeat in (False, True, True):
        desk.page.evaluate(
            "repeat => document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', repeat, bubbles: true}))",
            repeat,
        )
    desk.counts(2)
    desk.page.locator("#place .card-option").first.click()
    submit_button(desk.page).dblclick()
    desk.counts(3)
    stored(desk, 3)
    desk.press("f")
    desk.page.keyboard.type("The sentence is cut off.")
    desk.press("Control+Enter").told("Flagged. Thank you!").counts(3)
    desk.page.locator("summary", has_text="Cannot judge").click()
    desk.press("Control+Enter").told("Say in a few words why")
    clear = "() => document.getElementById('say').getBoundingClientRect().bottom"
    sheet = "() => document.querySelector('details[open] .sheet').getBoundingClientRect().top"
    assert desk.page.evaluate(clear) < desk.page.evaluate(sheet)
    desk.page.keyboard.type("It is in Dutch.")
    desk.press("Control+Enter").counts(4)
    assert desk.page.locator("#say").inner_text() == ""  # what was said was of the screen before


NEWEST_FIRST = """() => {
  let next = 9;
  crypto.randomUUID = () => `${next--}0000000-0000-4000-8000-000000000000`;
  const { keys } = Object;
  Object.keys = (of) => (of === localStorage ? keys(of).sort() : keys(of));
}"""


def test_an_answer_given_offline_waits_and_is_saved_exactly_once_unless_it_is_taken_back(sit):
    desk = sit(items=5)
    desk.page.evaluate(NEWEST_FIRST)  # a browser's storage lists them in any order; they leave in the order of giving
    desk.page.context.set_offline(True)
    desk.press("1", "Enter").says("not saved, retrying").press("2", "Enter").says("not saved, retrying (2)")
    assert desk.answers() == []
    desk.page.context.set_offline(False)
    assert [answer for _, answer in stored(desk, 2)] == ["1", "2"]
    desk.at_desk().nothing_picked()
    desk.page.context.set_offline(True)
    desk.press("3", "Enter").says("not saved, retrying").press("2", "Enter").says("not saved, retrying (2)")
    desk.press("u").told("Undone").picked("2")  # it has not left this device
    desk.press("4", "Enter")
    desk.page.context.set_offline(False)
    assert [answer for _, answer in stored(desk, 4)][2:] == ["3", "4"]


def test_an_answer_is_saved_exactly_once_whatever_the_server_does(sit, open_page):
    """It is still here after a reload; its receipt is lost; the server fails on all of them, or on one alone."""
    page = open_page(unshared=True, reduced_motion="no-preference")
    page.clock.install()
    desk = sit(items=6, page=page)

    def can_be_reached() -> None:
        desk.page.unroute("**/submit/")
        desk.page.clock.fast_forward(8_000)  # to the next try

    first = desk.lease
    desk.page.route("**/submit/", refuse)
    desk.press("3", "Enter").says("not saved, retrying")
    desk.page.reload()
    desk.at_desk()
    assert desk.lease != first
    desk.says("not saved, retrying")
    can_be_reached()
    assert stored(desk, 1) == [(first, "3")]
    desk.page.route("**/submit/", lambda route: (route.fetch(), refuse(route)))
    desk.press("2", "Enter").says("not saved, retrying")
    can_be_reached()
    assert [answer for _, answer in stored(desk, 2)][1:] == ["2"]
    desk.page.route("**/submit/", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    desk.press("3", "Enter").says("not saved, retrying")
    can_be_reached()
    assert [answer for _, answer in stored(desk, 3)][1:] == ["2", "3"]
    failing = desk.lease

    def fail(route):
        if failing in (route.request.post_data or ""):
            route.fulfill(status=500, body="<h1>Fault</h1>")
        else:
            route.continue_()

    desk.page.route("**/submit/", fail)
    desk.press("1", "Enter").says("not saved, retrying").press("2", "Enter")
    desk.page.wait_for_function("() => Object.keys(localStorage).length === 1")
    desk.says("not saved, retrying")
    assert [answer for _, answer in desk.answers()][3:] == ["2"]  # the others go
    can_be_reached()
    assert stored(desk, 5)[4] == (failing, "1")


def question(tab: Sitting):
    return tab.page.get_by_role("dialog", name="You answered this screen in two tabs")


def choose(tab: Sitting, name: str) -> None:
    """By keyboard alone."""
    expect(question(tab).get_by_role("heading")).to_be_focused()
    tab_to(tab.page, question(tab).get_by_text(name, exact=True))
    tab.press("Enter")


def counted(lease: str) -> str:
    judgment = Judgment.objects.select_related("lease").get(lease__token=lease, counted_on__isnull=False)
    return place_on_screen(judgment.lease, judgment.answer)


def test_two_tabs_ask_which_answer_counts_and_know_of_each_other(sit, axe_violations):
    one = sit(items=4)
    two = sit(annotator=one.annotator, page=one.page.context.new_page())
    lease = one.lease
    assert two.lease == lease
    two.press("1", "Enter").counts(1).says("saved")
    expect(one.page.locator("#banner")).to_contain_text("You answered this screen in another tab.")
    one.press("2", "Enter")
    for tab in (one, two):
        expect(question(tab)).to_contain_text(re.compile(r"Stored\s+Picture 1\s+Not stored\s+Picture 2"))
    assert flaws(one.page, axe_violations, "dialog[open]") == []
    choose(one, "Keep the stored answer")
    for tab in (one, two):
        expect(question(tab)).to_have_count(0)
    assert counted(lease) == "1"
    two.press("ArrowLeft").picked("1").press("3", "Enter")
    stored(two, 2)
    one.says("saved").press("ArrowLeft").picked("3")
    two.press("ArrowLeft").picked("3").press("4", "Enter")
    expect(one.page.locator("#banner")).to_contain_text("You have changed it in another tab")
    one.press("n", "Enter")
    choose(two, "Store the other answer instead")  # either tab may say it
    one.says("saved")
    expect(question(one)).to_have_count(0)
    assert counted(lease) == "none"
    one.page.context.set_offline(True)
    two.press("1", "Enter").says("not saved, retrying").press("ArrowLeft", "2", "Enter").says("not saved, retrying (2)")
    one.page.context.set_offline(False)
    two.says("saved")
    assert [answer for _, answer in stored(one, 6)][-2:] == ["1", "2"]  # a change that follows its answer asks nothing
    assert [error for error in one.page.errors if "409" not in error and "INTERNET" not in error] == []


def test_the_question_waits_for_its_answer_over_a_reload_and_at_the_end_of_the_work(sit):
    one = sit(items=1)
    two = sit(annotator=one.annotator, page=one.page.context.new_page())
    lease = one.lease
    two.press("1", "Enter")
    two.all_done()
    one.press("2", "Enter")
    expect(question(one)).to_be_visible()
    one.page.reload()
    choose(one, "Store the other answer instead")
    expect(question(one)).to_have_count(0)
    one.all_done()
    one.page.wait_for_function("() => !Object.keys(localStorage).length")
    assert [answer for _, answer in one.answers()] == ["1", "2"] and counted(lease) == "2"


def centre(desk: Sitting, index: int) -> tuple[float, float]:
    box = desk.page.locator(".card-option").nth(index).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


KEY_WHILE_RULES_CLOSE = """() => {
  document.getElementById("rules-dialog").close();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "f", bubbles: true }));
  return new Promise((done) => setTimeout(done, 100));
}"""


def test_keys_of_the_rules_the_zoom_and_the_sheets(sit):
    """No key fires while somebody types, nor with foreign modifiers. When the window becomes another, the pictures stay
    and the sheets are inside it."""
    desk = sit()
    for key in ("h", "?"):
        desk.press(key)
        expect(desk.page.locator("#rules-dialog")).to_be_visible()
        desk.press("2", "Escape").nothing_picked()
        expect(desk.page.locator("#rules-dialog")).to_be_hidden()
    desk.press("h").page.evaluate(KEY_WHILE_RULES_CLOSE)  # the dialog's event comes a moment after it is closed
    expect(desk.page.locator("#flag .sheet")).to_be_visible()
    desk.press("Escape")
    desk.press("z", "ArrowRight", "ArrowDown")
    styles = desk.page.evaluate(
        "[...document.querySelectorAll('#place img')].map(i => { const s = getComputedStyle(i);"
        " return [s.transform, i.closest('.desk').style.getPropertyValue('--zx')] })"
    )
    assert styles == [["matrix(2.5, 0, 0, 2.5, 0, 0)", "58%"]] * 4
    desk.page.mouse.move(*centre(desk, 1))
    assert desk.page.evaluate("desk.style.getPropertyValue('--zx')").startswith("50")
    desk.press("Escape")
    assert "zoomed" not in desk.page.locator("#desk").get_attribute("class")
    desk.press(" ", "2").picked("2")
    desk.press("Escape")
    desk.press("1", "f")
    desk.page.keyboard.type("2 n z u h ?")
    desk.press("Shift+Enter")
    assert desk.page.locator("#flag-reason").input_value() == "2 n z u h ?\n"
    desk.picked("1").counts(0)
    desk.press("Escape", "2").picked("2")
    desk.press("Control+1", "Alt+3", "Meta+4", "Control+Shift+z", "Alt+n").picked("2")
    desk.page.evaluate(
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: '&', code: 'Digit1', bubbles: true}))"
    )
    desk.picked("1")  # a French keyboard
    sizes = [(1000, 900), (1366, 768), (390, 844), (1366, 768), (1000, 500), (1366, 768), (683, 384)]  # 200% zoom
    for width, *_ in in_windows(desk.page, *((*size, "light") for size in sizes)):
        seen = desk.page.locator(".card-option img").all()
        assert seen and (width == 683 or all(picture.bounding_box()["width"] > 100 for picture in seen)), width
        desk.picked("1")
        for sheet in ("cannot", "flag"):
            desk.page.locator(f"#{sheet} summary").click()
            expect(desk.page.locator(f"#{sheet} .sheet")).to_be_in_viewport(ratio=1)
            desk.press("Escape")


def test_a_key_opens_the_zoom_where_the_pointer_or_the_last_zoom_was(sit):
    """Arrow keys pan, also for somebody whose focus is on an answer."""
    desk = sit(items=2)
    seen = "() => ['--zx', '--zy'].map(name => Math.round(parseFloat(desk.style.getPropertyValue(name))))"
    box = desk.page.locator(".card-option").first.bounding_box()
    desk.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] * 3 / 4)
    desk.press("z")
    assert desk.page.evaluate(seen) == [25, 75]
    desk.press("ArrowRight", "ArrowUp", "Escape", "z")
    assert desk.page.evaluate(seen) == [33, 67]
    desk.press("Escape", "1", "Enter").counts(1)
    desk.page.locator("#place input[name=answer]").first.focus()
    desk.press("z", "ArrowLeft", "ArrowLeft").nothing_picked()
    assert desk.page.evaluate(seen) == [17, 67]
    desk.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert desk.page.evaluate(seen) == [50, 50]


def test_enter_sends_a_flag_and_escape_keeps_its_words_for_their_screen(sit):
    desk = sit(items=3)
    words = desk.page.locator("#flag-reason")
    desk.press("f")
    desk.page.keyboard.type("The sentence is cut")
    desk.press("Escape", "f")
    assert words.input_value() == "The sentence is cut"
    desk.press("Escape", "1", "Enter").counts(1).press("f")
    assert words.input_value() == ""  # it was about the screen before
    desk.press("Escape", "ArrowLeft").told("which you have answered").press("f")
    compose(words, "Enter")
    assert not Flag.objects.exists()
    desk.page.keyboard.type(" off.")
    desk.press("Enter").told("Flagged. Thank you!").press("2").picked("2")
    assert Flag.objects.get().reason == "The sentence is cut off."


def test_single_keys_can_be_switched_off(sit, axe_violations):
    """What types something does nothing then; Enter, arrows and Ctrl with a key still do."""
    desk = sit(items=3)
    desk.press("h")
    with desk.page.expect_navigation():
        desk.page.get_by_role("button", name="off").click()
    desk.at_desk().press("1", "n", "z", "f", "u", "h", "?", "Shift+s", " ").nothing_picked()
    assert not desk.page.locator("dialog[open], details[open], .zoomed, .walk kbd:visible").count()
    desk.page.locator("#place input[name=answer]").first.focus()
    desk.press(" ", "Enter").counts(1).press("ArrowLeft").picked("1")
    desk.press("Control+z").told("Undone").counts(0)
    desk.page.locator("#rules").click()
    assert flaws(desk.page, axe_violations) == []
    with desk.page.expect_navigation():
        desk.page.get_by_role("button", name="on", exact=True).click()
    desk.at_desk().press("2").picked("2")


def test_auto_advance_submits_after_a_moment_and_can_be_taken_back(sit):
    desk = sit(auto_advance=True)
    desk.press("1", "3").counts(1).says("saved").press("u").told("Undone").picked("3")
    assert [answer for _, answer in stored(desk, 2)] == ["3", ""]


def test_a_picture_that_does_not_load_says_so_and_can_be_loaded_again(sit):
    desk = sit()
    desk.page.route("**/i/*", refuse)
    desk.page.route("**/i/*again*", lambda route: route.continue_())
    desk.page.reload()
    expect(desk.page.get_by_text("Picture 2 did not load.")).to_be_visible()
    desk.page.locator(".broken button").nth(1).click()
    expect(desk.page.get_by_text("Picture 2 did not load.")).to_be_hidden()
    expect(desk.page.locator(".broken")).to_have_count(0)  # the others are asked for again after 2 seconds


def test_a_page_left_open_renews_its_leases(sit):
    annotator = pictures.desk()
    Stage.objects.update(lease_seconds=3)  # renewed when a third of that has passed
    desk = sit(annotator=annotator)
    with desk.page.expect_response("**/renew/", timeout=15_000) as answer:
        desk.nothing_picked()
    assert answer.value.json() == {"held": 2}


def test_the_waiting_page_goes_on_by_itself(sit):
    holder = pictures.desk(items=1)
    leases.hold(annotator=holder, stage=Stage.objects.get())
    waiting = studies.annotator(holder.study, ready=False)
    desk = sit(annotator=waiting)  # nobody reads rules for nothing
    expect(desk.page.get_by_text("Another annotator has 1 screen open.")).to_be_visible()
    Slot.objects.update(held_until=PAST)
    desk.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    desk.page.get_by_role("button", name="start").click()
    desk.at_desk()


def test_a_pause_is_met_after_the_screen_in_front(sit):
    desk = sit(items=3)
    study_lifecycle.move_study(study=desk.annotator.study, to="paused", by="test")
    desk.press("1", "Enter").says("saved").press("2", "Enter")
    expect(desk.page.get_by_role("heading", name="The study is paused")).to_be_visible()
    assert len(desk.answers()) == 2


def test_a_late_answer_is_kept_and_the_annotator_is_told_kindly_also_where_it_was_the_last(sit):
    desk = sit(items=2)
    Slot.objects.filter(annotator=desk.annotator).update(held_until=PAST)
    other = studies.annotator(desk.annotator.study)
    for _ in range(2):
        studies.judgment(other, Stage.objects.get())
    desk.press("1", "Enter").told("saved but does not count").press("1", "Enter")
    desk.all_done()
    expect(desk.page.get_by_text("saved but does not count")).to_be_visible()


def test_whoever_is_out_sees_it_after_the_answer_on_the_screen(sit):
    desk = sit(items=3)
    for count, field in enumerate(["left_at", "excluded_at"], 1):
        Annotator.objects.update(**{field: PAST}, exclusion_reason="A reason.")
        desk.press("1", "Enter")
        expect(desk.page.locator("#stopped")).to_be_visible()
        assert len(desk.answers()) == count
        Annotator.objects.update(**{field: None})
        desk.open()


# Layouts without Latin letters, by what a browser says of their keys: the key, its place, modifiers, and what it means
LAYOUTS = [
    ("т", "KeyN", "", "n"), ("Ы", "KeyS", "shift", "s"), ("ى", "KeyN", "", "n"), ("لا", "KeyB", "", "b"),
    ("ν", "KeyN", "", "n"), ("מ", "KeyN", "", "n"), ("/", "KeyQ", "", "q"), ("ｎ", "KeyN", "", "n"),
    ("Dead", "KeyE", "", "e"), ("q", "KeyA", "", "q"), (",", "KeyM", "", ","), ("ı", "KeyI", "", "ı"),
    ("đ", "KeyF", "altgraph", "đ"),
    ("ж", "KeyN", "altgraph", "ж"), ("&", "Digit1", "", "1"), ("1", "Digit1", "shift", "1"), ("١", "Digit1", "", "1"),
    ("۴", "Numpad4", "", "4"), ("९", "", "", "9"), ("３", "Digit3", "", "3"), ("Dead", "Digit6", "", "6"),
    ("!", "Digit1", "shift", "!"), ("~", "Digit2", "altgraph", "~"), ("End", "Numpad1", "", "end"),
]  # fmt: skip
PRESS = """([key, code, held]) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
  key, code, shiftKey: held === "shift", ctrlKey: held === "ctrl", modifierAltGraph: held === "altgraph",
  isComposing: held === "composing", bubbles: true, cancelable: true,
}))"""


def test_keys_are_read_by_their_place_where_a_layout_has_no_latin_letter_or_digit(sit):
    desk = sit(items=4)
    keys = desk.page.locator("link[href*='judging/keys']").get_attribute("href")
    read = """async ([keys, layouts]) => {
      const { digit, letter } = await import(keys);
      return layouts.map(([key, code, held]) => {
        const modifiers = { shiftKey: held === "shift", modifierAltGraph: held === "altgraph" };
        const event = new KeyboardEvent("keydown", { key, code, ...modifiers });
        return digit(event) ?? letter(event);
      });
    }"""
    assert desk.page.evaluate(read, [keys, LAYOUTS]) == [meant for *_, meant in LAYOUTS]

    def press(key: str, code: str, held: str = "") -> None:
        desk.page.evaluate(PRESS, [key, code, held])

    press("т", "KeyN", "composing")
    desk.nothing_picked()
    press("т", "KeyN")
    desk.picked("none")
    press("я", "KeyZ")
    assert desk.page.locator("#zoom").get_attribute("aria-pressed") == "true"
    desk.press("Enter").counts(1).says("saved")
    press("г", "KeyU")
    desk.told("Undone").counts(0).press("Enter").counts(1).says("saved")
    press("я", "KeyZ", "ctrl")
    desk.told("Undone").counts(0)
    press("ش", "KeyF")
    assert desk.page.locator("#flag").evaluate("sheet => sheet.open")
    desk.press("Escape")
    press("؟", "Slash", "shift")
    assert desk.page.locator("#rules-dialog").evaluate("dialog => dialog.open")
    desk.press("Escape")
    press("ס", "KeyS", "shift")
    desk.told("Skipped")


def test_a_key_gives_the_answer_that_looks_like_it(sit):
    def shown(labels: list[str]) -> list[tuple[str, str]]:
        fixed = {f"v{place}": label for place, label in enumerate(labels)}
        file = changed(("answers", [{"name": "fit", "kind": "pick", "of": [], "fixed": fixed}]), ("decide", []))
        return [(one.label, " ".join(one.keys)) for one in given_keys(read(file))["fit"]]

    typed = [(label, "", [(label, keys)], label) for label, keys in LOOKS.items() if keys and len(label) == 1]
    screens = typed + [(key, code, shown(labels), meant) for labels, key, code, meant in SCREENS]
    screens += [
        (key, code, [("3", "a 3"), ("3.", "b 3")], None) for key, code in [("3", ""), ("٣", ""), ('"', "Digit3")]
    ]
    page = sit(items=1).page
    keys = page.locator("link[href*='judging/keys']").get_attribute("href")
    found = page.evaluate(
        """async ([keys, screens]) => {
          const { meant } = await import(keys);
          return screens.map(([key, code, answers]) => {
            const those = answers.map(([label, keys]) => ({ value: label, dataset: { keys } }));
            return meant(new KeyboardEvent("keydown", { key, code }), those)?.value ?? null;
          });
        }""",
        [keys, screens],
    )
    assert found == [meant for *_, meant in screens]


def test_a_screen_that_cannot_be_laid_out_says_so_and_takes_no_answer(open_page, sit):
    page = open_page(reduced_motion="no-preference", unshared=True)
    page.route("**/layout*.js", lambda route: route.fulfill(
        body="export const fit = () => { if (!window.works) throw new Error('cannot lay out'); };",
        content_type="text/javascript",
    ))  # fmt: skip
    desk = sit(page=page, items=3)
    expect(page.locator("#place")).to_contain_text("This screen cannot be shown.")
    desk.press("2", "Enter", "n", "Enter")
    page.locator("#submit").click()
    page.locator("#cannot summary").click()
    page.keyboard.type("The picture is black.")
    desk.press("Control+Enter").told("This screen cannot be shown.")
    expect(page.locator("#reason")).to_have_value("The picture is black.")
    desk.press("Escape")
    assert desk.page.evaluate("Object.keys(localStorage).length") == 0
    page.evaluate("window.works = true")
    desk.press("Shift+S").told("Skipped")
    desk.press("2").picked("2").press("Enter").counts(1).says("saved")
    assert [answer for _, answer in desk.answers()] == ["2"]
    page.errors.clear()


@pytest.mark.parametrize(
    ("held", "said"), [(True, "is still loading"), pytest.param(False, "did not load", marks=pytest.mark.nightly)]
)
def test_no_answer_is_taken_while_a_picture_is_hidden(open_page, site, held, said):
    page, waiting = open_page(reduced_motion="no-preference", unshared=True), []
    page.route("**/i/*", lambda route: waiting.append(route) if held else route.abort())
    desk = Sitting(page, site, pictures.desk(items=2))
    page.goto(desk.home, wait_until="commit")
    desk.at_desk().press("2").picked("2")
    page.keyboard.press("Enter")  # at once, as an annotator may
    desk.told(said)
    assert not Judgment.objects.exists() and page.evaluate("Object.keys(localStorage).length") == 0
    page.errors.clear()
    if held:
        for route in waiting:
            route.continue_()
        page.wait_for_function("() => [...document.querySelectorAll('#place img')].every(one => one.naturalWidth)")
        desk.press("Enter").counts(1)
