"""How many clicks and keys a manager needs from the list of studies, counted by walking them."""

from playwright.sync_api import Page, expect

from annotation.figures import annotators
from annotation.models import Annotator, Outcome
from tests.browser.conftest import press
from tests.builders import cohorts, studies
from tests.builders.pictures import paint

OF_STUDY = (
    "name", "title", "consent", "pay_per_hour", "currency", "overlap_1", "quota_1", "tie_rule_1", "check_rate_1",
)  # fmt: skip
ELSEWHERE = ("Edit the instructions", "Choose checks", "Add or change members", "Add or change webhooks", "Close")


def clicks(page: Page, *names: str) -> None:
    """One click each, on links and buttons of these names."""
    for name in names:
        page.get_by_role("link", name=name, exact=True).or_(
            page.get_by_role("button", name=name, exact=True)
        ).first.click()


def test_excluding_somebody_with_a_sign_takes_two_clicks_and_a_reason(visit, page):
    annotators.latest(cohorts.study(("honest", "honest", "honest", "always left"), judgments=20)[0].study)
    visit(page, "/studies/")
    clicks(page, "Look at A-04")
    page.get_by_label("Reason").fill("Always the first picture.")
    clicks(page, "Exclude A-04")
    expect(page.get_by_text("A-04 has been excluded")).to_be_visible()
    assert Annotator.objects.get(number=4).excluded_at


def test_deciding_an_item_takes_two_keys_once_a_reason_is_known(visit, page):
    study = paint(studies.study(items=3, overlap=2, tie_rule="adjudicate"))
    for answer in ("none", "candidate-1"):
        person = studies.annotator(study)
        while studies.judgment(person, study.stages.get(), answer):
            pass
    visit(page, "/studies/")
    with page.expect_navigation():  # loaded, so that the page's script hears the keys
        clicks(page, "Decide")
    press(page, "2", "Enter")
    page.keyboard.type("It is all there.")
    with page.expect_navigation():
        press(page, "Enter")
    for left in (1, 0):
        expect(page.locator("#note")).to_have_value("")
        with page.expect_navigation():
            press(page, "2", "Enter")
        expect(page.locator("#main")).to_contain_text("Nothing is waiting" if not left else "item")
    assert Outcome.objects.filter(by="adjudicator").count() == 3


def test_every_setting_is_two_clicks_from_the_list(visit, page):
    study = studies.study(items=2)
    visit(page, "/studies/")
    clicks(page, study.name, "Settings")
    page.wait_for_url("**/settings/")
    assert [name for name in OF_STUDY if not page.locator(f"[name={name}]").is_visible()] == []
    for name in ELSEWHERE:
        expect(
            page.locator("main")
            .locator("a, button")
            .filter(has_text=name)
            .or_(page.locator(f"main [aria-label^='{name}']"))
            .first
        ).to_be_visible()
