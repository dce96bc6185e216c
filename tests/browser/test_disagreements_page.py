"""The list of disagreements in a real browser: by keyboard alone, accessible, on real pictures."""

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.adjudication import disagreement_list
from annotation.adjudication.disagreement_list import Wanted
from annotation.models import Outcome, Stage, Study
from tests.browser.looking import DESK, enter, fits, flaws, in_windows, tab_to
from tests.builders import real_material as material
from tests.builders import studies, text_items
from tests.builders.pictures import paint

SAID = [["none", "none", "none"], ["candidate-1", "none", "candidate-2"], ["none", "candidate-1", "none"]]


def split(study: Study) -> Stage:
    """Three people, of one mind about every third item in the order of asking."""
    stage = study.stages.select_related("study").get(position=1)
    for place in range(3):
        person, number = studies.annotator(study), 0
        while studies.judgment(person, stage, SAID[number % 3][place]):
            number += 1
    return stage


def address(stage: Stage) -> str:
    return f"/studies/{stage.study_id}/quality/disagreements/?stage={stage.position}"


def test_a_filter_a_row_its_decision_and_the_next_by_keyboard_alone(visit, page):
    stage = split(paint(studies.study(items=5, overlap=3)))
    order = disagreement_list.list_disagreements(stage, 9, 0, Wanted("item"))
    visit(page, address(stage))
    tab_to(page, page.locator("#sort"))
    page.keyboard.type("in the items")
    page.keyboard.press("Enter")
    tab_to(page, page.locator(".filters button"))
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=item**")
    tab_to(page, page.locator(f"#case-{order[0]}"))
    enter(page)
    for pk in order:
        expect(page.locator("input[name=task]").first).to_have_value(str(pk))
        page.keyboard.press("n")
        page.keyboard.press("/")
        expect(page.locator("#note")).to_be_focused()
        page.keyboard.type("None has it.")
        enter(page)
    expect(page.locator("#main")).to_contain_text("This list is empty now")
    assert Outcome.objects.filter(by="adjudicator").count() == len(order) and page.errors == []


def test_words_are_accessible_and_fit(visit, page, axe_violations):
    stage = text_items.edited_three_ways()
    paint(stage.study)
    visit(page, address(stage))
    assert flaws(page, axe_violations, ".case") == []


@pytest.mark.real
@pytest.mark.nightly
def test_real_items_are_accessible_and_fit(visit, page, axe_violations, real, tmp_path):
    manifest, images = material.packed(material.bivlc_items(real / "data/bivlc")[:6], real / "data", tmp_path)
    call_command("import_benchmark", "jsonl", str(manifest), images=str(images), name="Real", verbosity=0)
    call_command("create_study", "Real", protocol=["bivlc-choose"], overlap=3, name="Real run")
    stage = split(Study.objects.get(name="Real run"))
    visit(page, address(stage))
    assert flaws(page, axe_violations) == []
    with page.expect_navigation():
        page.locator(".case-votes a").first.click()
    assert [fits(page) for _ in in_windows(page)] == [True, True]  # and breaks no rule: test_items_page.py
    page.goto(page.url.partition("/items/")[0] + "/quality/decide/?stage=1&sort=split")
    for window in in_windows(page):  # on the larger all four pictures, the answers and the decision are seen at once
        page.wait_for_function("[...document.images].every(image => image.naturalWidth > 0)")
        assert fits(page) and page.errors == [], window
        if window == DESK:
            low = [page.locator(name).bounding_box() for name in ("#decide", ".others", ".option >> nth=3")]
            assert all(box["y"] + box["height"] <= window[1] for box in low)
