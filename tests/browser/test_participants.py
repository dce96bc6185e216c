"""Consent, endings and the page of Prolific in a real browser: by keyboard, at both sizes, clean of axe's rules."""

import pytest
from playwright.sync_api import expect

from annotation.models import Annotator, Study
from annotation.participants import lifecycle as participant_lifecycle
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import studies

CONSENT = "We ask you to look at pictures.\n\n- It takes ten minutes.\n- You can stop at any time."


@pytest.fixture
def study(site) -> Study:
    return studies.study(items=6, consent=CONSENT, pay_per_hour="12.00")


def agreed(study: Study, judgments: int = 0, **who) -> Annotator:
    made = studies.annotator(study, **who)
    participant_lifecycle.agree(annotator=made, by="test")
    for _ in range(judgments):
        studies.judgment(made, study.stages.get(), active_ms=2000, elapsed_ms=2500)
    return made


def test_every_page_of_joining_and_ending_is_clean(site, study, page, axe_violations):
    done, left, out = agreed(study, 1, prolific_pid="p1"), agreed(study, 1), agreed(study, 1)
    participant_lifecycle.leave(annotator=left, by="test")
    participant_lifecycle.exclude(annotator=out, reason="No.", by="test")
    study.stages.update(quota=1)
    paths = [f"/judge/{who.token}/" for who in (done, left, out)]
    for path in [f"/join/{study.invite}/", f"/judge/{done.token}/leave/", *paths]:
        page.goto(site + path)
        assert (flaws(page, axe_violations), page.errors) == ([], []), path
    page.goto(f"{site}/join/{study.invite}/?PROLIFIC_PID=null")  # a 400, which the browser calls an error
    assert flaws(page, axe_violations) == []


def test_somebody_who_does_not_agree_gets_the_way_back_by_keyboard(site, study, page, axe_violations):
    page.goto(f"{site}/join/{study.invite}/?PROLIFIC_PID=p1&SESSION_ID=x1")
    tab_to(page, page.get_by_role("button", name="I do not agree"))
    enter(page)
    back = page.get_by_role("link", name="Return to Prolific")
    expect(back).to_have_attribute("href", f"https://app.prolific.com/submissions/complete?cc={study.no_consent_code}")
    assert axe_violations(page) == [] and not Annotator.objects.exists()


def test_somebody_leaves_and_comes_back_without_script(site, study, open_page):
    who = agreed(study)
    page = open_page(java_script_enabled=False)
    page.goto(f"{site}/judge/{who.token}/leave/")
    page.get_by_role("button", name="Leave the study").click()
    expect(page.get_by_role("heading", name="You have left the study")).to_be_visible()
    page.get_by_role("button", name="Take part again").click()
    expect(page.locator("fieldset.screen").first).to_be_visible()


def test_the_page_of_a_paused_study_looks_again_by_itself(site, study, open_page):
    Study.objects.update(state="paused")
    page = open_page(unshared=True)
    page.clock.install()
    page.goto(f"{site}/join/{study.invite}/")
    expect(page.get_by_role("heading", name="The study is paused")).to_be_visible()
    Study.objects.update(state="open")
    page.clock.fast_forward(25_000)
    expect(page.get_by_role("button", name="I agree to take part")).to_be_visible()


def test_the_page_of_prolific_is_clean_and_a_manager_excludes_somebody_by_keyboard(visit, study, page, axe_violations):
    who = agreed(study, 2, prolific_pid="5f2c9e1b7a9d40c8e6f1a2b3")
    visit(page, f"/studies/{study.pk}/people/prolific/")
    assert (flaws(page, axe_violations), page.errors) == ([], [])
    visit(page, f"/studies/{study.pk}/people/1/")
    tab_to(page, page.locator("summary", has_text="Decide about A-01"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Reason"))
    page.keyboard.type("Clicked without looking")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    enter(page)
    expect(page.get_by_text("A-01 has been excluded. 2 answers no longer count")).to_be_visible()
    who.refresh_from_db()
    assert who.exclusion_reason == "Clicked without looking"
    visit(page, f"/studies/{study.pk}/people/")
    page.locator("summary", has_text="Evidence and decision of A-01").click()
    assert (flaws(page, axe_violations), page.errors) == ([], [])
