"""Asking for a model to score, in the browser's way."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.models import Benchmark, Job, ScoringModel
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(client) -> Benchmark:
    client.force_login(User.objects.create_superuser("ana"))
    return studies.benchmark()


def post(client, benchmark: Benchmark, **fields):
    asked = {"model": "ViT-B-32-quickgelu", "pretrained": "openai", "device": "auto"}
    return client.post(reverse("score-new", args=[benchmark.pk]), asked | fields)


def test_the_benchmarks_page_leads_to_the_form(client, benchmark):
    url = reverse("score-new", args=[benchmark.pk])
    assert url in client.get(reverse("benchmark-detail", args=[benchmark.pk])).text
    assert 'name="pretrained"' in client.get(url).text


def test_a_request_queues_a_job(client, benchmark):
    answer = post(client, benchmark)
    job = Job.objects.get(kind="score")
    assert answer.url == reverse("job-detail", args=[job.pk])
    assert job.params["model"] == "ViT-B-32-quickgelu"
    assert job.created_by.username == "ana"
    assert "Waiting for a worker with models" in client.get(answer.url).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"pretrained": "/etc/passwd"}, "not a path"),
        ({"model": "local-dir:../secret", "pretrained": ""}, "not a path"),
        ({"model": "local-dir: /srv/a:b", "pretrained": ""}, "not a path"),
        ({"pretrained": "a/../../b"}, "not a path"),
        ({"pretrained": ""}, "Give the weights"),
        ({"device": "toaster"}, "There is no device"),
        ({"model": ""}, "required"),
    ],
)
def test_what_makes_no_sense_is_refused_beside_the_field(client, benchmark, fields, words):
    answer = post(client, benchmark, **fields)
    assert answer.status_code == 422
    assert words in answer.text
    assert not Job.objects.exists()


def test_the_jobs_page_says_what_was_scored(client, benchmark):
    post(client, benchmark)
    report = {"run": 1, "benchmark": benchmark.pk, "items": 12, "model": "ViT-B-32 · openai", "precision": "float32"}
    report |= {"device": "cpu", "encoded": {"images": 24, "captions": 23}, "seconds": 3.5, "scores": 46}
    report |= {"lacking": {"negative image": {"count": 1, "keys": ["bivlc-7"]}}}
    Job.objects.update(state="done", report=report, finished_at="2026-11-21T12:00Z")
    page = client.get(reverse("job-detail", args=[Job.objects.get().pk])).text
    assert "Stored 46 scores" in page
    assert "1 item lacks a negative image" in page
    assert "bivlc-7" in page
    assert not ScoringModel.objects.exists()
