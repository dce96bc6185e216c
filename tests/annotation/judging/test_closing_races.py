"""A stage is closed while annotators are on its screens: what they answer goes on, what they take back does not."""

import contextlib
import threading
import time
import uuid

import pytest
from django.db import connection, connections, transaction

from annotation.assignment import leases, seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Outcome
from annotation.pipeline import promotion
from annotation.screens import errors
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import studies

STAGES = [
    StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", name="disambiguate", source="choose", settings={"promotion": "closing"}),
]

pytestmark = pytest.mark.django_db(transaction=True)


@contextlib.contextmanager
def closing(stage, monkeypatch, name):
    """Inside, the stage is being closed by somebody else, who has come to this function of promotion and goes on when
    another waits for them, or has been and gone.
    """
    there, gone, real = threading.Event(), threading.Event(), getattr(promotion, name)

    def slowly(*given):
        found = real(*given)
        there.set()
        while not gone.is_set() and not somebody_waits():
            time.sleep(0.01)
        return found

    def close():
        try:
            study_lifecycle.move_stage(stage=stage, to="closed", by="test")
        finally:
            connections.close_all()

    monkeypatch.setattr(promotion, name, slowly)
    thread = threading.Thread(target=close)
    thread.start()
    there.wait(20)
    try:
        yield
    finally:
        gone.set()
        thread.join()


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def kept_and_asked(study) -> tuple[set, set]:
    """Items that the first stage keeps, and items that are in the second."""
    choose, disambiguate = study.stages.all()
    kept = Outcome.objects.filter(task__stage=choose, state="kept").values_list("task__item", flat=True)
    return set(kept), set(disambiguate.tasks.filter(live=True).values_list("item", flat=True))


def test_the_second_of_two_questions_of_an_item_that_are_settled_at_once_promotes_it():
    chosen = StagePlan("bivlc-choose", name="choose", settings={"carries": "negative", "overlap": 1})
    asked = [StagePlan("verify", "verify", "choose", settings={"overlap": 1})]
    study = studies.study(items=1, stages=[chosen, *asked, StagePlan("bivlc-disambiguate", "last", "verify")])
    choose, verify, last = study.stages.all()
    one, two = studies.annotator(study), studies.annotator(study)
    studies.judgment(studies.annotator(study), choose, "candidate-1")
    for ann in (one, two):
        seats.sit(annotator=ann, stage=verify)
        studies.read(ann, verify)

    def second():
        try:
            studies.judgment(two, verify, "yes")
        finally:
            connections.close_all()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        studies.judgment(one, verify, "yes")
        thread.start()
        while thread.is_alive() and not somebody_waits():
            time.sleep(0.01)
    thread.join()
    assert last.tasks.get().live


def test_an_answer_that_comes_while_its_stage_closes_is_promoted(monkeypatch):
    study = studies.study(items=2, stages=STAGES)
    choose = study.stages.get(position=1)
    ann = studies.annotator(study)
    [lease] = leases.hold(annotator=ann, stage=choose, wanted=1)
    with closing(choose, monkeypatch, "promote"):
        studies.submit(ann, lease)
    assert kept_and_asked(study) == ({lease.task.item_id},) * 2


def test_an_answer_taken_back_while_its_stage_closes_is_not_promoted(monkeypatch):
    study = studies.study(items=2, stages=STAGES)
    choose = study.stages.get(position=1)
    ann = studies.annotator(study)
    studies.judgment(ann, choose)
    with closing(choose, monkeypatch, "_promote_to"), contextlib.suppress(errors.NotOpen):
        submissions.undo(annotator=ann, key=uuid.uuid4())
    kept, asked = kept_and_asked(study)
    assert kept == asked
