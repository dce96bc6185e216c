"""What is written to the outbox, when, and at what cost."""

import uuid
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation import outbox
from annotation.adjudication import decisions
from annotation.assignment import leases
from annotation.judging import submissions
from annotation.judging.completion import give_code
from annotation.models import Delivery, Judgment, Webhook
from annotation.participants import erasure, lifecycle
from annotation.reader_reports import reports
from annotation.screens.read_answer import place_on_screen
from annotation.studies import deletion
from annotation.studies import lifecycle as study_lifecycle
from annotation.webhooks import endpoints
from benchmarks import audit
from benchmarks.corrections.correct import Change, correct
from benchmarks.jobs import jobs
from benchmarks.models import Action
from benchmarks.records import Problem
from tests.builders import studies
from tests.builders.webhooks import events, webhook

pytestmark = pytest.mark.django_db


def test_judgments_and_what_they_decide_are_events_in_their_order():
    study = studies.study(items=1, name="Cups", consent="Yes?")
    hook, who = webhook(study), studies.annotator(study, name="Ada")
    given = studies.judgment(who, study.stages.get(), "candidate-1")
    changed = studies.submit(who, given.lease, place_on_screen(given.lease, "candidate-2")).judgment
    submissions.undo(annotator=who, key=uuid.uuid4())
    undone = given.lease.judgments.latest("revision")
    task = {"stage": 1, "task": given.lease.task_id}
    by = {"annotator": "A-01"}
    assert events(hook) == [
        ("annotator.joined", by),
        ("judgment.made", {**task, **by, "judgment": given.pk}),
        ("item.decided", task),
        ("judgment.revised", {**task, **by, "judgment": changed.pk}),
        ("item.decided", task),
        ("judgment.withdrawn", {**task, **by, "judgment": undone.pk}),
        ("item.reopened", task),
    ]
    told = " ".join(f"{row.type} {row.data}" for row in Delivery.objects.all())
    secret = ["Ada", who.token, study.invite, study.completion_code, "candidate", *study_images(study)]
    assert [one for one in secret if one in told] == []


def study_images(study) -> list[str]:
    found = study.benchmark.items.values_list("item_images__image__opaque", "item_images__source_name")
    return [name for names in found for name in names]


def test_every_event_of_a_study_but_judgments_follows_from_its_verb():
    """Each type that its form offers is told by the product's own verb."""
    study = studies.study(items=3)
    stage, hook = study.stages.get(), webhook(study)
    who, boss = studies.annotator(study, prolific_pid="5" * 24), User.objects.create_superuser("boss")
    first, second = (studies.judgment(who, stage) for _ in range(2))
    submissions.undo(annotator=who, key=uuid.uuid4())
    studies.submit(who, second.lease, "2")
    [lease] = leases.hold(annotator=who, stage=stage, wanted=1)
    submissions.flag(annotator=who, token=lease.token, reason="Odd")
    for kind in ("finished", "screened_out"):
        give_code(who, study, kind)
    task = first.lease.task
    decisions.decide(
        task=task, by="test", seen=decisions.seen(task), note="So.", answer="candidate-0", adjudicator=boss
    )
    decisions.withdraw(task=task, by="test", seen=decisions.seen(task))
    lifecycle.leave(annotator=who, by="test")
    lifecycle.come_back(annotator=who, by="test")
    lifecycle.exclude(annotator=who, reason="Random", by="test")
    lifecycle.reinstate(annotator=who, reason="A mistake", by="test")
    erasure.erase(annotator=who, by="test")
    reports.report(study=study, key=task.item.key, text="A typo.")
    for action, place, new in ((Action.CAPTION, "caption-negative-0", "A new cup."), (Action.WITHDRAW, "", "")):
        asked = Change(item=task.item.key, action=action, place=place, new=new, reason="A wrong word.")
        correct(benchmark=study.benchmark, changes=[asked], by="test")
    for to in ("closed", "open"):
        study_lifecycle.move_stage(stage=stage, to=to, by="test")
    for to in ("paused", "closed", "open"):
        study_lifecycle.move_study(study=study, to=to, by="test")
    audit.record(by="app", verb="estimated", subject=stage, changed=1)
    studies.item(study.benchmark, position=9)
    study_lifecycle.promotion.take_in(study)
    for kind in ("export", "release"):
        job = jobs.queue_job(kind=kind, title=kind, params={"study": study.pk}, by="test")
        jobs.start_job(job=job, by="test")
        jobs.fail_job(job=job, by="test", problems=[Problem("UNEXPECTED", "", None, "", "Try again.")])
    job = jobs.queue_job(kind="export", title="Export", params={"study": study.pk}, by="test")
    jobs.finish_job(job=jobs.start_job(job=job, by="test"), by="test", report={})
    audit.record(by="worker", verb="froze", subject=studies.release(study), content="c")
    found = dict(events(hook))
    assert set(found) == set(outbox.OF_STUDY)
    counted = sorted(who.leases.get(pk=second.lease_id).judgments.filter(withdrawn=False).values_list("pk", flat=True))
    assert found["annotator.excluded"] == {"annotator": "A-01", "judgments": [first.pk, counted[-1]]}
    assert found["export.ready"] == {"job": job.pk}
    assert "5" * 24 not in str(found)


def test_events_of_a_benchmark_go_to_its_own_webhooks():
    study = studies.study()
    benchmark = study.benchmark
    hook, of_study = webhook(benchmark=benchmark), webhook(study)
    audit.record(by="test", verb="imported", subject=benchmark, job=7, items=3)
    for name in (benchmark.name, "Not stored yet"):
        job = jobs.queue_job(kind="import", title="Import", params={"name": name}, by="test")
        jobs.fail_job(job=job, by="test", problems=[Problem("UNEXPECTED", "", None, "", "Try again.")])
    mine = {"benchmark": benchmark.pk}
    failed = jobs.Job.objects.order_by("pk")[0]
    assert events(hook) == [
        ("import.finished", {**mine, "job": 7, "items": 3}),
        ("import.failed", {**mine, "job": failed.pk}),
    ]
    assert events(of_study) == []


def test_a_webhook_gets_only_the_types_that_it_asks_for():
    study = studies.study()
    closed, other, all_of_them = webhook(study, types=["study.closed"]), webhook(studies.study()), webhook(study)
    for to in ("paused", "closed"):
        study_lifecycle.move_study(study=study, to=to, by="test")
    assert events(closed) == [("study.closed", {})]
    assert events(other) == []
    assert events(all_of_them) == [("study.paused", {}), ("study.closed", {})]


def test_what_is_rolled_back_is_no_event():
    study = studies.study()
    hook, who = webhook(study), studies.annotator(study)
    before = events(hook)
    with transaction.atomic():
        studies.judgment(who, study.stages.get())
        study_lifecycle.move_study(study=study, to="paused", by="test")
        assert len(events(hook)) == len(before) + 3
        transaction.set_rollback(True)
    assert events(hook) == before


def statements_of_a_judgment(study) -> list[str]:
    who = studies.annotator(study)
    [lease] = leases.hold(annotator=who, stage=study.stages.get(), wanted=1)
    with CaptureQueriesContext(connection) as captured:
        studies.submit(who, lease, "1", seen=None)
    return [query["sql"] for query in captured if "SAVEPOINT" not in query["sql"]]


def test_a_judgment_costs_one_statement_with_webhooks_and_none_without():
    without, watched = studies.study(items=2), studies.study(items=2)
    webhook(watched), webhook(watched)
    usual, more = statements_of_a_judgment(without), statements_of_a_judgment(watched)
    inserts = [sql for sql in more if "annotation_delivery" in sql]
    assert (len(more) - len(usual), len(inserts)) == (1, 1)
    assert not any("annotation_delivery" in sql for sql in usual)
    assert Delivery.objects.filter(type__in=["judgment.made", "item.decided"]).count() == 4


def test_a_study_is_deleted_with_its_webhooks_and_their_events():
    study = studies.study()
    webhook(study), studies.judgment(studies.annotator(study), study.stages.get())
    deletion.delete_study(study=study, by="test")
    assert not Delivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_answer_and_the_deletion_of_its_webhook_do_not_hurt_each_other():
    """The foreign key of an event is checked at the commit, when its webhook may be gone."""
    study = studies.study(items=2)
    hook, who = webhook(study), studies.annotator(study)
    with ThreadPoolExecutor(1) as manager:
        with transaction.atomic():
            studies.judgment(who, study.stages.get())
            going = manager.submit(closing(endpoints.delete), webhook=hook, by="test")
            assert not wait([going], 0.3).done  # it waits for the answer
        going.result(10)
    assert not Webhook.objects.exists()
    hook = webhook(study)
    with ThreadPoolExecutor(1) as annotator:
        with transaction.atomic():
            endpoints.delete(webhook=hook, by="test")
            answering = annotator.submit(closing(studies.judgment), who, study.stages.get())
            assert not wait([answering], 0.3).done
        answering.result(10)
    assert not Delivery.objects.exists() and Judgment.objects.count() == 2


def closing(act):
    """`act` for a thread, without the connection that it leaves open."""

    def acting(*given, **named):
        try:
            return act(*given, **named)
        finally:
            connection.close()

    return acting
