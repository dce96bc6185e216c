"""How long an answer takes says nothing about the screen, where a stage has checks."""

import uuid
from types import SimpleNamespace

import pytest

from annotation.assignment import leases
from annotation.judging import constant_time
from annotation.models import Strategy
from tests.annotation.checks.test_attention_checks import with_checks
from tests.builders import studies


class Clock:
    """Time that passes only when it is said to."""

    def __init__(self):
        self.now, self.slept = 100.0, 0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.slept += 1


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(constant_time, "time", made)
    return made


@pytest.mark.parametrize(("work", "leaves"), [(0.003, 0.05), (0.0042, 0.05), (0.049, 0.05), (0.051, 0.1)])
@pytest.mark.parametrize("refused", [False, True])
def test_whatever_the_work_took_the_answer_leaves_at_the_next_step(clock, work, leaves, refused):
    @constant_time.evenly
    def view(request, here):
        clock.now += work
        if refused:
            raise ValueError

    here = SimpleNamespace(stage=SimpleNamespace(check_rate=0.1))
    try:
        view(None, here)
    except ValueError:
        assert refused
    assert clock.now == pytest.approx(100 + leaves)


@pytest.mark.django_db
@pytest.mark.parametrize("rate", [0.5, 0])
def test_what_takes_answers_or_gives_screens_leaves_evenly_where_there_are_checks(client, clock, rate):
    """And at once elsewhere."""
    stage, _ = with_checks(check_rate=rate, items=4, known=4, strategy=Strategy.EVERYONE)
    annotator = studies.annotator(stage.study)
    lease = leases.hold(annotator=annotator, stage=stage, wanted=1)[0]
    home = f"/judge/{annotator.token}"
    client.post(f"{home}/submit/", {"lease": lease.token, "key": uuid.uuid4(), "answer": "1"})
    client.post(f"{home}/undo/", {"undo_key": uuid.uuid4()})
    client.post(f"{home}/skip/", {"lease": lease.token})
    client.get(f"{home}/")
    assert clock.slept == (4 if rate else 0)
