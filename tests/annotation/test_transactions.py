"""Two transactions that wait for each other both come to their end."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connections, transaction

from annotation.models import Task
from benchmarks.transactions import TRIES, retry_deadlocks
from tests.builders import studies


@pytest.mark.django_db(transaction=True)
def test_of_two_that_wait_for_each_other_both_come_to_an_end():
    tasks = sorted(Task.objects.filter(stage=studies.stage(items=2)).values_list("pk", flat=True))
    both, times = threading.Barrier(2), []

    @retry_deadlocks
    @transaction.atomic
    def write(order):
        times.append(order)
        Task.objects.filter(pk=order[0]).update(note="written")
        if times.count(order) == 1:
            both.wait(20)
        Task.objects.filter(pk=order[1]).update(note="written")

    def run(order):
        try:
            write(order)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [tasks, tasks[::-1]]))
    assert len(times) > 2  # one of them was begun anew


@pytest.mark.django_db(transaction=True)
def test_any_other_failure_is_raised_at_once():
    times = []

    @retry_deadlocks
    def fail():
        times.append(1)
        raise OperationalError("the server is gone")

    with pytest.raises(OperationalError):
        fail()
    assert len(times) == 1 < TRIES
