"""Annotators judge the very items that a manager corrects: no answer is lost, and none about old words counts."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models import Count, Q

from annotation.assignment import leases as assignment_leases
from annotation.designs.plan import StagePlan
from annotation.models import Judgment, Slot, Task
from annotation.pipeline import task_creation
from annotation.protocols.base import TaskSpec
from annotation.screens import material
from benchmarks.corrections import followers
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action, Caption
from tests.builders import studies

PEOPLE, ITEMS, CORRECTIONS = 4, 2, 10
NEGATIVE = "caption-negative-0"

pytestmark = pytest.mark.django_db(transaction=True)


def change(study, words: str) -> None:
    keys = study.benchmark.items.values_list("key", flat=True)
    asked = [Change(item=key, action=Action.CAPTION, place=NEGATIVE, new=words, reason="Wrong.") for key in keys]
    correct(benchmark=study.benchmark, changes=asked, by="test")


def test_answers_to_items_that_are_corrected_meanwhile():
    stages = [
        StagePlan("bivlc-choose", name="choose", settings={"overlap": 4, "carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="fits", source="choose"),
        StagePlan("verify", name="true", source="fits"),
    ]
    study = studies.study(items=ITEMS, stages=stages)
    choose = study.stages.select_related("study").get(position=1)
    everybody = studies.people(study, PEOPLE)
    shown: dict = {}  # by lease: the words on its screen
    acknowledged: dict = {}  # by key: the answer
    over, barrier = threading.Event(), threading.Barrier(PEOPLE + 1)

    def judge(person):
        barrier.wait()
        while not over.is_set():
            for lease in assignment_leases.hold(annotator=person, stage=choose, wanted=2):
                shown.setdefault(lease.pk, material.texts_of(lease.task)[NEGATIVE])
                key = uuid.uuid4()
                acknowledged[key] = studies.submit(person, lease, "1", key=key).judgment.answer

    def change_all(_):
        barrier.wait()
        try:
            for number in range(CORRECTIONS):
                change(study, f"A cup number {number}.")
        finally:
            over.set()

    def closing(act, who):
        try:
            act(who)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(PEOPLE + 1) as pool:
        threads = [pool.submit(closing, judge, person) for person in everybody]
        for one in [*threads, pool.submit(closing, change_all, None)]:
            one.result(timeout=120)

    assert acknowledged == dict(Judgment.objects.values_list("key", "answer")) and acknowledged
    now = dict(Caption.objects.filter(role="negative").values_list("item", "text"))
    counted = Slot.objects.filter(task__live=True, judgment__isnull=False)
    for item, lease in counted.values_list("task__item", "judgment__lease"):
        assert shown[lease] == now[item]
    live = Task.objects.filter(stage=choose, live=True)
    assert live.count() == ITEMS and not live.exclude(corrected=None).exists()
    taken = Count("slots", filter=Q(slots__judgment__isnull=False) | Q(slots__held_until__isnull=False))
    assert all(task.taken <= task.overlap for task in Task.objects.annotate(taken=taken))
    assert not Slot.objects.filter(held_until__isnull=False).exclude(task__corrected=None).exists()


@contextmanager
def before_its_commit(study):
    """Inside, a correction of the study's items has done everything but commit."""
    done, go = threading.Event(), threading.Event()

    def wait(*_):
        done.set()
        go.wait(20)

    def work():
        try:
            change(study, "A new cup.")
        finally:
            connections.close_all()

    last = followers.Follower(lambda item: None, wait)
    followers.followed_by(last)
    try:
        with ThreadPoolExecutor(1) as pool:
            correcting = pool.submit(work)
            assert done.wait(20)
            yield
            go.set()
            correcting.result(timeout=20)
    finally:
        go.set()
        followers._FOLLOWERS.remove(last)


def test_nobody_is_given_an_item_while_it_is_corrected():
    study = studies.study(items=1)
    [stage], person = study.stages.select_related("study"), studies.annotator(study)
    with before_its_commit(study):
        assert assignment_leases.hold(annotator=person, stage=stage, wanted=1) == []
    [lease] = assignment_leases.hold(annotator=person, stage=stage, wanted=1)
    assert material.texts_of(lease.task)[NEGATIVE] == "A new cup." and studies.submit(person, lease, "1").added


def test_a_task_that_a_correction_cannot_see_yet_is_not_there_before_it():
    """Another stage's outcome may make one at the same moment; nobody must be shown it with the old words."""
    study = studies.study(items=1)
    [stage], item = study.stages.all(), study.benchmark.items.get()
    new = task_creation.NewTask(item.pk, item.key, TaskSpec((NEGATIVE,), ("candidate-0",), "later"))
    with before_its_commit(study), pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '300ms'")
        task_creation.create_tasks(stage, [new])
    task_creation.create_tasks(stage, [new])
