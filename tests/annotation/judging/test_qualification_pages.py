"""What comes before the first screen, as pages: forms that need no script, safe to reload and to send twice (law 4)."""

import re

import pytest
from django.urls import reverse

from annotation.checks import qualification
from annotation.models import Attempt, OnFailure
from annotation.screens import read_answer
from tests.annotation.checks.test_qualification import QUESTIONS, stage_with
from tests.builders import studies

pytestmark = pytest.mark.django_db


def page(client, annotator):
    return client.get(reverse("judge", args=[annotator.token]), follow=True)


def fields(html):
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))


def send(client, annotator, html, **given):
    address = reverse("judge-before", args=[annotator.token])
    return client.post(address, {**fields(html), **given}, follow=True)


def test_questions_are_asked_on_one_page_and_let_in(client):
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    assert all(one["question"] in html and all(o in html for o in one["options"]) for one in QUESTIONS)
    after = send(client, annotator, html, **{"question-1": 1, "question-2": 0})
    assert after.redirect_chain[-1][0] == reverse("judge", args=[annotator.token])
    assert b'class="screen"' in after.content


def test_a_failed_try_says_how_many_were_right_and_not_which(client):
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    after = send(client, annotator, html, **{"question-1": 1, "question-2": 2}).content.decode()
    assert "Right answers: 1 of 2." in after and "last attempt" in after
    assert " checked" not in after


def test_a_missing_answer_costs_no_try_and_keeps_the_others(client):
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    after = client.post(reverse("judge-before", args=[annotator.token]), {**fields(html), "question-1": 1})
    assert after.status_code == 422 and b"Answer every question" in after.content
    assert after.content.count(b" checked") == 1 and not Attempt.objects.exists()


def test_sent_twice_is_sent_once(client):
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    for _ in range(3):
        send(client, annotator, html, **{"question-1": 0, "question-2": 0})
    assert Attempt.objects.count() == 1


def test_practice_tells_after_each_answer_and_lets_in(client):
    stage = stage_with(practice_items=2)
    annotator = studies.annotator(stage.study)
    for _ in range(2):
        html = page(client, annotator).content.decode()
        step = qualification.step(annotator=annotator, stage=stage)
        right = read_answer.place_on_screen(step.lease, "candidate-1")
        html = send(client, annotator, html, answer=right).content.decode()
        assert "Right." in html and f"Look at {step.task.item.key}." in html
        html = send(client, annotator, html, go_on=1).content.decode()
    assert 'name="key"' in html  # the judging screen


def test_a_wrong_answer_is_told_with_the_right_one_and_stays_on_reload(client):
    stage = stage_with(practice_items=1)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    step = qualification.step(annotator=annotator, stage=stage)
    send(client, annotator, html, answer="none")
    for _ in range(2):
        html = page(client, annotator).content.decode()
        assert f'Right answer: <b translate="no">{read_answer.place_on_screen(step.lease, "candidate-1")}</b>' in html


def test_nothing_tells_the_right_answer_before_it_is_given(client):
    """Two screens that differ in nothing but which answer is right are the same bytes."""
    stage = stage_with(practice_items=1)
    annotator = studies.annotator(stage.study)
    task = qualification.step(annotator=annotator, stage=stage).task
    bodies = set()
    for gold in ("candidate-0", "candidate-3", "none"):
        type(task).objects.filter(pk=task.pk).update(gold=[gold], note=f"Because of {gold}.")
        bodies.add(page(client, annotator).content)
    assert len(bodies) == 1 and b"candidate" not in bodies.pop()


def test_questions_do_not_tell_their_answers(client):
    bodies = set()
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    for answer in (0, 1):
        stage.comprehension[0]["answer"] = answer
        stage.save()
        bodies.add(page(client, annotator).content)
    assert len(bodies) == 1


def test_nothing_picked_is_the_same_screen_again(client):
    stage = stage_with(practice_items=1)
    annotator = studies.annotator(stage.study)
    html = page(client, annotator).content.decode()
    assert send(client, annotator, html).content.decode() == html
    assert send(client, annotator, html, answer="9").content.decode() == html


def test_whoever_has_passed_or_is_out_is_sent_on(client):
    stage = stage_with(comprehension=QUESTIONS, on_failure=OnFailure.SCREEN_OUT)
    annotator = studies.annotator(stage.study)
    for _ in range(2):
        html = page(client, annotator).content.decode()
        send(client, annotator, html, **{"question-1": 0, "question-2": 0})
    address = reverse("judge-before", args=[annotator.token])
    assert client.get(address).url == reverse("judge", args=[annotator.token])
    assert client.post(address, {"kind": "practice"}).url == reverse("judge", args=[annotator.token])
