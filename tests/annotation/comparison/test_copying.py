"""The sign that an annotator's answers follow a model's, on the annotators' page."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.comparison import copying
from tests.builders import compared_models, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(manager, tmp_path):
    """A model is wrong about the last 5 of 15 items in t2i. Of three annotators the first is wrong exactly there."""
    benchmark = compared_models.pairs(15)
    compared_models.imported(benchmark, tmp_path, right=10, model="CLIP")
    made = studies.stage(benchmark=benchmark, protocol="bivlc-t2i", overlap=3)
    for number in range(3):
        annotator = studies.annotator(made.study)
        while leases := studies.assignment_leases.hold(annotator=annotator, stage=made, wanted=1):
            task = leases[0].task
            wrong = task.item.position >= 10 if number == 0 else task.item.position % 10 == number
            right = next(one for one in task.options if one.startswith(task.question))
            other = next(one for one in task.options if one != right)
            studies.submit(annotator, leases[0], str(leases[0].shown.index(other if wrong else right) + 1))
    return made


def page(client, stage) -> str:
    shown = client.get(reverse("study-annotators", args=[stage.study_id])).content.decode()
    return " ".join(strip_tags(shown).split())


def test_who_is_wrong_where_the_model_is_gets_the_sign(client, stage):
    found = copying.copying(stage)
    [one] = found["suspects"]
    assert (one["annotator"], one["model"], one["n"], one["model_wrong"], one["both"]) == (1, "CLIP", 30, 10, 10)
    assert (found["annotators"], found["models"]) == (3, 1)
    assert "Answers that resemble a model’s" in page(client, stage)
    assert "A-01 made mistakes on 10 of the 10 tasks that CLIP got wrong; 3." in page(client, stage)


@pytest.mark.parametrize("with_model", [False, True])
def test_the_page_is_silent_if_no_model_answered_or_nobody_can_be_compared(client, manager, tmp_path, with_model):
    benchmark = compared_models.pairs(2)
    if with_model:
        compared_models.imported(benchmark, tmp_path, right=1)
    stage = studies.stage(benchmark=benchmark, protocol="bivlc-t2i")
    studies.judgment(studies.annotator(stage.study), stage)
    assert "resemble a model" not in page(client, stage)
