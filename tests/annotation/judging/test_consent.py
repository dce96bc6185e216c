"""Somebody who was given a link of their own is asked for their consent before the first screen."""

import pytest

from annotation.judging import next_step
from annotation.models import Annotator, Lease, Study
from annotation.permissions import desk
from annotation.studies import settings
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator():
    return studies.annotator(studies.study(consent="Your answers are stored.\n\n- without your name"))


def home(annotator) -> str:
    return f"/judge/{annotator.token}/"


def test_the_text_stands_before_everything(client, annotator):
    shown = client.get(home(annotator)).text
    assert "Your answers are stored." in shown and "without your name" in shown and "I do not agree" in shown
    assert not Lease.objects.exists()


def test_who_agrees_goes_on_and_is_not_asked_again(client, annotator):
    client.post(home(annotator) + "consent/", {"consent": "yes"})
    assert Annotator.objects.get().consented_at and 'name="answer"' in client.get(home(annotator)).text


def test_another_text_is_asked_about_again_and_an_open_page_of_the_old_one_is_no_consent(client, annotator):
    old = {"consent": "yes", "text": annotator.study.consent_sha256}
    client.post(home(annotator) + "consent/", old)
    settings.change_study(study=annotator.study, by="test", consent="Your answers are published.")
    client.post(home(annotator) + "consent/", old)
    shown = client.get(home(annotator)).text
    assert "Your answers are published." in shown
    client.post(home(annotator) + "consent/", {**old, "text": Study.objects.get().consent_sha256})
    assert 'name="answer"' in client.get(home(annotator)).text


def test_who_does_not_agree_has_left(client, annotator):
    client.post(home(annotator) + "consent/", {"consent": "no"})
    assert Annotator.objects.get().left_at and next_step.stopped_by(desk(annotator.token)) == "left"


def test_anything_else_asks_again(client, annotator):
    client.post(home(annotator) + "consent/", {"consent": "maybe"})
    assert "I do not agree" in client.get(home(annotator)).text


def test_a_study_without_a_text_asks_nothing(client):
    assert 'name="answer"' in client.get(home(studies.annotator(studies.study()))).text


def test_a_page_that_is_open_is_told_to_look_again(client, annotator):
    assert client.get(home(annotator), HTTP_ACCEPT="application/json").json()["state"] == "consent"
