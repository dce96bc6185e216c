"""What an import brings reaches every study of its benchmark, whatever happens to the process that imports."""

import threading
from pathlib import Path

import pytest
from django.db import connection, connections, transaction

from annotation.designs.plan import StagePlan
from annotation.exports import export
from annotation.models import Task
from annotation.pipeline import promotion
from annotation.studies import lifecycle as study_lifecycle
from benchmarks import tasks
from benchmarks.imports import listeners
from benchmarks.models import Benchmark, JobState
from tests.builders import imports, studies

pytestmark = pytest.mark.django_db
WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.fixture
def bring(tmp_path, settings):
    """`bring(*numbers)`: import the items with these numbers; returns the job."""
    Path(settings.MEDIA_ROOT).mkdir()

    def run(*numbers: int):
        folder = tmp_path / "-".join(map(str, numbers))
        folder.mkdir()
        items = [imports.item(number, images=pictures(number)) for number in numbers]
        names = [one["file"] for item in items for one in item["images"]]
        return imports.imported(imports.manifest(folder, items), imports.archive(folder, names))

    return run


def pictures(number: int) -> list[dict]:
    return [{"role": "candidate", "file": f"{number}{letter}.jpg"} for letter in "ab"]


def create(name: str):
    plans = [StagePlan("bivlc-choose", name="choose")]
    return study_lifecycle.create_study(name=name, benchmark=Benchmark.objects.get(), stages=plans, by="test", seed=1)


def asked(study) -> list[str]:
    return sorted(Task.objects.filter(stage__study=study, live=True).values_list("item__key", flat=True))


def test_every_study_of_the_benchmark_has_the_new_items_when_the_import_is_over(bring):
    bring(0)
    made = [create("One"), create("Two")]
    job = bring(1, 2)
    assert job.state == JobState.DONE
    assert [asked(study) for study in made] == [["i0", "i1", "i2"]] * 2


def test_what_a_killed_process_left_is_taken_in_when_a_worker_starts(bring, monkeypatch):
    bring(0)
    study = create("One")
    with monkeypatch.context() as killed:
        killed.setattr(listeners, "notify", lambda benchmark: None)
        bring(1)
    assert asked(study) == ["i0"]
    for _ in range(2):
        tasks.tidy_up()
        assert asked(study) == ["i0", "i1"]


@pytest.mark.django_db(transaction=True)
def test_an_export_takes_in_what_is_still_to_be_taken_in(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_write", lambda *_: {"files": {}, "counts": {}})
    study = studies.study(items=1)
    studies.item(study.benchmark)
    export.export_split(study=study, out=tmp_path / "out", by="test")
    assert asked(study) == ["item-0", "item-1"]


def test_a_listener_that_fails_does_not_undo_the_import(bring, monkeypatch, caplog):
    def fails(benchmark):
        raise RuntimeError("lost")

    monkeypatch.setattr(listeners, "_LISTENERS", [fails, promotion.take_in_benchmark])
    bring(0)
    study = create("One")
    assert bring(1).state == JobState.DONE and asked(study) == ["i0", "i1"]
    assert "fails failed" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_study_that_is_created_during_an_import_has_its_items_too(bring):
    """The import waits for the study's commit before it looks for the benchmark's studies."""
    bring(0)
    with transaction.atomic():
        study = create("One")
        importing = threading.Thread(target=lambda: (bring(1), connections.close_all()))
        importing.start()
        while not _waiting() and importing.is_alive():
            pass
        assert importing.is_alive()
    importing.join()
    assert asked(study) == ["i0", "i1"]


def _waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        return bool(cursor.fetchone()[0])
