"""A worker that is killed at an export or a release leaves nothing half done; the next one makes the same file."""

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from annotation import tasks as study_tasks
from annotation.exports.atomic_folder import appearing
from annotation.exports.export import CannotExport, export_split
from annotation.models import Study
from benchmarks import locks, tasks
from benchmarks.jobs import jobs, work_folder
from benchmarks.models import Job, JobState
from config import processes
from tests.annotation.releases.killing import RUN, queued, run_and_die, stored, undisturbed, wait_until_dead
from tests.builders import crowds, pipelines, studies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return pipelines.with_originals(crowds.stage(items=6).study)


def killed(job: Job, kind: str, moment: str) -> None:
    """A fork, at that moment; the row then says that it is running, and nobody is at it."""
    connections.close_all()

    def work() -> None:
        connections.close_all()
        run_and_die(kind, job.pk, moment)

    assert processes.fork(work, dies_by=signal.SIGKILL).wait() == -signal.SIGKILL
    wait_until_dead(job)
    job.refresh_from_db()
    assert (job.state, job.report) == (JobState.RUNNING, {})
    assert work_folder.place_of(job.pk).exists()


@pytest.mark.parametrize(
    ("kind", "moment"),
    [
        pytest.param("export", "writing", marks=pytest.mark.nightly),
        pytest.param("export", "storing", marks=pytest.mark.nightly),
        ("release", "building"),
    ],
)
def test_the_next_worker_finds_nothing_half_done(study, tmp_path, kind, moment):
    job, media = queued(study, kind), tmp_path / "media"
    killed(job, kind, moment)
    tasks.tidy_up()  # a worker starts
    assert (list((tmp_path / "work").iterdir()), stored(media)) == ([], {})
    RUN[kind](job.pk)  # what it was sent again
    job.refresh_from_db()
    assert job.state == JobState.DONE and list((tmp_path / "work").iterdir()) == []
    assert list(stored(media).values()) == [undisturbed(job)]


def test_a_job_that_is_started_over_clears_what_its_dead_process_left(study, tmp_path):
    """Where the worker's child alone was killed, no worker starts that would clear it."""
    job = queued(study, "export")
    place = work_folder.place_of(job.pk)
    place.mkdir(parents=True)
    (tmp_path / "media/half.zip").write_bytes(b"half")
    work_folder.will_store(job, "half.zip")
    study_tasks.run_export(job.pk)
    job.refresh_from_db()
    assert (job.state, list((tmp_path / "work").iterdir())) == (JobState.DONE, [])
    assert list(stored(tmp_path / "media").values()) == [undisturbed(job)]


def test_a_job_that_fails_leaves_nothing_either(study, monkeypatch, tmp_path):
    def full(*args):
        raise OSError("planted")

    job = queued(study, "export")
    monkeypatch.setattr(jobs, "finish_job", full)
    study_tasks.run_export(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert (list((tmp_path / "work").iterdir()), stored(tmp_path / "media")) == ([], {})


def test_a_job_that_runs_keeps_its_place_when_another_worker_starts(tmp_path):
    job = queued(studies.study(items=1), "export")
    place = work_folder.place_of(job.pk)
    place.mkdir(parents=True)
    with locks.alone(f"job:{job.pk}"):
        swept = in_another_session(work_folder.sweep)
        assert (swept, place.exists()) == (0, True)
    assert (in_another_session(work_folder.sweep), place.exists()) == (1, False)


def in_another_session(ask: Callable[[], object]) -> object:
    def asked():
        try:
            return ask()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asked).result()


# A folder that a command writes


def test_what_a_killed_command_left_beside_its_folder_goes(study, tmp_path):
    first = export_split(study=study, out=tmp_path / "out", by="test")
    (tmp_path / "out").rename(tmp_path / ".out.old")  # killed between the two renamings
    (tmp_path / ".out.part").mkdir()
    with pytest.raises(ZeroDivisionError), appearing(tmp_path / "out"):
        assert (tmp_path / "out/manifest.json").exists()
        _ = 1 / 0
    assert (tmp_path / "out/manifest.json").exists()
    assert export_split(study=study, out=tmp_path / "out", by="test") == first
    assert [path.name for path in tmp_path.glob(".out*")] == []


def test_two_commands_do_not_write_to_one_folder(tmp_path):
    study = studies.study(items=1)
    with appearing(tmp_path / "out"):
        with pytest.raises(CannotExport, match="Another process"):
            in_another_session(lambda: export_split(study=study, out=tmp_path / "out", by="test"))
        assert (tmp_path / ".out.part").exists()
