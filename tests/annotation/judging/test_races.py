"""Many clients at once on one item: never over its overlap. Each thread has a database connection of its own.

`make nightly` runs 200 rounds (WINNOW_RACE_ROUNDS); the control shows that the same rounds go wrong without the lock.
"""

import os
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections, transaction

from annotation.assignment import leases as assignment_leases
from annotation.judging import submissions
from annotation.models import Judgment, Lease, Slot, Task
from annotation.pipeline import promotion
from annotation.screens import errors
from tests.builders import studies

CLIENTS = 50
ROUNDS = int(os.environ.get("WINNOW_RACE_ROUNDS", "5"))
UNLOCKED = {
    which: claim.replace("FOR NO KEY UPDATE OF slot SKIP LOCKED", "")
    for which, claim in assignment_leases.CLAIMS.items()
}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def crowd():
    """Runs `act(client number)` in all clients, started by one barrier. Each keeps its connection for all tests."""
    barrier = threading.Barrier(CLIENTS)

    def together(act, number):
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(CLIENTS) as pool:
        yield lambda act: list(pool.map(together, [act] * CLIENTS, range(CLIENTS)))
        list(pool.map(lambda _: (barrier.wait(), connections.close_all()), range(CLIENTS)))


def claim_together(crowd, overlap: int) -> tuple[list, list]:
    """One item, every client claims; returns the clients and those leases that were given out."""
    stage = studies.stage(overlap=overlap)
    clients = studies.people(stage.study, CLIENTS)
    got = crowd(lambda number: assignment_leases.hold(annotator=clients[number], stage=stage, wanted=1))
    return clients, [lease for leases in got for lease in leases]


@pytest.mark.parametrize(
    "overlap, rounds", [(3, 1), *[pytest.param(overlap, ROUNDS, marks=pytest.mark.nightly) for overlap in (1, 3)]]
)
def test_fifty_clients_never_get_more_than_the_overlap(crowd, overlap, rounds):
    for _ in range(rounds):
        clients, leases = claim_together(crowd, overlap)
        assert len(leases) == overlap
        holder = {lease.annotator_id: lease for lease in leases}
        crowd(lambda number, clients=clients, holder=holder: answer(clients[number], holder))
        assert Slot.objects.filter(task=leases[0].task, judgment__isnull=False).count() == overlap


def answer(client, holder):
    if client.pk in holder:
        studies.submit(client, holder[client.pk])


def test_the_control_goes_over_without_the_lock(crowd, monkeypatch):
    monkeypatch.setattr(assignment_leases, "CLAIMS", UNLOCKED)
    assert not any("SKIP LOCKED" in claim for claim in UNLOCKED.values())
    over = any(len(claim_together(crowd, 1)[1]) > 1 for _ in range(20))
    assert over


def test_a_double_click_in_fifty_tabs_is_one_judgment(crowd):
    stage = studies.stage(items=2, overlap=2)
    ann = studies.annotator(stage.study)
    lease = assignment_leases.hold(annotator=ann, stage=stage, wanted=1)[0]
    key = uuid.uuid4()
    receipts = crowd(lambda _: studies.submit(ann, lease, "2", key=key))
    assert Judgment.objects.count() == 1
    assert sum(not receipt.replayed for receipt in receipts) == 1


def test_of_two_answers_in_fifty_tabs_one_is_stored_and_the_others_are_asked_about(crowd):
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    [lease] = assignment_leases.hold(annotator=ann, stage=stage, wanted=1)
    keys = {"1": uuid.uuid4(), "2": uuid.uuid4()}

    def submit(number: int) -> str:
        place = "12"[number % 2]
        try:
            receipt = studies.submit(ann, lease, place, key=keys[place], seen=None)
        except errors.AnsweredElsewhere:
            return "asked"
        return "replayed" if receipt.replayed else "stored"

    assert Counter(crowd(submit)) == {"stored": 1, "replayed": CLIENTS // 2 - 1, "asked": CLIENTS // 2}
    assert Judgment.objects.get().key in keys.values()


def test_two_tabs_of_one_annotator_hold_two_different_tasks(crowd):
    stage = studies.stage(items=3, overlap=3)
    ann = studies.annotator(stage.study)
    crowd(lambda _: assignment_leases.hold(annotator=ann, stage=stage, wanted=2))
    leases = Lease.objects.filter(annotator=ann)
    assert leases.count() == leases.values("task").distinct().count() == 2


def test_undo_in_fifty_tabs_takes_back_one_answer_for_each_key(crowd):
    stage = studies.stage(items=3)
    ann = studies.annotator(stage.study)
    for _ in range(3):
        studies.judgment(ann, stage)
    key = uuid.uuid4()
    crowd(lambda _: submissions.undo(annotator=ann, key=key))
    assert Judgment.objects.filter(withdrawn=True).count() == 1


def test_a_lease_that_ran_out_is_given_on_once(crowd):
    stage = studies.stage(overlap=1)
    slow = studies.annotator(stage.study)
    assignment_leases.hold(annotator=slow, stage=stage, wanted=1)
    Slot.objects.update(held_until="2020-01-01T00:00Z")
    clients = studies.people(stage.study, CLIENTS)
    got = crowd(lambda number: assignment_leases.hold(annotator=clients[number], stage=stage, wanted=1))
    assert sum(len(leases) for leases in got) == 1


def test_a_task_that_goes_while_it_is_answered_is_no_deadlock():
    """An answer locks the slot and then the task; whoever takes the item out of the stage keeps to the same order."""
    stage = studies.stage()
    slot, task = Slot.objects.get(), Task.objects.get()

    def go_away():
        try:
            with transaction.atomic():
                promotion._set_live(task, False, stage)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Slot.objects.select_for_update(no_key=True).get(pk=slot.pk)
            gone = pool.submit(go_away)
            wait_for_a_lock()
            Task.objects.select_for_update(no_key=True).get(pk=task.pk)
        gone.result()
    assert not Task.objects.get().live


def wait_for_a_lock() -> None:
    """Until another connection waits for one of ours."""
    waiting = False
    while not waiting:
        with connection.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
            waiting = cursor.fetchone()[0]
