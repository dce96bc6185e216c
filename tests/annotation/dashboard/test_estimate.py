"""What the study page says and offers of a stage that an estimate decides."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.adjudication import decisions
from annotation.models import Study
from annotation.pipeline import dawid_skene
from benchmarks.jobs import jobs
from benchmarks.models import Job
from benchmarks.records import Problem
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    made = studies.stage(items=2, overlap=2, rule="dawid-skene")
    for _ in range(2):
        who = studies.annotator(made.study)
        while studies.judgment(who, made, "candidate-1"):
            pass
    return made


def page(client, stage) -> str:
    """What is said of the estimate, without its tags."""
    shown = client.get(reverse("study-stage", args=[stage.study_id, 1])).content.decode()
    return " ".join(strip_tags(shown.partition('id="estimate">')[2].partition("</div>")[0]).split())


def test_before_the_first_one_everything_is_open(admin_client, stage):
    assert "No estimate yet" in page(admin_client, stage)


def test_it_says_what_it_rests_on_and_what_came_since(admin_client, stage):
    dawid_skene.estimate(stage, "test")
    told = page(admin_client, stage)
    assert "from 4 judgments of 2 annotators" in told
    assert "100.0% any" in told and "count now" not in told
    stage.tasks.first().slots.update(judgment=None, annotator=None)
    assert "2 judgments count now" in page(admin_client, stage)


def test_a_manager_asks_for_one_at_a_time(admin_client, stage):
    ask = reverse("stage-estimate", args=[stage.study_id, stage.position])
    assert admin_client.post(ask).status_code == admin_client.post(ask).status_code == 302
    assert Job.objects.filter(kind=dawid_skene.KIND).count() == 1
    assert "waiting for a worker" in page(admin_client, stage)


def test_one_that_failed_is_told_of_and_done_again(admin_client, stage):
    """With what it was to do: here what waits for the closing goes on after it."""
    job = dawid_skene.queue_estimate(stage=stage, by="test", closing=True)
    jobs.start_job(job=job, by="test")
    jobs.fail_job(job=job, by="test", problems=[Problem("WORKER_LOST", "", None, "", "The worker died.")])
    told = page(admin_client, stage)
    assert "may not have moved on. The worker died. Run the estimate again." in told and "Estimate now" in told
    admin_client.post(reverse("stage-estimate", args=[stage.study_id, stage.position]))
    assert dawid_skene.jobs_of(stage)[0].params["closing"]


def test_a_closed_study_is_asked_again_while_its_estimate_is_under_way(admin_client, stage):
    Study.objects.update(state="closed")
    shown = reverse("study-stage", args=[stage.study_id, 1])
    assert b"hx-get" not in admin_client.get(shown).content
    job = dawid_skene.queue_estimate(stage=stage, by="test")
    assert b"hx-get" in admin_client.get(shown).content
    jobs.cancel_job(job=job, by="test")
    assert b"hx-get" not in admin_client.get(shown).content


def test_what_is_withdrawn_waits_for_the_next_one(admin_client, stage):
    task = stage.tasks.first()
    decisions.decide(task=task, by="test", seen=decisions.seen(task), note="dark", answer="none")
    sent = {"task": task.pk, "seen": decisions.seen(task), "do": "withdraw"}
    after = admin_client.post(reverse("study-adjudicate", args=[stage.study_id]), sent, follow=True)
    assert "the next estimate will decide" in after.text and not hasattr(stage.tasks.first(), "decided")


def test_a_stage_that_most_votes_decide_has_none(admin_client):
    plain = studies.stage()
    admin_client.post(reverse("stage-estimate", args=[plain.study_id, 1]))
    assert not Job.objects.exists()
    assert b'id="estimate"' not in admin_client.get(reverse("study-stage", args=[plain.study_id, 1])).content


def test_an_annotators_page_has_what_they_answer_where(admin_client, stage):
    shown = reverse("study-annotator", args=[stage.study_id, 1])
    assert b"Estimated confusion matrix" not in admin_client.get(shown).content
    dawid_skene.estimate(stage, "test")
    assert b'<data value="1.0">100.0%</data>' in admin_client.get(shown).content
