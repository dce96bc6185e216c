"""The page of what is stuck, and its count on the study's page."""

import re

import pytest
from django.urls import reverse

from annotation.dashboard import views
from annotation.figures import blocked_items
from annotation.models import Stage
from annotation.participants import lifecycle as participant_lifecycle
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db


def look(client, stage, **asked) -> str:
    return client.get(reverse("study-blocked", args=[stage.study_id]), {"stage": 1, **asked}).text


def test_the_study_page_counts_and_links(client, manager):
    stage = studies.stage(items=3)
    address = reverse("study-stage", args=[stage.study_id, 1])
    page = client.get(address).text
    assert "waiting for people" in page and "blocked</b>" not in page
    person = studies.annotator(stage.study)
    assert "stuck-link" not in client.get(address).text
    participant_lifecycle.exclude(annotator=person, reason="Bot.", by="test")
    page = client.get(address).text
    assert "<b>3 blocked</b>" in page and f"{blocked_items.REASONS['nobody'][0]}" in page


def test_each_row_says_why_and_leads_on(client, manager):
    stage = studies.stage(items=1, overlap=2, tie_rule="adjudicate")
    for answer in ("candidate-0", "none"):
        studies.judgment(studies.annotator(stage.study), stage, answer)
    page, task = look(client, stage), stage.tasks.get().pk
    assert "waiting for an adjudicator" in page and "2 of 2" in page
    assert f"{reverse('study-adjudicate', args=[stage.study_id])}?stage=1&amp;task={task}" in page


def test_what_came_open_after_the_closing_is_given_out_by_one_button(client, manager):
    stage = studies.stage(items=3)
    person = studies.annotator(stage.study)
    for _ in range(2):
        studies.judgment(person, stage)
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    assert "Reopen for" not in look(client, stage)
    participant_lifecycle.exclude(annotator=person, reason="Careless.", by="test")
    assert "Reopen for 2 items" in collapsed(look(client, stage))
    address = reverse("stage-reopen", args=[stage.study_id, 1])
    page = collapsed(client.post(address, follow=True).text)
    assert "was reopened for 2 items." in page and "Close for these 2 items too" in page
    studies.judgment(studies.annotator(stage.study), Stage.objects.select_related("study").get())
    page = collapsed(look(client, stage))
    assert "for 2 items: 1 decided since, 1 still open" in page and "Reopen for" not in page
    assert "or they have already been given out" in client.post(address, follow=True).text


def test_one_reason_page_by_page(client, manager, monkeypatch):
    monkeypatch.setattr(views, "PAGE", 2)
    stage = studies.stage(items=5)
    pages = [look(client, stage, reason="nobody", **{"blocked-page": number}) for number in (1, 2, 3)]
    assert [len(re.findall(r">item-\d<", page)) for page in pages] == [2, 2, 1]
    assert "page=2" in pages[0] and 'rel="next"' not in pages[2]
    assert len(re.findall(r">item-\d<", look(client, stage, reason="no such", **{"blocked-page": "x"}))) == 2


def test_the_page_asks_for_what_its_reasons_need(client, manager):
    stage = studies.stage(items=1, overlap=2, tie_rule="adjudicate")
    page = look(client, stage)
    assert "#invite" in page and ">Decide<" not in page
    for answer in ("candidate-0", "none"):
        studies.judgment(studies.annotator(stage.study), stage, answer)
    page = look(client, stage)
    assert "#invite" not in page and ">Decide<" in page


def test_nothing_is_stuck(client, manager):
    stage = studies.stage(items=1)
    studies.annotator(stage.study)
    assert "No items are blocked in stage" in look(client, stage)


def test_of_a_large_study_it_is_what_the_worker_found_last(client, manager, monkeypatch):
    monkeypatch.setattr("annotation.figures.cache.SMALL", 0)
    stage = studies.stage(items=1)
    assert "waiting for a worker" in look(client, stage)


@pytest.mark.parametrize("items", [1, 3])
def test_it_takes_as_many_queries_for_three_as_for_one(client, manager, items, django_assert_num_queries):
    stage = studies.stage(items=items)
    look(client, stage)
    with django_assert_num_queries(11):  # three of them of the rail
        look(client, stage)
