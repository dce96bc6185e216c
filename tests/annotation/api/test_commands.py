"""What every POST of the API promises: one effect for each key, no unknown fields, one shape of refusals."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from annotation.api import running
from benchmarks.accounts import idempotency
from benchmarks.models import Event, IdempotencyKey, Job
from tests.annotation.api.writing import made, post
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return studies.study(items=2)


def moves() -> int:
    return Event.objects.filter(verb="moved to paused").count()


def test_a_repeated_request_gets_the_same_answer_and_does_nothing(client, manager, study):
    first = post(client, "api-study-move", study.pk, key="a", to="paused", expects=200)
    again = post(client, "api-study-move", study.pk, key="a", to="paused", expects=200)
    assert first.json() == again.json() and moves() == 1
    assert (first.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    post(client, "api-study-move", study.pk, key="b", to="paused", expects=200)
    assert moves() == 1


def test_a_key_is_of_one_request_and_of_one_person(client, manager, study, django_user_model):
    post(client, "api-study-move", study.pk, key="a", to="paused", expects=200)
    for name, args, body in (
        ("api-study-move", [study.pk], {"to": "open"}),
        ("api-stage-move", [study.pk, 1], {"to": "paused"}),
    ):
        assert post(client, name, *args, key="a", **body, expects=422).json()["code"] == "IDEMPOTENCY_KEY_REUSED"
    client.force_login(django_user_model.objects.create_superuser("eve"))
    post(client, "api-study-move", study.pk, key="a", to="open", expects=200)


def test_a_refused_request_leaves_its_key_free(client, manager, study):
    post(client, "api-study-move", study.pk, key="a", to="nowhere", expects=400)
    post(client, "api-study-move", study.pk, key="b", to="closed", expects=200)
    post(client, "api-study-move", study.pk, key="a", to="paused", expects=409)
    post(client, "api-study-move", study.pk, key="a", to="open", expects=200)


def test_what_fails_after_the_effect_undoes_it(client, manager, study, monkeypatch):
    monkeypatch.setattr(running.StudyMove, "data_of", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        post(client, "api-study-move", study.pk, key="a", to="paused")
    assert moves() == 0 and not IdempotencyKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_has_the_effect_and_both_its_answer(manager, client, eager_tasks, monkeypatch):
    """Without `jobs_of`, by which the second estimate would be refused, the key alone keeps it from being made."""
    stage, both = studies.stage(items=2, overlap=2, rule="dawid-skene"), Barrier(2)
    monkeypatch.setattr("annotation.pipeline.dawid_skene.jobs_of", lambda stage: (None, None))

    def ask(_):
        other = Client()
        other.cookies.update(client.cookies)
        both.wait(20)
        try:
            return post(other, "api-stage-estimate", stage.study_id, 1, key="a").json()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert first["id"] == second["id"] and Job.objects.filter(kind="estimate").count() == 1


@pytest.mark.parametrize("key", ["", " ", "é", "a" * 101, "a b"])
def test_without_a_key_nothing_is_done(client, manager, study, key):
    refusal = post(client, "api-study-move", study.pk, key=key, to="paused", expects=400).json()
    assert refusal["code"] == "IDEMPOTENCY_KEY_MISSING" and moves() == 0


def test_keys_are_forgotten_after_a_week(client, manager, study):
    for number, days in enumerate((6, 8)):
        facts = {"fingerprint": "f", "status": 200, "body": {}}
        IdempotencyKey.objects.create(user=manager, key=f"{number}", **facts, created_at=Now() - timedelta(days=days))
    idempotency.sweep()
    assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["0"]


WRONG = [
    ({"to": "paused", "colour": "red"}, "UNKNOWN_FIELD", "colour", "The fields are: to."),
    ({}, "REQUIRED", "to", "required"),
    ({"to": "nowhere"}, "INVALID_CHOICE", "to", "not a valid choice. Choose one of open, paused, closed."),
    ({"to": None}, "NULL", "to", "null"),
]


@pytest.mark.parametrize(("body", "code", "field", "says"), WRONG)
def test_what_is_wrong_is_named_by_its_field(client, manager, study, body, code, field, says):
    refusal = post(client, "api-study-move", study.pk, **body, expects=400).json()
    (error,) = refusal["errors"]
    assert (refusal["code"], error["code"], error["field"], error["row"]) == ("INVALID", code, field, None)
    assert says in error["remedy"] and moves() == 0


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        ("{", "application/json", 400, "PARSE_ERROR"),
        ("[" * 200_000, "application/json", 400, "PARSE_ERROR"),
        ('{"to": ' + "[" * 900 + "]" * 900 + "}", "application/json", 400, "PARSE_ERROR"),
        ("[1]", "application/json", 400, "INVALID"),
        ('{"to": "pau\\u0000sed"}', "application/json", 400, "INVALID"),
        ("to=paused", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (" " * (16 * 2**20 + 1), "application/json", 413, "TOO_LARGE"),
    ],
)
def test_what_cannot_be_read_is_refused(client, manager, study, body, kind, status, code):
    url = reverse("api-study-move", args=[study.pk])
    answer = client.post(url, body, content_type=kind, headers={"Idempotency-Key": "a"})
    assert (answer.status_code, answer.json()["code"]) == (status, code) and moves() == 0


@pytest.mark.parametrize(
    ("limit", "most", "fields", "files"),
    [
        ("DATA_UPLOAD_MAX_NUMBER_FILES", 1, {"name": "Cups"}, 2),
        ("DATA_UPLOAD_MAX_NUMBER_FIELDS", 1, {"name": "Cups", "text_only": "true"}, 1),
        ("DATA_UPLOAD_MAX_MEMORY_SIZE", 1000, {"name": "a" * 1001}, 1),
    ],
)
def test_a_form_that_is_too_large_is_refused(client, manager, settings, limit, most, fields, files):
    setattr(settings, limit, most)
    parts = {"images": [SimpleUploadedFile(f"{number}.jpg", b"") for number in range(files)]}
    refusal = post(client, "api-import-new", parts=parts, **fields, expects=413).json()
    assert (list(refusal), refusal["code"]) == (["code", "detail", "errors"], "TOO_LARGE") and not Job.objects.exists()


def test_filters_are_refused(client, manager, study):
    url = reverse("api-study-move", args=[study.pk]) + "?to=paused"
    answer = client.post(url, {"to": "paused"}, content_type="application/json", headers={"Idempotency-Key": "a"})
    assert answer.status_code == 400 and moves() == 0


def test_a_job_is_cancelled(client, manager, study):
    estimated = studies.study(items=2, overlap=2, rule="dawid-skene")
    job = made(client, "api-stage-estimate", estimated.pk, 1, expects=202)
    assert made(client, "api-job-cancel", job["id"], expects=200)["state"] == "cancelled"
