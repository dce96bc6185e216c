"""A study goes whole and alone; images go when nothing shows them."""

import threading
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction

from annotation import tasks
from annotation.exports import job as export_job
from annotation.models import Annotator, Judgment, Lease, Release, Slot, Stage, Study, Task
from annotation.studies import deletion, instructions_images
from annotation.studies.deletion import delete_study
from benchmarks.housekeeping import delete as housekeeping_delete
from benchmarks.housekeeping.deferred_files import DeferredFiles, finish_dead
from benchmarks.housekeeping.delete import CannotDelete, delete_benchmark
from benchmarks.imports import run as run_import
from benchmarks.imports import staging
from benchmarks.jobs import jobs
from benchmarks.models import Event, Image, Item, ItemImage, Job, JobState
from tests.builders import crowds, imports, pictures, studies
from tests.builders.installation import rows
from tests.builders.pipelines import with_originals

MODELS = (Study, Stage, Task, Slot, Lease, Judgment, Annotator)


def counts() -> list[int]:
    return [model.objects.count() for model in MODELS]


@pytest.fixture
def media(settings) -> Path:
    Path(settings.MEDIA_ROOT).mkdir()
    return Path(settings.MEDIA_ROOT)


@pytest.mark.django_db(transaction=True)
class TestStudies:
    @pytest.mark.parametrize("index", [0, 10**6])
    def test_what_is_left_is_what_was_there_before(self, eager_tasks, media, monkeypatch, index):
        monkeypatch.setattr(deletion, "WITHOUT_INDEX", index)
        crowds.stage(items=4, people=2, overlap=2)
        before, events = rows(), Event.objects.count()
        study = with_originals(crowds.stage(items=6, people=3, overlap=2).study)
        images = set(imports.stored_files(media))
        exports_run(study)
        drawn = pictures.draw(1, 32, 32)
        instructions_images.add(stage=study.stages.get(), file_name="a.jpg", data=drawn, by="test")
        assert set(imports.stored_files(media)) > images
        benchmark = study.benchmark
        delete_study(study=study, by="test")
        assert set(imports.stored_files(media)) == images
        delete_benchmark(benchmark=benchmark, by="test")
        left = rows()
        assert len(left.pop("benchmarks_event")) > events
        assert left == {name: lines for name, lines in before.items() if name != "benchmarks_event"}
        assert imports.tree(media) == []
        deleted = Event.objects.filter(verb="deleted").order_by("pk")
        assert deleted[0].data["judgments"] > 0 and deleted[0].data["exports"] == 1 and len(deleted) == 2

    def test_killed_before_the_files_went_they_go_later(self, eager_tasks, media, monkeypatch):
        study = with_originals(crowds.stage(items=2, people=2, overlap=2).study)
        exports_run(study)
        with monkeypatch.context() as killed:
            killed.setattr(DeferredFiles, "finish", lambda self: None)
            delete_study(study=study, by="test")
        assert list(media.glob("exports/*/*.zip"))
        assert finish_dead() == 1
        assert not list(media.glob("exports/*/*.zip"))

    def test_one_that_a_job_works_at_stays(self, media):
        study = crowds.stage(items=2, people=2, overlap=2).study
        job = export_job.queue_export(study=study, by="test")
        jobs.start_job(job=job, by="test")
        before = rows()
        with pytest.raises(CannotDelete, match=r"Export of .* is still running"):
            delete_study(study=study, by="test")
        assert rows() == before
        jobs.cancel_job(job=job, by="test")
        Job.objects.update(state=JobState.CANCELLED)
        delete_study(study=study, by="test")

    def test_what_was_released_goes_only_where_that_is_said(self, media):
        study = crowds.stage(items=2, people=2, overlap=2).study
        release = studies.release(study)
        default_storage.save(release.file, ContentFile(b"frozen"))
        before = rows()
        with pytest.raises(
            CannotDelete, match=r"released as split 1\.0\. Confirm that its releases may be deleted too"
        ):
            delete_study(study=study, by="test")
        assert rows() == before and default_storage.exists(release.file)
        assert delete_study(study=study, by="test", releases=True)["releases"] == 1
        assert not Release.objects.exists() and not default_storage.exists(release.file)

    def test_an_answer_at_the_same_time_goes_too_or_is_refused(self, media, monkeypatch):
        """It waits for the deletion; without the lock it would be there without its study, or break the deletion."""
        study = studies.study(items=2)
        annotator = studies.annotator(study)
        studies.judgment(annotator, study.stages.get())
        size, answered = deletion.size, []

        def answer():
            try:
                studies.judgment(annotator, study.stages.get())
            except Exception as error:
                answered.append(error)
            connections.close_all()

        other = threading.Thread(target=answer)

        def meanwhile(study):
            other.start()
            other.join(1)
            return size(study)

        monkeypatch.setattr(deletion, "size", meanwhile)
        delete_study(study=study, by="test")
        other.join()
        assert counts() == [0] * len(MODELS)
        assert len(answered) == 1

    def test_the_command_deletes_both(self, media, capsys):
        study = crowds.stage(items=2, people=2, overlap=2).study
        call_command("delete_study", study.name, yes=True, with_benchmark=True)
        assert counts() == [0] * len(MODELS) and not Item.objects.exists()


def exports_run(study: Study) -> None:
    tasks.run_export(export_job.queue_export(study=study, by="test").pk)


@pytest.mark.django_db
class TestLawOne:
    def refused(self, statement: str) -> None:
        with pytest.raises(DatabaseError, match="never altered or deleted"), transaction.atomic():
            connection.cursor().execute(statement)

    def test_judgments_stay_append_only(self):
        ours, others = studies.stage(), studies.stage()
        for stage in (ours, others):
            studies.judgment(studies.annotator(stage.study), stage)
        self.refused("DELETE FROM annotation_judgment")
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('winnow.deletes_study', %s, true)", [str(ours.study_id)])
        self.refused("DELETE FROM annotation_judgment")  # another study's is among them
        self.refused("UPDATE annotation_judgment SET answer = 'none'")

    def test_the_way_is_closed_after_a_deletion(self):
        ours, others = studies.stage(), studies.stage()
        studies.judgment(studies.annotator(others.study), others)
        deletion._rows(study=ours.study, by="test", after=DeferredFiles("test"))
        self.refused("DELETE FROM annotation_judgment")


@pytest.mark.django_db(transaction=True)
class TestBenchmarks:
    @pytest.fixture
    def cups(self, tmp_path, media):
        return imports.small(tmp_path / "given")

    def test_images_that_others_show_stay(self, cups, media):
        from benchmarks.models import Benchmark

        for name in ("Cups", "Same"):
            imports.imported(*cups, name=name)
        files = set(imports.stored_files(media))
        framed = {use.framed_path for use in ItemImage.objects.filter(item__benchmark__name="Cups")}
        delete_benchmark(benchmark=Benchmark.objects.get(name="Cups"), by="test")
        assert imports.stored_files(media) == imports.named_files() == sorted(files - framed)
        delete_benchmark(benchmark=Benchmark.objects.get(), by="test")
        assert imports.tree(media) == [] and not Image.objects.exists()

    def test_one_that_a_study_uses_stays(self, media):
        study = studies.study(items=1)
        with pytest.raises(CannotDelete, match=study.name):
            delete_benchmark(benchmark=study.benchmark, by="test")
        assert Item.objects.count() == 1 and imports.tree(media) == []

    def test_one_whose_items_are_checks_elsewhere_stays(self, media):
        study, other = studies.study(items=1), studies.benchmark(items=1)
        task = Task.objects.get(stage__study=study)
        Task.objects.filter(pk=task.pk).update(item=other.items.get())
        with pytest.raises(CannotDelete, match="checks or practice"):
            delete_benchmark(benchmark=other, by="test")

    @pytest.mark.parametrize("guarded", [True, False])
    def test_an_import_that_has_met_an_image_keeps_it(self, cups, media, monkeypatch, guarded):
        """Without the guard the deletion takes the image from under the import, which then fails."""
        imports.imported(*cups)
        store, said = run_import.Run.store, []

        def delete():
            from benchmarks.models import Benchmark

            try:
                delete_benchmark(benchmark=Benchmark.objects.get(name="Cups"), by="test")
            except CannotDelete as why:
                said.append(str(why))
            connections.close_all()

        def meanwhile(*args):
            other = threading.Thread(target=delete)
            other.start()
            other.join()
            return store(*args)

        monkeypatch.setattr(run_import.Run, "store", meanwhile)
        if not guarded:
            monkeypatch.setattr(housekeeping_delete.staging, "images_go", lambda: None)
        job = imports.imported(*cups, name="Same")
        assert (job.state == JobState.DONE) == guarded
        assert imports.stored_files(media) == imports.named_files()
        assert (len(imports.named_files()) == 30) == guarded
        assert [("import" in one) for one in said] == [True] * guarded

    def test_where_nothing_holds_them_the_lock_is_free(self, cups, media):
        imports.imported(*cups)
        with transaction.atomic():
            staging.images_go()
