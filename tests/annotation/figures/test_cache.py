"""Figures that are computed once for each state, by the worker where a study is large: what makes them old, and who
computes them when.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils import timezone

from annotation import tasks
from annotation.figures import cache
from annotation.models import CachedFigures, Stage
from benchmarks import audit, locks
from benchmarks.jobs import jobs
from benchmarks.jobs.jobs import Tell
from benchmarks.models import Event, Job
from tests.builders import studies

KIND = "judgments"


@pytest.fixture(autouse=True)
def kind(monkeypatch):
    """A kind of figures of its own: how many judgments the stage has."""

    def compute(stage: Stage, key: str, tell: Tell) -> dict:
        tell(1, 2)
        return {"judgments": studies.Judgment.objects.filter(lease__task__stage=stage).count(), "key": key}

    monkeypatch.setitem(cache.KINDS, KIND, compute)


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(cache, "SMALL", 0)


def latest(stage: Stage, **options) -> cache.LatestFigures:
    return cache.latest(stage, KIND, **options)


def judge(stage: Stage) -> None:
    studies.judgment(studies.annotator(stage.study), stage)


def lasts(stage: Stage, state: str) -> bool:
    return cache.lasts(stage.study, state)


# What is of the present


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["judgment", "exclusion", "flag", "import", "stage", "task"])
def test_what_figures_rest_on_makes_them_old(what):
    stage = studies.stage(items=3)
    person = studies.annotator(stage.study)
    given = studies.judgment(person, stage)
    state = cache.state_of().state
    assert lasts(stage, state)
    {
        "judgment": lambda: studies.judgment(person, stage),
        "exclusion": lambda: audit.record(by="user:1", verb="excluded", subject=person),
        "flag": lambda: studies.submissions.flag(annotator=person, token=given.lease.token, reason="Odd"),
        "import": lambda: audit.record(by="user:1", verb="imported", subject=stage.study.benchmark),
        "stage": lambda: studies.study_lifecycle.move_stage(stage=stage, to="closed", by="test"),
        "task": lambda: audit.record(by="user:1", verb="adjudicated", subject=given.lease.task),
    }[what]()
    assert not lasts(stage, state)


@pytest.mark.django_db
def test_jobs_exports_and_other_studies_do_not():
    stage, other = studies.stage(items=3), studies.stage(items=3)
    person, stranger = studies.annotator(stage.study), studies.annotator(other.study)
    studies.judgment(person, stage)
    state = cache.state_of().state
    job = jobs.queue_job(kind="export", title="x", params={}, by="test")
    jobs.start_job(job=job, by="test")
    audit.record(by="test", verb="exported", subject=stage.study)
    studies.judgment(stranger, other)
    studies.submissions.flag(annotator=stranger, token=studies.judgment(stranger, other).lease.token, reason="Odd")
    studies.study(items=2)
    assert lasts(stage, state) and not lasts(other, state)


@pytest.mark.django_db
def test_too_much_elsewhere_is_not_looked_through(monkeypatch):
    monkeypatch.setattr(cache, "MOST", 3)
    stage, other = studies.stage(items=3), studies.stage(items=9)
    state, person = cache.state_of().state, studies.annotator(other.study)
    for _ in range(2):
        audit.record(by="test", verb="exported", subject=other.study)
    assert lasts(stage, cache.state_of().state)
    for _ in range(3):
        studies.judgment(person, other)
    assert not lasts(stage, state)


@pytest.fixture
def aside():
    """A thread with a connection of its own, which it closes."""
    with ThreadPoolExecutor(1) as other:
        yield other
        other.submit(connections.close_all).result()


@pytest.fixture
def unfinished(aside):
    """`unfinished(work)` does it in another connection's transaction; the answer commits that."""

    def begin(work):
        block = transaction.atomic()
        aside.submit(block.__enter__).result()
        aside.submit(work).result()
        return lambda: aside.submit(block.__exit__, None, None, None).result()

    return begin


@pytest.mark.django_db(transaction=True)
def test_a_judgment_that_is_not_committed_yet_is_not_missed(unfinished):
    """Its id is given out before: figures made meanwhile lack it, and must not pass for those of the present."""
    stage = studies.stage(items=3)
    person = studies.annotator(stage.study)
    commit = unfinished(lambda: studies.judgment(person, stage))
    assert latest(stage).data["judgments"] == 0
    commit()
    found = latest(stage)
    assert found.data["judgments"] == 1 and found.current
    assert CachedFigures.objects.get().state != "" and lasts(stage, CachedFigures.objects.get().state)


@pytest.mark.django_db(transaction=True)
def test_those_who_write_are_waited_for(unfinished, aside):
    """Whoever began later is not."""
    stage = studies.stage(items=3)
    person = studies.annotator(stage.study)
    commit = unfinished(lambda: studies.judgment(person, stage))
    assert cache.state_of(patience=0.05).state == ""
    with ThreadPoolExecutor(1) as waiting:
        state = waiting.submit(cache.state_of, 10)
        commit()
        assert state.result().state != ""
        waiting.submit(connections.close_all).result()


# Who computes, and when


@pytest.mark.django_db
def test_a_small_study_is_computed_while_one_waits_and_once():
    stage = studies.stage(items=3)
    first, again = latest(stage), latest(stage)
    assert first.current and again.current and first.made_at == again.made_at
    judge(stage)
    assert latest(stage).data == {"judgments": 1, "key": ""}
    assert Job.objects.count() == 0


@pytest.mark.django_db
def test_each_choice_is_kept_by_itself():
    stage = studies.stage()
    assert (latest(stage, key="a").data["key"], latest(stage, key="b").data["key"]) == ("a", "b")
    assert CachedFigures.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("size", [{"items": 4, "overlap": 3}, {"items": 12, "quota": 1}])
def test_judgments_asked_for_and_items_make_a_study_large(size, monkeypatch):
    study = studies.stage(**size).study
    for small, is_small in ((11, False), (12, True)):
        monkeypatch.setattr(cache, "SMALL", small)
        assert cache.is_small(study) == is_small


@pytest.mark.django_db(transaction=True)
def test_a_large_study_is_computed_by_the_worker(everything_is_large, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    stage = studies.stage(items=3)
    before = latest(stage)
    assert (before.data, before.current, before.under_way) == (None, False, True)
    tasks.compute_figures(before.job.pk)
    after = latest(stage)
    assert after.current and after.data["judgments"] == 0
    assert Job.objects.get().state == "done" and (Job.objects.get().done, Job.objects.get().total) == (2, 2)


@pytest.mark.django_db(transaction=True)
def test_computing_does_not_make_its_own_result_old(everything_is_large):
    """A job writes events of its own."""
    stage = studies.stage(items=3)
    tasks.compute_figures(latest(stage).job.pk)
    assert Event.objects.filter(subject__startswith="job:").count() == 3
    assert latest(stage).current and Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_large_study_rests_between_two_computations(everything_is_large):
    """What was computed last is shown meanwhile."""
    stage = studies.stage(items=3)
    tasks.compute_figures(latest(stage).job.pk)
    judge(stage)
    resting = latest(stage)
    assert (resting.data["judgments"], resting.current, resting.job) == (0, False, None)
    assert resting.due - resting.made_at == timedelta(seconds=10)
    CachedFigures.objects.update(made_at=timezone.now() - timedelta(seconds=240), seconds=31)
    assert latest(stage).under_way is False  # eight times the processor time that it took
    CachedFigures.objects.update(made_at=timezone.now() + timedelta(hours=2))  # by a clock that was ahead
    assert latest(stage).due is None
    Job.objects.filter(state="queued").delete()
    CachedFigures.objects.update(made_at=timezone.now() - timedelta(seconds=240), seconds=29)
    assert latest(stage).under_way and Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_look_at_once_queue_one_job(everything_is_large):
    stage = studies.stage(items=3)

    def at_once(_):
        found = latest(stage)
        connections.close_all()
        return found.job.pk

    with ThreadPoolExecutor(8) as people:
        assert len(set(people.map(at_once, range(8)))) == 1
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_what_a_dead_worker_left_is_sent_again(everything_is_large, monkeypatch):
    sent = []
    monkeypatch.setattr(jobs, "dispatch", lambda job: sent.append(job.pk))
    stage = studies.stage(items=3)
    job = latest(stage).job
    jobs.start_job(job=job, by="worker")  # and no process holds its lock
    assert latest(stage).job.state == "queued" and sent == [job.pk, job.pk]


@pytest.mark.django_db(transaction=True)
def test_a_living_worker_is_left_alone(everything_is_large, aside):
    stage = studies.stage(items=3)
    job = latest(stage).job
    holding = locks.alone(audit.named(job))
    aside.submit(holding.__enter__).result()
    jobs.start_job(job=job, by="worker")
    assert latest(stage).job.state == "running"
    aside.submit(holding.__exit__, None, None, None).result()


@pytest.mark.django_db(transaction=True)
def test_a_failure_is_told_and_tried_again_later(everything_is_large, monkeypatch):
    stage = studies.stage(items=3)
    monkeypatch.setitem(cache.KINDS, KIND, lambda *given: 1 / 0)
    tasks.compute_figures(latest(stage).job.pk)
    found = latest(stage)
    assert (found.job.state, found.under_way) == ("failed", False) and found.due > timezone.now()
    Job.objects.update(finished_at=timezone.now() - timedelta(seconds=cache.RETRY))
    assert latest(stage).under_way
