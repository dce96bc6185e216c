"""A job of any kind that finds the disk full says so."""

import errno
import shutil
from collections import namedtuple

import pytest
from django.db import OperationalError
from psycopg.errors import DiskFull

from benchmarks.jobs import jobs, room

pytestmark = pytest.mark.django_db(transaction=True)


def of_the_database() -> OperationalError:
    error = OperationalError("could not extend file")
    error.__cause__ = DiskFull()
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "STORAGE_FULL"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "STORAGE_FULL"),
        (of_the_database(), "STORAGE_FULL"),
        (OSError(errno.EIO, "Input/output error"), "UNEXPECTED"),
    ],
)
def test_a_full_disk_is_told_from_other_failures(error, code):
    def work(job, progress) -> None:
        raise error

    job = jobs.queue_job(kind="export", title="Cups", params={}, by="test")
    assert [problem["code"] for problem in jobs.run(job_id=job.pk, by="test", work=work).problems] == [code]


def test_a_job_stops_before_it_takes_what_the_database_needs(monkeypatch):
    def work(job, progress) -> None:
        progress.begin("writing")

    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("usage", "free")(room.LEAST - 1))
    job = jobs.queue_job(kind="export", title="Cups", params={}, by="test")
    assert [problem["code"] for problem in jobs.run(job_id=job.pk, by="test", work=work).problems] == ["STORAGE_FULL"]
