"""The page of adjudication in a real browser: by keyboard alone, without script, accessible."""

import pytest
from playwright.sync_api import expect

from annotation.adjudication import cases
from annotation.judging import submissions
from annotation.models import Outcome, Stage, Study
from annotation.pipeline import outcomes
from tests.annotation.adjudication.test_declared_decisions import ASKED
from tests.browser.conftest import press
from tests.browser.looking import compose, enter, fits, flaws, in_windows
from tests.builders import declared, pictures, studies, text_items
from tests.builders.pictures import paint


def split(study: Study) -> Stage:
    """Two people disagree about everything, and one flags the first."""
    stage = study.stages.select_related("study").get(position=1)
    for answer in ("none", "candidate-1"):
        person = studies.annotator(study)
        while judged := studies.judgment(person, stage, answer):
            lease = judged.lease
    submissions.flag(annotator=person, token=lease.token, reason="The cup is cut off at the left edge.")
    return stage


def queue(stage: Stage, query: str = "") -> str:
    return f"/studies/{stage.study_id}/quality/decide/?stage={stage.position}{query}"


@pytest.fixture
def stage():
    return split(paint(studies.study(items=3, overlap=2, tie_rule="adjudicate")))


def test_three_items_by_keyboard_alone(visit, page, stage, axe_violations):
    order = [pk for pk, _ in cases.queue(stage)]
    visit(page, queue(stage))
    assert flaws(page, axe_violations) == []
    for place, (key, number) in enumerate([("2", 1), ("n", None), ("f", None)]):
        expect(page.locator("input[name=task]").first).to_have_value(str(order[place]))
        if place == 1:
            page.keyboard.press("s")  # the last reason, before an answer is picked
        page.keyboard.press(key)
        expect(page.locator("#note")).not_to_be_focused()
        if place == 0:
            page.keyboard.press("Enter")
            page.keyboard.type("I looked at it, 1 2 n r.")  # keys do nothing while one types
        elif place == 2:
            page.keyboard.press("/")
            assert compose(page.locator("#note"), "ArrowUp")
            expect(page.locator("#note")).to_have_value("")
            page.keyboard.press("Escape")
            page.keyboard.press("s")  # or after it
        expect(page.locator("#note")).to_have_value("I looked at it, 1 2 n r.")
        if number is not None:
            expect(page.locator("input[name=verdict]").nth(number)).to_be_checked()
        enter(page)
    expect(page.locator("#main")).to_contain_text("Nothing is waiting")
    came = dict(Outcome.objects.values_list("task", "outcome"))
    assert [came[pk] for pk in order] == [cases.options_in_order(stage.tasks.get(pk=order[0]))[1], "none", ""]
    visit(page, queue(stage, "&show=decided"))
    assert (flaws(page, axe_violations), page.errors) == ([], [])


def test_keys_are_read_by_their_place_and_can_be_switched_off(visit, page, stage):
    visit(page, queue(stage))
    picked = page.locator("input[name=verdict]:checked")
    for composing, values in ((True, []), (False, ["none"])):
        page.evaluate(
            """isComposing => document.body.dispatchEvent(
              new KeyboardEvent("keydown", { key: "т", code: "KeyN", isComposing, bubbles: true }))""",
            composing,
        )
        assert [one.get_attribute("value") for one in picked.all()] == values
    with visit(page, "/account/").expect_navigation():
        page.get_by_role("button", name="off").click()
    visit(page, queue(stage))
    page.keyboard.press("2")
    page.keyboard.press("?")
    assert picked.count() == 0 and not page.locator("#keys").evaluate("keys => keys.open")
    page.locator("#keys summary").click()
    expect(page.locator("#keys")).to_contain_text("off (change)")


def test_it_works_without_script(visit, open_page, stage):
    page = visit(open_page(java_script_enabled=False), queue(stage))
    page.locator("input[name=verdict]").first.check()
    page.fill("#note", "It fits.")
    page.keyboard.press("Enter")
    page.wait_for_url("**next=*")
    assert Outcome.objects.get().by == "adjudicator"
    page.fill("#note", "Look again.")
    page.click("#send-back")
    assert page.locator(".message").inner_text() == "Sent back for one more judgment."


def test_words_are_adopted_and_written_by_keyboard_alone(visit, page, axe_violations):
    edited = text_items.edited_three_ways()
    paint(edited.study)
    order = [pk for pk, _ in cases.queue(edited)]
    visit(page, queue(edited))
    assert flaws(page, axe_violations) == []
    adopted = page.locator(".given .words").nth(1).inner_text()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("Reads best.")
    enter(page)
    expect(page.locator("input[name=task]").first).to_have_value(str(order[1]))
    page.keyboard.press("e")
    expect(page.locator("textarea")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("A cat lies on a mat, 1 e r.")
    expect(page.locator("input[value=own_words]")).to_be_checked()
    page.locator("#note").focus()
    page.keyboard.type("Mine.")
    enter(page)
    expect(page.locator("#main")).to_contain_text("Nothing is waiting")
    texts = {outcome.task_id: outcome.content["texts"]["second_positive"] for outcome in Outcome.objects.all()}
    assert texts[order[0]] in adopted and texts[order[1]] == "A cat lies on a mat, 1 e r."
    assert page.errors == []


def test_a_set_marks_and_a_number_are_answered_on_the_annotators_page(visit, page, axe_violations):
    stage = declared.judge(declared.of_file(ASKED, 1), 2, lambda task, who: f"option-{who}/1000:1000/none/{3 + who}/")
    pictures.paint(stage.study)
    outcomes.settle(stage.tasks.get(), stage)
    visit(page, queue(stage))
    page.keyboard.press("e")
    expect(page.locator("#desk.ready")).to_be_visible()
    for _ in in_windows(page):
        assert fits(page) and axe_violations(page) == []
    press(page, "1", "3", "ArrowDown")
    page.locator(".marking").click(position={"x": 60, "y": 40})
    page.keyboard.press("Escape")
    press(page, "ArrowDown", "ArrowDown", "7", "Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#decision")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_be_focused()
    expect(page.locator("input[value=own_answer]")).to_be_checked()
    expect(page.locator(".drawing")).to_contain_text("E")
    assert flaws(page, axe_violations) == []
    page.keyboard.type("I looked.")
    enter(page)
    expect(page.locator("#main")).to_contain_text("Nothing is waiting")
    which, where, part, count, _ = Outcome.objects.get().outcome.split("/")
    assert (which.count("option"), where.count(":"), part, count, page.errors) == (2, 1, "none", "7", [])


def test_points_and_boxes_are_set_by_touch_beside_options_that_are_pictures(visit, open_page):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    stage = declared.judge(declared.of_file(ASKED, 1), 2, lambda task, who: f"option-{who}/1000:1000/none/{3 + who}/")
    pictures.paint(stage.study)
    outcomes.settle(stage.tasks.get(), stage)
    visit(page, queue(stage))
    page.get_by_text("Answer it yourself").first.tap()
    expect(page.locator("#desk.ready")).to_be_visible()
    picture, part = page.locator(".marking"), page.locator('.asked[data-name="part"]')
    picture.tap(position={"x": 60, "y": 40})
    expect(page.locator(".mark.point")).to_have_count(1)
    part.evaluate("part => part.scrollIntoView({ block: 'end' }) || scrollBy(0, 160)")  # above the buttons
    part.tap(position={"x": 60, "y": 20})
    box, finger = picture.bounding_box(), page.context.new_cdp_session(page)
    for kind, places in (("touchStart", [150]), ("touchMove", [200]), ("touchMove", [250]), ("touchEnd", [])):
        points = [{"x": box["x"] + at, "y": box["y"] + at} for at in places]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(100)  # a finger that leaves at full speed flings, and the next tap only stops the fling
    expect(page.locator(".mark.box")).to_have_count(1)
    expect(page.locator(".mark.point")).to_have_count(1)
    page.locator(".card-option").first.tap()
    page.locator("input[name=count-number]").fill("7")
    page.locator("#submit").tap()
    expect(page.locator("input[value=own_answer]")).to_be_checked()
    assert page.errors == []
