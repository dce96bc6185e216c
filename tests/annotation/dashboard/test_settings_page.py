"""The page of a study's settings."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.designs.plan import StagePlan
from annotation.models import Role, Stage, Study
from annotation.studies import members
from tests.browser.looking import fits, in_windows
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(owner) -> Study:
    return studies.study(items=3, created_by=owner, name="Spring", overlap=2)


def page(study: Study) -> str:
    return reverse("study-settings", args=[study.pk])


def sent(**more: str) -> dict[str, str]:
    given = {"name": "Spring", "consent": "", "pay_per_hour": "0", "currency": "USD", "overlap_1": "2", "quota_1": ""}
    return {**given, "tie_rule_1": "drop", "check_rate_1": "0", **more}


def test_one_save_changes_the_study_and_its_stage_and_says_what(client, study):
    answer = client.post(page(study), sent(name="Autumn", overlap_1="3", check_rate_1="10"), follow=True)
    assert "Saved: study name, judgments per item, checks (% of tasks)." in answer.text
    stage = Stage.objects.get()
    assert (Study.objects.get().name, stage.overlap, stage.check_rate) == ("Autumn", 3, 0.1)


def test_a_save_with_an_error_stores_nothing_and_leads_to_the_field(client, study):
    answer = client.post(page(study), sent(name="Autumn", overlap_1="1"))
    assert answer.status_code == 422 and Study.objects.get().name == "Spring"
    assert '<a href="#id_overlap_1">Judgments per item</a>: Choose a number from 2 to 50: it can' in answer.text


@pytest.mark.parametrize(("title", "shown"), [("Pictures and sentences", "Pictures and sentences"), ("", "Spring")])
def test_annotators_see_the_title_and_without_one_the_name(client, study, title, shown):
    client.post(page(study), sent(title=title))
    assert f'<h1 dir="auto">{shown}</h1>' in client.get(reverse("join", args=[study.invite])).text
    assert "Spring" in client.get(reverse("study-detail", args=[study.pk])).text


def test_what_is_locked_meanwhile_is_refused_in_words(client, study):
    studies.judgment(studies.annotator(study), study.stages.get(), "none")
    Study.objects.update(pay_per_hour=9)
    assert 'name="currency"' not in client.get(page(study)).text
    answer = client.post(page(study), sent(currency="EUR", name="Autumn"))
    assert answer.status_code == 422 and "worked for pay in this currency" in answer.text
    assert Study.objects.get().name == "Spring"


def test_each_stage_has_its_own_settings_and_keeps_those_of_others(client, owner):
    plans = [StagePlan("bivlc-choose", "choose"), StagePlan("verify", "verify", "choose")]
    study = studies.study(items=3, created_by=owner, stages=plans)
    first, second = study.stages.order_by("position")
    assert 'name="quota_1"' not in client.get(f"{page(study)}?stage=2").text
    given = {"name": study.name, "consent": "", "pay_per_hour": "0", "currency": "USD", "check_rate_2": "0"}
    given |= {"overlap_2": str(second.overlap), "tie_rule_2": second.tie_rule, "quota_2": "7"}
    answer = client.post(f"{page(study)}?stage=2", given)
    assert answer.url.endswith("?stage=2")
    assert list(study.stages.order_by("position").values_list("quota", flat=True)) == [first.quota, 7]


def test_only_an_owner_is_led_to_deletion(client, study):
    assert "Delete this study" in client.get(page(study)).text
    user = User.objects.create_user("bo", is_staff=True)
    members.add(study=study, user=user, role=Role.MANAGER, by="test")
    client.force_login(user)
    assert "Only an owner can delete it" in client.get(page(study)).text


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing_and_the_bar_names_what_differs(open_page, site, sign_in, axe_violations, owner, study):
    screen = open_page()
    sign_in(screen, owner)
    screen.goto(site + page(study))
    for window in in_windows(screen):
        assert axe_violations(screen) == [] and fits(screen), window
    assert screen.locator("[data-changes]").text_content() == "Nothing to save yet"
    screen.get_by_label("Study name").fill("Autumn")
    screen.get_by_label("Most judgments per person").fill("0")
    assert screen.locator("[data-changes]").text_content() == "2 changes: study name, most judgments per person"
    screen.get_by_role("button", name="Save").press("Enter")
    screen.get_by_text("The settings were not saved").wait_for()
    assert screen.evaluate("document.activeElement.className") == "card problem-summary"
    assert axe_violations(screen) == []
    screen.keyboard.press("Tab")
    screen.keyboard.press("Enter")
    assert screen.evaluate("document.activeElement.id || location.hash") in ("id_quota_1", "#id_quota_1")
