"""What is stuck, in a real browser: from the study's page to the item by keyboard alone, accessible, at every size."""

from playwright.sync_api import expect

from annotation.assignment import by_name, leases
from annotation.judging import submissions
from annotation.models import Stage
from annotation.participants import lifecycle as participant_lifecycle
from tests.browser.looking import flaws, tab_to
from tests.builders import studies
from tests.builders.pictures import paint


def stuck() -> Stage:
    """Named annotators: one left, one skipped, one flagged, the rest is given to nobody."""
    study = paint(studies.study(items=6, strategy="named", pay_per_hour=12))
    stage, people = study.stages.get(), [studies.annotator(study) for _ in range(3)]
    for person, number in zip(people, range(3), strict=True):
        by_name.assign(stage=stage, annotators=[person], keys=[f"item-{number}"], by="test")
    participant_lifecycle.leave(annotator=people[0], by="test")
    [skipped] = leases.hold(annotator=people[1], stage=stage, wanted=1)
    leases.skip(annotator=people[1], token=skipped.token)
    [held] = leases.hold(annotator=people[2], stage=stage, wanted=1)
    submissions.flag(annotator=people[2], token=held.token, reason="Two of these are the same.")
    return stage


def test_from_the_study_to_the_item_by_keyboard_alone(visit, page, axe_violations):
    """The pages on the way are accessible and fit."""
    visit(page, f"/studies/{stuck().study_id}/stages/1/")
    assert flaws(page, axe_violations, ".stuck") == []
    tab_to(page, page.locator("#stuck-gone"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/blocked/?stage=1&reason=gone")
    expect(page.locator("#stuck")).to_contain_text("reserved for an annotator who is gone")
    tab_to(page, page.get_by_role("link", name="item-0", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/decide/**")
    page.go_back()
    page.wait_for_url("**/blocked/**")
    page.goto(page.url.partition("&reason")[0])
    assert (flaws(page, axe_violations), page.errors) == ([], [])
