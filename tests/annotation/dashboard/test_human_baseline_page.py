"""The page of a human baseline: what it shows. tests/annotation/test_query_counts.py counts its queries."""

import pytest
from django.urls import reverse

from annotation.dashboard import human_baseline_page
from annotation.designs.plan import StagePlan
from annotation.designs.presets import baseline_plans
from tests.builders import annotators, studies

SEVERAL, ALONE = {"items": 24, "people": 4}, {"items": 2, "people": 1}


def answered(items=24, people=4, batch_items=6):
    plans = baseline_plans(sample=None, batch_items=batch_items)
    study = studies.study(benchmark=annotators.benchmark_of_pairs(items), stages=plans)
    annotators.finish([annotators.Worker(study, annotators.right_at(0.9), number) for number in range(people)])
    return study


@pytest.fixture(scope="module")
def studies_answered(module_world):
    """By several annotators, and by one alone."""
    return answered(**SEVERAL), answered(**ALONE)


@pytest.fixture
def several(studies_answered, savepoint):
    return studies_answered[0]


@pytest.fixture
def alone(studies_answered, savepoint):
    return studies_answered[1]


def address(study):
    return reverse("study-baseline", args=[study.pk])


def text(client, study) -> str:
    return client.get(address(study)).content.decode()


def test_the_page_shows_every_measure_with_its_count_and_chance(client, several, manager):
    page = text(client, several)
    for shown in ("I2T", "T2I", "Group", "96 of 96 questions answered", "16.67%", "A-04", "by one annotator: 24 items"):
        assert shown in page


def test_the_page_says_what_intervals_are_over(client, several, alone, manager):
    of_several, of_one = (" ".join(text(client, study).split()) for study in (several, alone))
    assert "effective n" in of_several and "over annotators" in of_several and "* Over items" not in of_several
    assert "* Over items: one annotator" in of_one and "do not show how annotators differ" in of_one


def test_the_page_says_that_few_annotators_give_intervals_that_may_be_too_short(client, several, manager, monkeypatch):
    assert "With so few annotators" in text(client, several)
    monkeypatch.setattr(human_baseline_page, "FEW", 4)
    assert "With so few annotators" not in text(client, several)


def test_an_unanswered_baseline_has_a_page(client, savepoint, manager):
    study = studies.study(benchmark=annotators.benchmark_of_pairs(2), stages=baseline_plans(sample=None))
    page = text(client, study)
    assert "0 of 8 questions answered" in page and "Nobody has answered yet" in page


def test_a_baseline_that_waits_says_for_what(client, savepoint, manager):
    plans = [StagePlan("bivlc-choose", "pick", settings={"carries": "negative"}), *baseline_plans(source="pick")]
    page = " ".join(text(client, studies.study(items=3, stages=plans)).split())
    assert "the items are drawn when stage <a" in page and "1 Choose the image that fits</a> is closed" in page
    assert "Close stage 1</button>" in page and "How this is computed" not in page


def test_a_study_that_measures_nothing_says_how_it_would(client, savepoint, manager):
    assert "This study has no human baseline" in text(client, studies.study())


def test_nothing_is_sent_where_nothing_changed(client, alone, manager):
    seen = client.get(address(alone)).context["seen"]
    assert client.get(address(alone), {"seen": seen}).status_code == 204
    assert client.get(address(alone), {"seen": "other"}).status_code == 200
