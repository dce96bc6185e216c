"""The page of a human baseline: what it shows, to whom, with how many queries, and without a barrier."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.dashboard import human_baseline_page
from annotation.designs.plan import StagePlan
from annotation.designs.presets import baseline_plans
from tests.browser.looking import fits, in_windows
from tests.builders import annotators, studies

pytestmark = pytest.mark.django_db


def answered(items=24, people=4, batch_items=6):
    plans = baseline_plans(sample=None, batch_items=batch_items)
    study = studies.study(benchmark=annotators.benchmark_of_pairs(items), stages=plans)
    annotators.finish([annotators.Worker(study, annotators.right_at(0.9), number) for number in range(people)])
    return study


def address(study):
    return reverse("study-baseline", args=[study.pk])


def text(client, study) -> str:
    return client.get(address(study)).content.decode()


def test_the_page_shows_every_measure_with_its_count_and_chance(client, manager):
    page = text(client, answered())
    for shown in (
        "I2T",
        "T2I",
        "Group",
        "96 of 96 questions answered",
        "16.67 %",
        "A-04",
        "by one annotator: 24 items",
    ):
        assert shown in page


def test_the_page_says_what_intervals_are_over(client, manager):
    several, alone = (" ".join(text(client, answered(**of)).split()) for of in ({}, {"items": 6, "people": 1}))
    assert "effective n" in several and "over annotators" in several and "* Over items" not in several
    assert "* Over items: one annotator" in alone and "do not show how annotators differ" in alone


def test_the_page_says_that_few_annotators_give_intervals_that_may_be_too_short(client, manager, monkeypatch):
    study = answered(items=8, people=2, batch_items=4)
    assert "With so few annotators" in text(client, study)
    monkeypatch.setattr(human_baseline_page, "FEW", 2)
    assert "With so few annotators" not in text(client, study)


def test_an_unanswered_baseline_has_a_page(client, manager):
    study = studies.study(benchmark=annotators.benchmark_of_pairs(6), stages=baseline_plans(sample=None))
    page = text(client, study)
    assert "0 of 24 questions answered" in page and "Nobody has answered yet" in page


def test_a_baseline_that_waits_says_for_what(client, manager):
    plans = [StagePlan("bivlc-choose", "pick", settings={"carries": "negative"}), *baseline_plans(source="pick")]
    page = text(client, studies.study(items=3, stages=plans))
    assert "No questions yet" in page and "1 pick</a> is closed" in page


def test_a_study_that_measures_nothing_says_how_it_would(client, manager):
    assert "This study has no human baseline" in text(client, studies.study())


def test_nothing_is_sent_where_nothing_changed(client, manager):
    study = answered(items=6, people=1)
    seen = client.get(address(study)).context["seen"]
    assert client.get(address(study), {"seen": seen}).status_code == 204
    assert client.get(address(study), {"seen": "other"}).status_code == 200


def test_managers_alone_see_it(client):
    study = studies.study()
    assert client.get(address(study)).status_code == 302
    client.force_login(User.objects.create_user("bo", password="x"))
    assert client.get(address(study)).status_code == 403


def test_the_number_of_queries_does_not_grow(client, manager):
    counts = []
    for items, people in ((6, 1), (24, 4)):
        study = answered(items, people)
        with CaptureQueriesContext(connection) as queries:
            client.get(address(study))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing(page, site, sign_in, axe_violations, manager):
    study = answered()
    sign_in(page, manager)
    page.goto(site + address(study))
    page.locator("details summary").first.click()
    for window in in_windows(page):
        assert axe_violations(page) == [] and fits(page), window
    assert page.errors == []
