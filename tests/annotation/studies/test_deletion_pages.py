"""The pages on which a study has been deleted and an annotator forgotten: typed confirmation, and by hand."""

import pytest
from django.urls import reverse

from annotation.models import Annotator, Study
from annotation.studies import deletion
from tests.browser.looking import flaws
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(owner) -> Study:
    return studies.study(created_by=owner, name="Cups & “plates”")


@pytest.mark.parametrize("name, left", [("Cups & “plates”", 0), ("cups & “plates”", 1)])
def test_a_study_goes_when_its_name_is_typed(client, study, name, left):
    answer = client.post(reverse("study-delete", args=[study.pk]), {"name": name}, follow=True)
    assert Study.objects.count() == left
    assert ("has been deleted" in answer.text) != ("not the study’s name" in answer.text)


def test_a_large_one_goes_by_command(client, study, monkeypatch):
    monkeypatch.setattr(deletion, "BY_COMMAND", -1)
    url = reverse("study-delete", args=[study.pk])
    assert f"manage.py delete_study {study.pk}" in client.get(url).text
    assert client.post(url, {"name": study.name}).status_code == 422 and Study.objects.exists()


@pytest.mark.parametrize("typed, erased", [("a-01", True), ("A-1", False)])
def test_an_annotator_is_forgotten_when_the_pseudonym_is_typed(client, study, typed, erased):
    who = studies.annotator(study, name="Grace Hopper", prolific_pid="5f1e")
    url = reverse("study-annotator", args=[study.pk, who.number])
    answer = client.post(url, {"act": "erase", "confirm": typed}, follow=True)
    assert (Annotator.objects.get().erased_at is not None) == erased
    assert ("Grace Hopper" in answer.text) != erased and ("was erased on" in answer.text) == erased


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing_and_the_keyboard_does_all(page, site, sign_in, axe_violations, owner):
    study = crowds.stage(items=4, people=2, overlap=2).study
    study.members.create(user=owner, role="owner")
    sign_in(page, owner)
    page.goto(site + reverse("study-annotator", args=[study.pk, 1]))
    page.locator(".erase summary").focus()
    page.keyboard.press("Enter")
    assert flaws(page, axe_violations, ".erase") == []  # the rest: tests/browser/test_annotators.py
    for key in ("Tab", *"A-01", "Tab", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("personal data erased").wait_for()
    page.goto(site + reverse("study-delete", args=[study.pk]))
    assert flaws(page, axe_violations) == []
    page.locator("#name").focus()
    page.keyboard.insert_text(study.name)
    page.keyboard.press("Enter")
    page.get_by_text("has been deleted. Its benchmark").wait_for()
    assert page.errors == []
