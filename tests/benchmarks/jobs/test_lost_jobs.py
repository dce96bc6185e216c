"""Jobs whose process, database or message went away: each comes to an end, without a worker's restart."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now

from benchmarks import tasks
from benchmarks.jobs import jobs
from benchmarks.models import Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job() -> Job:
    return jobs.queue_job(kind="import", title="Cups", params={}, by="test")


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    """The jobs whose messages left."""
    found: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", found.append)
    return found


def end_backend(using) -> None:
    """As when PostgreSQL is stopped or killed under a job."""

    def end(number: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [number])
        connections.close_all()

    thread = threading.Thread(target=end, args=[using.connection.info.backend_pid])
    thread.start()
    thread.join()


def count() -> int:
    return Job.objects.count()


def lose_a_read(job, progress) -> None:
    end_backend(connection)
    count()


def lose_a_transaction(job, progress) -> None:
    with transaction.atomic():
        count()
        end_backend(connection)
        count()


def lose_a_helpers(job, progress) -> None:
    """The connection of a thread that tells how far the job is."""
    failed: list[OperationalError] = []

    def tell() -> None:
        count()
        end_backend(connection)
        try:
            count()
        except OperationalError as error:
            failed.append(error)
        connections.close_all()

    thread = threading.Thread(target=tell)
    thread.start()
    thread.join()
    raise failed[0]


def finish(job, progress) -> None:
    jobs.finish_job(job=job, by="test", report={})


@pytest.mark.parametrize(("total", "whole"), [(662, 662), (None, 1)])
def test_a_finished_job_has_done_all_of_its_last_phase(job, total, whole):
    """Steps are written twice a second, so the last ones may not be."""

    def work(job, progress) -> None:
        progress.begin("encoding", total)
        progress.step(3)
        finish(job, progress)

    job = jobs.run(job_id=job.pk, by="test", work=work)
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == (JobState.DONE, whole, whole)


@pytest.mark.parametrize("work", [lose_a_read, lose_a_transaction, lose_a_helpers])
def test_a_job_that_loses_the_database_is_started_over(job, sent, work):
    jobs.run(job_id=job.pk, by="test", work=work)
    job.refresh_from_db()
    assert (job.state, job.problems) == (JobState.RUNNING, [])
    assert jobs.revive_jobs(by="test", resend=jobs.RESEND) == [job] and sent == [job.pk]
    assert jobs.run(job_id=job.pk, by="test", work=finish).state == JobState.DONE


def test_a_message_that_may_be_lost_is_sent_again_and_another_is_not(job, sent):
    jobs.dispatch(job)
    assert jobs.revive_jobs(by="test", resend=jobs.RESEND) == []
    Job.objects.update(heartbeat_at=Now() - jobs.RESEND - timedelta(seconds=1))
    assert jobs.revive_jobs(by="test", resend=jobs.RESEND) == [job]
    assert sent == [job.pk, job.pk] and jobs.revive_jobs(by="test", resend=jobs.RESEND) == []


def test_a_message_that_may_be_lost_does_not_wait_for_a_clock_that_was_set_back(job, sent):
    jobs.dispatch(job)
    Job.objects.update(heartbeat_at=Now() + timedelta(hours=2))
    assert jobs.revive_jobs(by="test", resend=jobs.RESEND) == [job]
    assert jobs.revive_jobs(by="test", resend=jobs.RESEND) == []


def test_a_job_whose_message_cannot_leave_is_sent_later(job, monkeypatch):
    monkeypatch.setattr(tasks.run_import, "delay", lambda pk: (_ for _ in ()).throw(ConnectionError("no broker")))
    jobs.dispatch(job)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED and job.heartbeat_at


def test_a_running_job_without_a_process_is_cancelled_at_once(job):
    jobs.start_job(job=job, by="test")
    assert jobs.cancel_job(job=job, by="test").state == JobState.CANCELLED


def test_a_running_job_is_asked_to_stop(job):
    states = []

    def cancel() -> None:
        states.append(jobs.cancel_job(job=Job.objects.get(), by="test").state)
        connections.close_all()

    def work(job, progress) -> None:
        thread = threading.Thread(target=cancel)
        thread.start()
        thread.join()
        progress.begin("looking")

    assert jobs.run(job_id=job.pk, by="test", work=work).state == JobState.CANCELLED
    assert states == [JobState.RUNNING]
