"""Exclusion, leaving and coming back while others claim, submit and join: law 1 and law 2 hold whatever comes first."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.db.models import Count, F, Q

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Annotator, Judgment, Lease, Outcome, Seat, Slot, Task
from annotation.participants import lifecycle as participant_lifecycle
from tests.builders import studies

ROUNDS = [0, *[pytest.param(round, marks=pytest.mark.nightly) for round in (1, 2)]]
PIPELINE = [
    StagePlan("bivlc-choose", name="first", settings={"overlap": 2, "carries": "negative"}),
    StagePlan("bivlc-choose", name="second", source="first", apart_from=[]),
]

pytestmark = pytest.mark.django_db(transaction=True)


def together(*acts):
    """Each act in a thread with a connection of its own, all started at once; what they raise is raised here."""
    barrier = threading.Barrier(len(acts))

    def run(act):
        try:
            barrier.wait()
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [found.result() for found in [pool.submit(run, act) for act in acts]]


def work(annotator: Annotator, stage, acknowledged: dict) -> None:
    """Claim and answer until nothing is there; every acknowledged answer is noted."""
    while leases := assignment_leases.hold(annotator=annotator, stage=stage):
        for lease in leases:
            key = uuid.uuid4()
            submission = submissions.Submission(token=lease.token, key=key, shown_answer="1")
            receipt = submissions.submit(annotator=annotator, submission=submission)
            acknowledged[key] = receipt.judgment.answer


def exclude(annotator: Annotator) -> None:
    participant_lifecycle.exclude(annotator=Annotator.objects.get(pk=annotator.pk), reason="Looked at them.", by="test")


def check_laws(stages, acknowledged: dict) -> None:
    stored = dict(Judgment.objects.values_list("key", "answer"))
    assert acknowledged == {key: stored[key] for key in acknowledged}
    busy = Count("slots", filter=Q(slots__annotator__isnull=False))
    assert not Task.objects.annotate(busy=busy).filter(busy__gt=F("overlap")).exists()
    assert not Slot.objects.filter(annotator__excluded_at__isnull=False).exists()
    assert not Lease.objects.filter(annotator__excluded_at__isnull=False, state="held").exists()
    for task in Task.objects.filter(stage__in=stages):
        counted = Slot.objects.filter(task=task, judgment__isnull=False).count()
        assert Outcome.objects.filter(task=task).exists() == (counted >= task.overlap)


@pytest.mark.parametrize("round", ROUNDS)
def test_somebody_is_excluded_while_everybody_works(round):
    study = studies.study(items=12, stages=PIPELINE)
    first, second = study.stages.select_related("study")
    people, acknowledged = [studies.annotator(study) for _ in range(4)], {}
    out = people[round]
    for _ in range(4):
        studies.judgment(out, first)
    together(*[lambda who=who: work(who, first, acknowledged) for who in people], lambda: exclude(out))
    check_laws([first], acknowledged)
    for who in people:
        if who is not out:
            work(Annotator.objects.get(pk=who.pk), first, acknowledged)
    check_laws([first], acknowledged)
    assert Slot.objects.filter(stage=first, judgment__isnull=False).count() == 24
    kept = Outcome.objects.filter(task__stage=first, state="kept").values("task__item")
    assert set(Task.objects.filter(stage=second, live=True).values_list("item", flat=True)) == {
        row["task__item"] for row in kept
    }


def test_two_who_judged_the_same_tasks_are_excluded_at_once():
    study = studies.study(items=10, stages=PIPELINE)
    first = study.stages.select_related("study").first()
    pair, acknowledged = [studies.annotator(study) for _ in range(2)], {}
    for who in pair:
        work(who, first, acknowledged)
    together(*[lambda who=who: exclude(who) for who in pair])
    check_laws([first], acknowledged)
    assert not Task.objects.filter(stage__position=2, live=True).exists() and not Outcome.objects.exists()


def test_the_same_exclusion_sent_twice_at_once_is_one():
    stage = studies.stage(items=5)
    ann, acknowledged = studies.annotator(stage.study), {}
    work(ann, stage, acknowledged)

    def exclude_now():
        return participant_lifecycle.exclude(annotator=Annotator.objects.get(), reason="Twice.", by="test")

    counts = together(*[exclude_now for _ in range(4)])
    assert sorted(counts) == [0, 0, 0, 5]


@pytest.mark.parametrize("round", ROUNDS)
def test_somebody_is_reinstated_while_others_take_the_slots(round):
    study = studies.study(items=8)
    stage = study.stages.select_related("study").get()
    ann, others, acknowledged = studies.annotator(study), [studies.annotator(study) for _ in range(2)], {}
    work(ann, stage, acknowledged)
    exclude(ann)
    back = Annotator.objects.get(pk=ann.pk)
    together(
        *[lambda who=who: work(who, stage, acknowledged) for who in others],
        lambda: participant_lifecycle.reinstate(annotator=back, reason="A mistake.", by="test"),
    )
    check_laws([stage], acknowledged)
    counted = Slot.objects.filter(stage=stage, judgment__isnull=False)
    assert counted.count() == 8
    assert all(slot.annotator_id == slot.judgment.lease.annotator_id for slot in counted)
    theirs = Lease.objects.filter(state="judged", annotator__in=others)
    assert not theirs.exclude(slot__annotator=F("annotator")).exists()


@pytest.mark.parametrize("round", ROUNDS)
def test_a_place_that_is_left_is_given_to_one(round):
    study = studies.study(items=4, strategy="batches", batch_size=4)
    stage = study.stages.get()
    ann = studies.annotator(study)
    participant_lifecycle.leave(annotator=ann, by="test")
    together(
        lambda: participant_lifecycle.come_back(annotator=Annotator.objects.get(pk=ann.pk), by="test"),
        *[lambda: seats.join(study=study, by="test") for _ in range(3)],
    )
    assert Seat.objects.filter(batch__isnull=False).count() == 1
    holder = Seat.objects.get(batch__isnull=False).annotator_id
    assert set(Slot.objects.filter(stage=stage).values_list("reserved", flat=True)) == {holder}


def test_one_form_sent_by_many_clicks_is_one_annotator():
    study = studies.study()
    found = together(*[lambda: seats.join(study=study, by="test", token="one-form") for _ in range(6)])
    assert {one.pk for one in found} == {Annotator.objects.get().pk}
