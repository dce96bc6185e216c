"""Imports, uploads and predictions through the API: whole or nothing, each mistake named."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.jobs import kept_uploads
from benchmarks.models import Benchmark, Event, Image, Item, Job, Run
from tests.annotation.api.writing import made, post
from tests.builders import compared_models, imports

pytestmark = pytest.mark.django_db


@pytest.fixture
def finished(client, eager_tasks, django_capture_on_commit_callbacks):
    """`finished(name, …)`: what the job says that a POST has started, once the worker has run it."""

    def run(route: str, /, *args, **body) -> dict:
        with django_capture_on_commit_callbacks(execute=True):
            answer = post(client, route, *args, expects=202, **body)
        return client.get(answer["Location"]).json()

    return run


def pictures(*names: str) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, imports.jpeg(number)) for number, name in enumerate(names)]


def uploaded(client, name: str, content: bytes, /, **facts) -> dict:
    """An upload that has arrived whole, in one chunk."""
    begun = made(client, "api-upload-list", name=name, size=len(content), **facts)
    return send(client, begun["id"], content).json()


def send(client, id: str, content: bytes, offset: int | str = 0, kind: str = "application/octet-stream"):
    url = reverse("api-upload-detail", args=[id])
    return client.patch(url, content, content_type=kind, headers={"Upload-Offset": str(offset)})


def test_rows_and_pictures_become_a_benchmark(client, manager, finished):
    rows, files = [imports.item(1)], pictures("1.jpg", "1-0.jpg")
    job = finished("api-import-new", name="Cups", items=json.dumps(rows), parts={"images": files})
    assert (job["state"], job["problems"]) == ("done", [])
    benchmark = Benchmark.objects.get(pk=job["report"]["benchmark"])
    assert (benchmark.name, benchmark.items.count(), Image.objects.count()) == ("Cups", 1, 2)
    assert set(Event.objects.values_list("by", flat=True)) == {f"user:{manager.pk}", "worker"}
    assert client.get(reverse("api-benchmark-list"), {"name": "Cups"}).json()["results"][0]["id"] == benchmark.pk


def test_a_large_archive_comes_in_chunks(client, manager, finished, tmp_path):
    path, archive = imports.small(tmp_path / "given")
    content = archive.read_bytes()
    begun = made(client, "api-upload-list", name="images.zip", size=len(content))
    assert (begun["received"], begun["complete"], begun["chunk"]) == (0, False, kept_uploads.CHUNK)
    assert send(client, begun["id"], content[:100]).json()["received"] == 100
    again = send(client, begun["id"], content[:100])  # the answer to it was lost
    assert (again.status_code, again.json()["code"]) == (409, "WRONG_OFFSET")
    assert send(client, begun["id"], content[100:], 100).json()["complete"]
    made(client, "api-upload-list", name="later.zip", size=1)
    page = client.get(reverse("api-upload-list"), {"limit": 1, "offset": 1}).json()
    assert page["count"] == 2 and [one["id"] for one in page["results"]] == [begun["id"]]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    job = finished("api-import-new", name="Cups", items=rows, images=[begun["id"]])
    assert job["state"] == "done" and Item.objects.count() == 3
    assert client.get(reverse("api-upload-detail", args=[begun["id"]])).status_code == 404, "imported, so it is gone"


def test_the_same_rows_twice_are_refused_the_second_time(client, manager, finished):
    found = [finished("api-import-new", name="Cups", items=[imports.item(1)], text_only=True) for _ in range(2)]
    assert [job["state"] for job in found] == ["done", "failed"] and Item.objects.count() == 1
    assert [one["code"] for one in found[1]["problems"]] == ["ALREADY_IMPORTED"]


def test_a_file_of_ones_own_is_looked_at_and_imported_with_a_mapping(client, manager, finished):
    rows = uploaded(client, "mine.csv", b"image,caption,foil\n1.jpg,A red cup.,A blue cup.\n")
    how = {"name": "Cups", "format": "own", "data": [rows["id"]], "text_only": True}
    looked = finished("api-import-new", look=True, **how)["report"]
    assert [one["name"] for one in looked["columns"]] == ["image", "caption", "foil"] and not Item.objects.exists()
    mapping = looked["mapping"] | {"texts": {"positive": "caption", "other": "foil"}}
    assert finished("api-import-new", mapping=mapping, **how)["state"] == "done"
    texts = {one.role: one.text for one in Item.objects.get().captions.all()}
    assert texts == {"positive": "A red cup.", "other": "A blue cup."}


def test_a_check_stores_nothing(client, manager, finished):
    rows, files = json.dumps([imports.item(1)]), {"images": pictures("1.jpg", "1-0.jpg")}
    job = finished("api-import-new", name="Cups", items=rows, check_only="true", parts=files)
    assert (job["state"], job["report"]["check_only"]) == ("done", True) and not Benchmark.objects.exists()


def test_a_problem_names_its_row(client, manager, finished):
    rows = [imports.item(1), imports.item(2, captions=[])]
    job = finished("api-import-new", name="Cups", items=rows, text_only=True)
    assert (job["state"], job["report"].get("benchmark")) == ("failed", None) and not Benchmark.objects.exists()
    (problem,) = [one for one in job["problems"] if one["row"]]
    assert (problem["row"], problem["file"]) == (2, "items") and set(problem) == {
        "code", "file", "field", "row", "remedy",
    }  # fmt: skip


def test_a_file_that_is_no_image_stores_nothing(client, manager, finished):
    files = [*pictures("1.jpg"), SimpleUploadedFile("1-0.jpg", b"This is no picture.")]
    job = finished("api-import-new", name="Cups", items=json.dumps([imports.item(1)]), parts={"images": files})
    assert [(one["code"], one["row"]) for one in job["problems"]] == [("FORMAT_NOT_ALLOWED", 1)]
    assert not Benchmark.objects.exists() and not Image.objects.exists()


def test_half_an_upload_is_not_imported(client, manager):
    begun = made(client, "api-upload-list", name="images.zip", size=10)
    send(client, begun["id"], b"12345")
    refusal = post(client, "api-import-new", name="Cups", items=[imports.item(1)], images=[begun["id"]], expects=400)
    (error,) = refusal.json()["errors"]
    assert (error["code"], error["field"]) == ("UPLOAD_INCOMPLETE", "images")
    assert error["remedy"] == "5 of the 10 bytes of “images.zip” have arrived. Send the rest first."
    assert not Job.objects.exists()


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_an_upload_takes_no_parameter(client, manager, method):
    begun = made(client, "api-upload-list", name="a.zip", size=5)
    url = reverse("api-upload-detail", args=[begun["id"]])
    (error,) = getattr(client, method)(f"{url}?colour=red").json()["errors"]
    assert (error["field"], client.get(url).json()) == ("colour", begun)


WRONG = [
    ({}, "items", "Give either `items` or `data`."),
    ({"items": [], "data": []}, "items", "at least 1"),
    ({"items": [{}], "format": "sugarcrepe"}, "format", "Leave `format` out"),
    ({"items": [{}], "format": "csv"}, "format", "not a valid choice"),
    ({"items": ["row"]}, "items", "dictionary"),
    ({"items": [{}], "name": " "}, "name", "blank"),
    ({"items": [{}], "name": "a\u200bb"}, "name", "invisible"),
    ({"items": [{}], "new_candidates": True}, "name", "no benchmark with this name"),
    ({"items": [{}], "colour": 1}, "colour", "no such field"),
    ({"items": [{}], "mapping": {"texts": {}}}, "mapping", "Begin the mapping with"),
    ({"items": [{}], "mapping": {"winnow": "mapping/1", "texts": {"a": "b"}}}, "mapping", "does not need a mapping"),
]


@pytest.mark.parametrize(("body", "field", "says"), WRONG)
def test_what_is_wrong_is_refused_before_there_is_a_job(client, manager, body, field, says):
    errors = post(client, "api-import-new", **{"name": "Cups"} | body, expects=400).json()["errors"]
    found = [one["remedy"] for one in errors if one["field"].startswith(field)]
    assert found and says in found[0] and not Job.objects.exists()


@pytest.mark.parametrize("as_upload", [False, True])
def test_predictions_become_a_run_whatever_the_file_is_called(client, manager, finished, as_upload):
    benchmark = compared_models.pairs(4)
    answers = compared_models.lines(benchmark, 1).encode()
    if as_upload:
        files = {"files": [uploaded(client, "clip.exe", answers)["id"]]}
    else:
        files = {"parts": {"files": [SimpleUploadedFile("clip.exe", answers)]}}
    job = finished("api-predictions-new", benchmark.pk, model="CLIP", source="a repository", **files)
    assert (job["state"], Run.objects.get(pk=job["report"]["run"]).title) == ("done", "CLIP")


def test_predictions_that_are_none_are_refused(client, manager):
    benchmark, file = compared_models.pairs(1), SimpleUploadedFile("clip.exe", b"")
    body = {"model": "CLIP", "source": "a repository", "kind": "sound", "parts": {"files": [file]}}
    (error,) = post(client, "api-predictions-new", benchmark.pk, **body, expects=400).json()["errors"]
    assert error["field"] == "kind" and not Job.objects.exists()
