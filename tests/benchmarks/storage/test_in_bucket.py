"""What Winnow does with its files where they are in a bucket: images, jobs on another machine, backups."""

import secrets
import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.urls import reverse

from benchmarks import tasks
from benchmarks.housekeeping import delete
from benchmarks.housekeeping.backup import CannotBackUp, backup
from benchmarks.housekeeping.deferred_files import deferred_files, finish_dead
from benchmarks.housekeeping.restore import restore
from benchmarks.imports import staging
from benchmarks.jobs import uploads, work_folder
from benchmarks.models import Benchmark, Image, ItemImage, Job, JobState
from benchmarks.storage.files import kept
from tests.annotation.api.writing import made, post
from tests.builders import compared_models, imports, installation, object_storage, studies

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bucket")]


def names(folder: str = "") -> list[str]:
    return sorted(found.name for found in kept.below(folder))


@pytest.fixture
def given(tmp_path) -> tuple[Path, Path]:
    return imports.small(tmp_path / "given", 3)


@pytest.fixture
def another_machine(settings, tmp_path):
    """From the call on, Winnow has another folder."""

    def move() -> None:
        settings.VAR = tmp_path / f"machine-{secrets.token_hex(4)}"
        settings.VAR.mkdir()
        settings.MEDIA_ROOT = settings.VAR / "media"

    return move


def test_images_are_sent_as_from_a_folder_and_a_deletion_removes_them(given, client, settings, another_machine):
    imports.imported(*given)
    assert {path for image in Image.objects.all() for path in staging.places(image)} <= set(names())
    assert not names("staging") and not list(Path(settings.MEDIA_ROOT).rglob("*.jpg"))
    another_machine()
    use = ItemImage.objects.select_related("image").first()
    whole = use.image.opaque
    for folder, route, opaque in (
        ("served", "image", whole),
        ("framed", "image", use.opaque),
        ("thumbnails", "thumbnail", whole),
    ):
        answer = client.get(reverse(route, args=[opaque]))
        assert answer.status_code == 200 and answer.content == kept.read(f"{folder}/{opaque[:2]}/{opaque}.jpg")
        assert not {"ETag", "Last-Modified", "Location"} & set(answer.headers)
    made = kept.read(use.framed_path)
    kept.remove_folder("framed")
    assert client.get(reverse("image", args=[use.opaque])).content == made  # made again where it is asked for
    assert client.get(reverse("image", args=["0" * 32])).status_code == 404
    delete.delete_benchmark(benchmark=Benchmark.objects.get(), by="test")
    assert names() == []


@pytest.mark.parametrize("number", [1, 5])
def test_an_import_whose_storage_fails_midway_leaves_nothing(given, number):
    with object_storage.server().failing(object_storage.broken_after(number, "PUT")):
        job = imports.imported(*given)
    assert (job.state, imports.codes(job)) == (JobState.FAILED, ["STORAGE_UNAVAILABLE"])
    assert "failed with status 500 (InternalError)" in job.problems[0]["advice"]
    assert (names(), Image.objects.count()) == ([], 0)
    assert imports.imported(*given).state == JobState.DONE


def test_what_a_lost_machine_had_placed_is_cleared_by_another_one(given, another_machine):
    job = imports.queued(*given)
    placed, lost = Image(sha256="a" * 64, opaque="b" * 32), staging.Staging(job.pk)
    for path in staging.places(placed):
        kept.write(path, b"placed")
    kept.write(lost.journal, f"{placed.sha256} {placed.opaque}\n".encode())
    another_machine()
    assert (staging.sweep_staging(), names()) == (1, [])


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moment", ["moved", "staged"])
def test_an_import_killed_on_one_machine_is_done_by_another_one(given, another_machine, moment):
    job = imports.queued(*given)
    imports.killed(job, moment)
    assert bool(names("originals")) == (moment == "moved") and not Image.objects.exists()
    another_machine()
    staging.sweep_staging()
    assert names() == []
    assert imports.run(job).state == JobState.DONE


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.DONE])
def test_what_a_lost_machine_was_storing_stays_only_if_its_job_is_done(given, another_machine, state):
    job = imports.queued(*given)
    work_folder.will_store(job, "exports/1/cups.zip")
    kept.write("exports/1/cups.zip", b"zip")
    Job.objects.update(state=state, finished_at="2026-01-01T00:00Z")
    another_machine()
    assert work_folder.sweep() == 1
    assert names() == ["exports/1/cups.zip"] * (state == JobState.DONE)


def test_files_follow_a_transaction_whose_machine_was_lost(another_machine, monkeypatch):
    from benchmarks.housekeeping.deferred_files import DeferredFiles
    from benchmarks.models import Event

    kept.write("exports/1/old.zip", b"old")
    with monkeypatch.context() as lost, deferred_files() as after:
        lost.setattr(DeferredFiles, "finish", lambda self: None)
        after.files(["exports/1/old.zip"])
        after.arrive("instructions/ab/1.jpg", b"picture")
        Event.objects.create(by="test", verb="deleted", subject="study:1", data={"afterwards": after.id})
    assert len(names("staging")) == 2
    another_machine()
    assert (finish_dead(), names()) == (1, ["instructions/ab/1.jpg"])


class TestUploads:
    @pytest.fixture
    def ana(self, client) -> User:
        user = User.objects.create_superuser("ana")
        client.force_login(user)
        return user

    def upload(self, client, field: str, path: Path, another_machine) -> str:
        """Each chunk at another machine; the first one is sent again, as after a lost answer."""
        data, facts = path.read_bytes(), {"field": field, "name": path.name, "modified": 1}
        id = made(client, "api-upload-list", **facts, size=len(data))["id"]
        url = reverse("api-upload-detail", args=[id])
        half = len(data) // 2
        for offset, chunk, status in ((0, data[:half], 200), (0, data[:half], 409), (half, data[half:], 200)):
            another_machine()
            headers = {"Upload-Offset": str(offset)}
            answer = client.patch(url, chunk, content_type="application/octet-stream", headers=headers)
            assert answer.status_code == status, answer.content
        assert answer.json()["complete"]
        return id

    def order(self, client, given, another_machine) -> Job:
        form = {"name": "Cups", "format": "jsonl"}
        for field, path in zip(("data", "images"), given, strict=True):
            form[f"{field}_new"] = self.upload(client, field, path, another_machine)
        answer = client.post(reverse("import-new"), form)
        assert answer.status_code == 302
        return Job.objects.get()

    def test_chunks_and_their_job_may_each_be_at_another_machine(self, client, ana, given, another_machine, settings):
        job = self.order(client, given, another_machine)
        shutil.rmtree(settings.VAR)
        another_machine()
        tasks.run_import(job.pk)
        job.refresh_from_db()
        assert (job.state, Benchmark.objects.get().items.count()) == (JobState.DONE, 3), job.problems
        assert names("uploads") == [] and not list((settings.VAR / "uploads").glob("*"))

    def test_predictions_are_fetched_by_the_machine_that_imports_them(
        self, client, ana, another_machine, settings, tmp_path
    ):
        benchmark, path = compared_models.pairs(4), tmp_path / "clip.jsonl"
        path.write_text(compared_models.lines(benchmark, 1))
        id = self.upload(client, "data", path, another_machine)
        asked = {"model": "CLIP", "source": "a repository", "files": [id]}
        job = Job.objects.get(pk=post(client, "api-predictions-new", benchmark.pk, **asked).json()["id"])
        another_machine()
        tasks.run_predictions(job.pk)
        job.refresh_from_db()
        assert job.state == JobState.DONE, job.problems
        assert names("uploads") == [] and not list((settings.VAR / "uploads").glob("*"))

    def test_an_upload_stays_while_a_job_needs_it(self, client, ana, given, another_machine, monkeypatch):
        job = self.order(client, given, another_machine)
        for id in job.params["kept"]["data"]:
            assert client.delete(reverse("api-upload-detail", args=[id])).status_code == 204
        monkeypatch.setattr(uploads, "OLD", -60)
        uploads.sweep()
        assert len(names("uploads/kept")) == 6
        Job.objects.update(state=JobState.CANCELLED, finished_at="2026-01-01T00:00Z")
        uploads.sweep()
        assert names("uploads") == []

    def test_a_job_whose_upload_is_gone_says_so(self, client, ana, given, another_machine):
        job = self.order(client, given, another_machine)
        kept.remove_folder("uploads")
        tasks.run_import(job.pk)
        job.refresh_from_db()
        assert (job.state, imports.codes(job)) == (JobState.FAILED, ["UPLOAD_GONE"])

    def test_a_storage_that_is_down_is_told_to_managers_and_stops_no_judging(self, client, ana):
        """The script of the import page tries an answer of 503 again."""
        annotator = studies.annotator(studies.study())
        with object_storage.server().failing(lambda *asked: (503, "down")):
            refusal = post(client, "api-upload-list", name="a", size=4, expects=503).json()
            assert (refusal["code"], refusal["errors"]) == ("STORAGE_UNAVAILABLE", [])
            assert "status 503" in refusal["detail"]
            page = client.get(reverse("import-new"))
            assert page.status_code == 503 and "Files are unavailable" in page.text and "status 503" in page.text
            refused = client.get(reverse("api-upload-detail", args=["0" * 32]))
            assert refused.status_code == 503 and refused.json()["code"] == "STORAGE_UNAVAILABLE"
            assert refused.json().keys() == {"code", "detail", "errors"}
            client.logout()
            assert client.get(reverse("judge", args=[annotator.token])).status_code == 200
            picture = client.get(reverse("image", args=["ab" * 16]))
            assert picture.status_code == 503 and "object storage" not in picture.text


def test_a_backup_goes_from_the_bucket_to_a_folder_and_back(given, tmp_path, settings, alone):
    imports.imported(*given)
    kept.save("exports/1/split.zip", ContentFile(b"zip"))
    before = {name: kept.read(name) for name in names() if not name.startswith(("framed", "small"))}
    with pytest.raises(CannotBackUp, match="cannot be hard-linked"):
        backup(out=tmp_path / "saved", link=True)
    assert backup(out=tmp_path / "saved")["media"]["files"] == len(before)
    kept.write("exports/2/later.zip", b"later")
    kept.remove(name for name in names() if name.startswith("served"))
    restore(folder=tmp_path / "saved", replace=True, by="test")
    assert {name: kept.read(name) for name in names() if not name.startswith(("framed", "small"))} == before
    settings.STORAGES = {**settings.STORAGES, "default": FOLDER}
    restore(folder=tmp_path / "saved", replace=True, by="test")
    assert installation.files(settings.MEDIA_ROOT).keys() == before.keys()


FOLDER = {"BACKEND": "benchmarks.storage.folder.Folder"}
