"""Uploads that stay: in chunks with offsets, each its owner's alone, and used again after an import was rejected."""

import contextlib
import io
import os
import shutil
import threading
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from benchmarks.jobs import kept_uploads, room, uploads
from benchmarks.models import Item, Job, JobState
from benchmarks.storage.files import kept
from tests.annotation.api.writing import post
from tests.builders import imports

pytestmark = pytest.mark.django_db
MB = 10**6
FACTS = {"field": "images", "name": "images.zip", "size": 10, "modified": 1}
BYTES = "application/octet-stream"
WRONG_CHUNKS = [
    *((offset, b"xxxxx", BYTES, 409, "WRONG_OFFSET") for offset in (0, 3, 9)),
    *((offset, b"xxxxx", BYTES, 400, "INVALID") for offset in ("", "-1", "٣", "x")),
    (5, b"1" * (kept_uploads.CHUNK + 1), BYTES, 413, "TOO_LARGE"),
    (5, b"{}", "application/json", 415, "UNSUPPORTED_MEDIA_TYPE"),
]


def begun(client, **facts):
    return post(client, "api-upload-list", **FACTS | facts)


def address(state: dict) -> str:
    return reverse("api-upload-detail", args=[state["id"]])


def sent(client, state: dict, offset, data: bytes, kind: str = BYTES):
    headers = {"Upload-Offset": str(offset)}
    return client.patch(address(state), data, content_type=kind, headers=headers)


def content(upload: kept_uploads.Upload) -> bytes:
    if not kept.in_bucket:
        return upload.path.read_bytes()
    return b"".join(kept.read(found.name) for found in kept.below("uploads") if "/chunks/" in found.name)


def disk_with(monkeypatch, free: int) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(free))


@pytest.mark.parametrize("holders, status", [(0, 200), (1, 507)])
def test_a_large_form_holds_its_length_while_it_is_read(client, manager, monkeypatch, holders, status):
    disk_with(monkeypatch, room.RESERVE + 30 * MB)
    dead = Path(settings.VAR) / "uploads" / f"0{room.HELD}"  # nobody keeps it locked
    dead.parent.mkdir()
    dead.write_text("999999999999")
    with room.held(holders * 25 * MB, "another"):
        given = {"data": SimpleUploadedFile("a.jsonl", bytes(9 * MB)), "format": "jsonl", "name": "A"}
        answer = client.post(reverse("import-new"), given)
    assert (answer.status_code == 507) == (status == 507)
    assert ("The server has no room for these files" in answer.text) == (status == 507)
    assert not list((Path(settings.VAR) / "uploads").glob(f"*{room.HELD}"))


class TestChunks:
    def test_they_follow_one_another_and_an_interrupted_upload_goes_on(self, place, client, manager):
        state = begun(client).json()
        assert (state["received"], sent(client, state, 0, b"01234").json()["received"]) == (0, 5)
        again = begun(client).json()  # after a reload, the same file
        assert (again["id"], again["received"]) == (state["id"], 5) and client.get(address(state)).json() == again
        assert sent(client, state, 5, b"56789").json()["received"] == 10
        assert begun(client, modified=None).json()["id"] != state["id"], "it may be another file"
        upload = kept_uploads.find(manager, state["id"])
        assert upload.complete and content(upload) == b"0123456789"

    @pytest.mark.parametrize(("offset", "chunk", "kind", "status", "code"), WRONG_CHUNKS)
    def test_a_wrong_chunk_adds_nothing(self, place, client, manager, offset, chunk, kind, status, code):
        state = begun(client).json()
        sent(client, state, 0, b"01234")
        answer = sent(client, state, offset, chunk, kind)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert client.get(address(state)).json()["received"] == 5

    def test_two_requests_at_once_do_not_mix(self, client, manager):
        """The first one's body is still arriving when the second comes."""
        state, upload = begun(client).json(), kept_uploads.find(manager, begun(client).json()["id"])
        reading, go = threading.Event(), threading.Event()

        class Slow(io.BytesIO):
            def read(self, size):
                reading.set()
                go.wait(10)
                return super().read(size)

        first = threading.Thread(target=kept_uploads.append, args=[upload, 0, Slow(b"01234")])
        first.start()
        reading.wait(10)
        second = sent(client, state, 0, b"xxxxx").status_code
        go.set()
        first.join()
        assert (second, upload.path.read_bytes()) == (409, b"01234")

    def test_what_comes_before_a_connection_breaks_stays(self, place, client, manager):
        upload = kept_uploads.find(manager, begun(client).json()["id"])

        class Broken(io.BytesIO):
            def read(self, size):
                assert size <= kept_uploads.PIECE  # memory stays flat
                piece = super().read(3)
                if not piece:
                    raise OSError("the connection broke")
                return piece

        with pytest.raises(OSError, match="broke"):
            kept_uploads.append(upload, 0, Broken(b"01234"))
        assert upload.received == 5 and not upload.complete

    def test_no_more_bytes_than_the_file_has(self, place, client, manager):
        state = begun(client).json()
        assert sent(client, state, 0, b"0123456789and more").json()["received"] == 10

    @pytest.mark.parametrize(
        ("facts", "word"),
        [
            ({"size": kept_uploads.MAX_BYTES + 1}, "“images.zip” is too large."),
            ({"name": "é" * 200}, "too long"),
            ({"name": "x" * 300}, "too long"),
            ({"size": -1}, ""),
            ({"size": "many"}, ""),
            ({"field": "name"}, ""),
            *(({"name": name}, "") for name in (None, "..", ".", "\u200b", "a/", "ima\0ges.zip")),
        ],
    )
    def test_what_cannot_be_uploaded(self, client, manager, facts, word):
        answer = begun(client, **facts)
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["field"]) == (400, *facts) and word in error["remedy"]
        assert kept_uploads.of_user(manager) == []

    @pytest.mark.parametrize("name", ["../../x/images.zip", "images.zip\u202e"])
    def test_a_name_is_no_path_and_can_be_seen(self, client, manager, name):
        state = begun(client, name=name).json()
        assert kept_uploads.find(manager, state["id"]).name == "images.zip"

    def test_a_full_disk_is_told_before_and_while_bytes_come(self, client, manager, monkeypatch):
        state = begun(client).json()
        monkeypatch.setattr(kept_uploads, "_lock", full)
        answer = sent(client, state, 0, b"01234")
        assert answer.status_code == 507 and "disk is full" in answer.json()["detail"]
        monkeypatch.undo()
        disk_with(monkeypatch, room.LEAST - 1)
        assert sent(client, state, 0, b"01234").status_code == 507
        disk_with(monkeypatch, room.RESERVE)
        answer = begun(client, name="other.zip")
        assert (answer.status_code, answer.json()["code"]) == (507, "STORAGE_FULL")
        assert "no room for “other.zip”" in answer.json()["detail"]
        assert len(kept_uploads.of_user(manager)) == 1

    @pytest.mark.django_db(transaction=True)
    def test_they_hold_the_length_that_they_will_have(self, client, manager, monkeypatch):
        """Three files of 1,056 MB were once accepted on 2,118 MB, and filled the disk."""
        disk_with(monkeypatch, room.RESERVE + 2118 * MB)

        def begin(number: int) -> int:
            with contextlib.closing(connection):
                own = Client()
                own.force_login(manager)
                return begun(own, name=f"{number}.zip", size=1056 * MB).status_code

        with ThreadPoolExecutor(3) as threads:
            assert sorted(threads.map(begin, range(3))) == [201, 201, 507]
        [first, second] = kept_uploads.of_user(manager)
        kept_uploads.drop([first.id])
        assert begin(3) == 201
        halted = time.time() - room.HALTED - 1
        os.utime(second.folder, (halted, halted))
        assert (begin(4), begin(5)) == (201, 507)
        state = {"id": second.id}
        assert sent(client, state, 0, b"0").status_code == 507  # others have taken what it held
        kept_uploads.drop(one.id for one in kept_uploads.of_user(manager) if one.name == "4.zip")
        assert sent(client, state, 0, b"0").status_code == 200
        assert begin(6) == 507

    def test_they_are_their_owners_alone(self, place, client, manager):
        state = begun(client).json()
        client.force_login(User.objects.create_superuser("bo"))
        assert sent(client, state, 0, b"01234").status_code == 404
        assert {method(address(state)).status_code for method in (client.get, client.delete)} == {404}
        refusal = post(client, "api-import-new", name="Cups", data=[state["id"]], expects=400)
        assert refusal.json()["errors"][0]["code"] == "UNKNOWN_UPLOAD" and kept_uploads.of_user(manager)
        client.force_login(manager)
        assert client.delete(address(state)).status_code == 204 and kept_uploads.of_user(manager) == []

    def test_a_foreign_page_cannot_send_any(self, manager):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(manager)
        assert begun(strict).status_code == 403


def full(*args):
    raise OSError(28, "planted")


class TestUsedAgain:
    @pytest.fixture
    def rejected(self, client, manager, tmp_path, eager_tasks, django_capture_on_commit_callbacks):
        """A job without two of its images; its files are kept."""
        self.commit = django_capture_on_commit_callbacks
        path, _ = imports.small(tmp_path / "given")
        images = imports.archive(tmp_path, ["0.jpg", "0-0.jpg", "1.jpg", "1-0.jpg"])
        job = self.brought(client, {"data": [upload_of(path)], "images": [upload_of(images)]})
        assert job.state == JobState.FAILED
        return job

    def brought(self, client, form: dict) -> Job:
        with self.commit(execute=True):
            answer = client.post(reverse("import-new"), {"name": "Cups", "format": "jsonl", **form})
        assert answer.status_code == 302, answer.text
        return Job.objects.first()

    def test_one_file_is_replaced_and_the_others_are_not_sent_again(self, client, rejected, tmp_path):
        page = client.get(reverse("import-new"), {"again": rejected.pk}).text
        kept = rejected.params["kept"]
        assert 'value="Cups"' in page and page.count(" ago: use again") == 2
        for field in ("data", "images"):
            assert f'name="{field}_kept" value="{kept[field][0]}" checked' in page
        less = imports.manifest(tmp_path, [imports.item(0), imports.item(1)], "less.jsonl")
        job = self.brought(
            client, {"data": [upload_of(less)], "data_kept": kept["data"], "images_kept": kept["images"]}
        )
        assert (job.state, Item.objects.count()) == (JobState.DONE, 2), job.problems
        assert kept_uploads.find(job.created_by, kept["images"][0]) is None  # what was imported goes

    def test_a_check_leads_to_the_import_of_the_same_files(self, client, rejected, tmp_path):
        kept = rejected.params["kept"]
        form = {f"{name}_kept": ids for name, ids in kept.items()} | {"skip_missing_images": "on"}
        job = self.brought(client, form | {"check_only": "on"})
        page = client.get(reverse("job-detail", args=[job.pk])).text
        assert "No problems found" in page and "Import 2 items" in page and not Item.objects.exists()
        hidden = {name: page.count(f'type="hidden" name="{name}"') for name in ("skip_missing_images", "images_kept")}
        assert hidden == {"skip_missing_images": 1, "images_kept": 1}
        assert self.brought(client, form).report["items"] == 2 == Item.objects.count()
        assert imports.tree(tmp_path / uploads.UPLOADS) == []

    def test_a_file_replaces_the_one_of_its_name(self, client, rejected, tmp_path):
        """Four tries leave one manifest, whether the earlier one was to be used again or not."""
        kept, path = rejected.params["kept"], imports.manifest(tmp_path, [imports.item(2)])
        for again in ([], kept["data"], []):
            job = self.brought(client, {"data": [upload_of(path)], "data_kept": again, "images_kept": kept["images"]})
            assert Path(job.params["path"]).name == "items.jsonl" and job.state == JobState.FAILED
        names = [upload.name for upload in kept_uploads.of_user(rejected.created_by)]
        assert sorted(names) == ["images.zip", "items.jsonl"]

    def test_a_form_with_an_error_keeps_the_files_of_its_other_fields(self, client, rejected, tmp_path):
        path = imports.manifest(tmp_path, [imports.item(0)], "new.jsonl")
        for _ in range(2):
            form = {"name": "Cups", "format": "jsonl", "data": [upload_of(path)]}
            answer = client.post(reverse("import-new"), form | {"images": [SimpleUploadedFile("notes.txt", b"x")]})
        kept = [upload for upload in kept_uploads.of_user(rejected.created_by) if upload.name == "new.jsonl"]
        assert (answer.status_code, len(kept)) == (422, 1) and "notes.txt" not in answer.text
        assert f'name="data_kept" value="{kept[0].id}" checked' in answer.text
        form = {"data_kept": kept[0].id, "images_kept": rejected.params["kept"]["images"]}
        job = self.brought(client, form)
        assert job.state == JobState.DONE, job.problems

    def test_of_two_uploads_of_one_name_one_must_be_chosen(self, client, rejected):
        twin = kept_uploads.keep(rejected.created_by, "images", SimpleUploadedFile("images.zip", b"x"))
        both = {
            "data_kept": rejected.params["kept"]["data"],
            "images_kept": [*rejected.params["kept"]["images"], twin.id],
        }
        answer = client.post(reverse("import-new"), {"name": "Cups", "format": "jsonl", **both})
        assert answer.status_code == 422 and "Two uploads are called “images.zip”" in answer.text

    def test_nobody_else_sees_or_uses_them(self, client, rejected):
        kept = rejected.params["kept"]
        client.force_login(User.objects.create_superuser("bo"))
        assert "use again" not in client.get(reverse("import-new"), {"again": rejected.pk}).text
        form = {"name": "Cups", "format": "jsonl", "data_kept": kept["data"]}
        answer = client.post(reverse("import-new"), form)
        assert answer.status_code == 422 and "no longer there" in answer.text
        client.force_login(User.objects.create_user("cy", is_staff=True))
        assert client.get(reverse("import-new"), {"again": rejected.pk}).status_code == 404

    def test_they_go_after_a_day(self, client, rejected, monkeypatch):
        uploads.sweep()
        assert len(kept_uploads.of_user(rejected.created_by)) == 2
        monkeypatch.setattr(uploads, "OLD", -1)
        uploads.sweep()
        assert kept_uploads.of_user(rejected.created_by) == []

    def test_what_came_in_chunks_is_imported(self, client, rejected, tmp_path):
        """As the script sends it: the new archive replaces the kept one."""
        data = imports.small(tmp_path / "all")[1].read_bytes()
        state = begun(client, name="all.zip", size=len(data)).json()
        kept = rejected.params["kept"]
        form = {"data_kept": kept["data"], "images_kept": kept["images"], "images_new": state["id"]}
        answer = client.post(reverse("import-new"), {"name": "Cups", "format": "jsonl", **form})
        assert answer.status_code == 422 and "no longer there" in answer.text  # it is not complete
        sent(client, state, 0, data)
        job = self.brought(client, form)
        assert (job.state, job.report["items"]) == (JobState.DONE, 3), job.problems


def upload_of(path) -> SimpleUploadedFile:
    return SimpleUploadedFile(path.name, path.read_bytes())
