"""Exports, releases, invitations and Prolific's codes through the API."""

import hashlib
import io
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.db.models.functions import Now
from django.urls import reverse

from annotation.exports import job as export_job
from annotation.models import Release, Study
from annotation.tasks import run_export, run_release
from benchmarks.models import Event, Job
from benchmarks.storage.files import kept
from tests.annotation.api.writing import made, post
from tests.builders import crowds, object_storage, releases, studies
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return studies.study(items=2)


def whole(answer) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.mark.django_db(transaction=True)
def test_an_export_and_a_release_are_made_followed_and_fetched(client, manager):
    """Outside of any transaction, as the worker makes them: of one snapshot of the database."""
    study = with_originals(crowds.stage(items=4, people=2, overlap=2).study)
    asked = post(client, "api-export-list", study.pk, expects=202)
    plan = {"name": "cups", "version": "1.0", "splits": {"test": 100}, "forms": ["jsonl"]}
    release = made(client, "api-release-list", study.pk, **plan, words={"licence": "MIT"}, expects=202)
    assert (release["state"], release["title"], release["plan"]["splits"]) == ("queued", "cups 1.0", {"test": 100})
    assert client.get(reverse("api-release-file", args=[release["id"]])).status_code == 404
    run_export(asked.json()["id"])
    run_release(release["job"])
    assert client.get(reverse("api-job-detail", args=[release["job"]])).json()["problems"] == []

    job = client.get(asked["Location"]).json()
    fetched = client.get(reverse("api-export-file", args=[study.pk, job["id"]]), headers={"Accept": "application/zip"})
    content = whole(fetched)
    assert (job["state"], len(content)) == ("done", job["report"]["bytes"])
    assert any(name.endswith("manifest.json") for name in zipfile.ZipFile(io.BytesIO(content)).namelist())
    assert client.get(reverse("api-export-list", args=[study.pk])).json()["results"] == [job]

    (listed,) = client.get(reverse("api-release-list", args=[study.pk]), {"name": "cups"}).json()["results"]
    assert (listed["state"], listed["summary"]["splits"]["test"]["items"] > 0) == ("frozen", True)
    assert listed == client.get(reverse("api-release-detail", args=[release["id"]])).json()
    url = reverse("api-release-file", args=[release["id"]])
    start = client.get(url, headers={"Range": "bytes=0-99"})
    rest = client.get(url, headers={"Range": "bytes=100-", "If-Range": start["ETag"]})
    assert (start.status_code, rest.status_code) == (206, 206)
    assert hashlib.sha256(whole(start) + whole(rest)).hexdigest() == listed["sha256"]
    assert client.get(url, headers={"If-None-Match": start["ETag"]}).status_code == 304
    assert client.get(url, headers={"Range": "bytes=99999999-"}).status_code == 416
    card = client.get(reverse("api-release-member", args=[release["id"], "README.md"]))
    assert b"cups" in whole(card) and card["Content-Type"] == "application/octet-stream"
    assert client.get(reverse("api-release-member", args=[release["id"], "../x"])).status_code == 404
    refusal = post(client, "api-release-list", study.pk, **plan, expects=409).json()
    assert (refusal["code"], refusal["errors"][0]["field"]) == ("NAME_TAKEN", "version")
    post(client, "api-release-discard", release["id"], expects=409)
    post(client, "api-release-again", release["id"], expects=409)


WRONG = [
    ({"name": "a b"}, "name", "Use 1 to 100 letters"),
    ({"version": "one"}, "version", "two or three numbers"),
    ({"splits": {"train": 50}}, "splits", "add up to 100"),
    ({"splits": {"half": 100}}, "splits.half", "no such field"),
    ({"forms": ["xml"]}, "forms", "not a valid choice. Choose one of imagefolder, jsonl,"),
    ({"public": ["names"]}, "public", "not a valid choice"),
    ({"stages": [2]}, "stages", "stages 1 to 1, not 2"),
    ({"words": {"mood": "good"}}, "words.mood", "no such field"),
]


@pytest.mark.parametrize(("body", "field", "says"), WRONG)
def test_a_wrong_plan_makes_no_release(client, manager, study, body, field, says):
    answer = post(client, "api-release-list", study.pk, **{"name": "cups", "version": "1.0"} | body, expects=400)
    found = {one["field"]: one["remedy"] for one in answer.json()["errors"]}
    assert says in next(remedy for name, remedy in found.items() if name.startswith(field))
    assert not Release.objects.exists() and not Job.objects.exists()


def test_one_that_failed_is_tried_again_or_discarded(client, manager, study):
    release = releases.failed(study)
    shown = client.get(reverse("api-release-detail", args=[release.pk])).json()
    assert shown["state"] == "failed"
    job = made(client, "api-release-again", release.pk, expects=202)
    assert job["id"] != shown["job"]
    made(client, "api-job-cancel", job["id"], expects=200)
    assert made(client, "api-release-discard", release.pk, expects=200) == {"discarded": str(release)}
    assert client.get(reverse("api-release-detail", args=[release.pk])).status_code == 404


@pytest.mark.parametrize("route", ["study-download", "api-export-file"])
def test_an_export_may_be_fetched_from_the_bucket(client, manager, bucket, study, settings, route):
    storage = object_storage.server().url
    settings.STORAGES = object_storage.storages(storage, bucket, downloads="https://s3.example.org")
    job = export_job.queue_export(study=study, by="test")
    report = {"file": kept.save(f"exports/{job.pk}/cups.zip", ContentFile(b"zip")), "bytes": 3}
    Job.objects.update(state="done", finished_at=Now(), report=report)
    url = reverse(route, args=[study.pk, job.pk])
    assert client.get(url)["Location"].startswith(f"https://s3.example.org/{bucket}/exports/")
    kept.delete(report["file"])
    assert client.get(url).status_code == 404


def test_an_export_that_is_not_there_is_not_found(client, manager, study):
    other = studies.study()
    job = made(client, "api-export-list", study.pk, expects=202)
    for pk in (study.pk, other.pk):
        assert client.get(reverse("api-export-file", args=[pk, job["id"]])).status_code == 404


def test_invitations_lead_to_the_study_and_its_stages(client, manager, study):
    whole, stage = client.get(reverse("api-study-invitations", args=[study.pk])).json()["results"]
    assert (whole["stage"], stage["stage"], stage["name"]) == (None, 1, "bivlc-choose")
    assert [client.get(one["link"]).status_code for one in (whole, stage)] == [200, 200]
    assert whole["prolific_link"].startswith(f"{whole['link']}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&")


def test_prolific_has_three_different_codes(client, manager, study):
    codes = {"completion_code": "A1", "screened_out_code": "B2", "no_consent_code": "C3"}
    assert made(client, "api-study-prolific", study.pk, **codes, expects=200) == codes
    assert client.get(reverse("api-study-prolific", args=[study.pk])).json() == codes
    answer = post(client, "api-study-prolific", study.pk, **codes | {"no_consent_code": "A1"}, expects=400)
    assert "three different codes" in answer.json()["detail"]
    assert Event.objects.filter(verb="set codes").count() == 1


def test_prolifics_export_marks_who_has_left(client, manager, study):
    studies.annotator(study, prolific_pid="p1")
    table = "Participant id,Status\np1,RETURNED\np2,APPROVED\n"
    found, again = (made(client, "api-prolific-returned", study.pk, csv=table, key="a", expects=200) for _ in range(2))
    assert again == found | {"unknown": None}, "ids of people outside the study are not stored"
    assert found == {"statuses": {"RETURNED": 1, "APPROVED": 1}, "left": ["A-01"], "older": 0, "unknown": ["p2"]}
    refusal = post(client, "api-prolific-returned", study.pk, csv="nothing", expects=400).json()
    assert refusal["errors"][0]["field"] == "csv"
