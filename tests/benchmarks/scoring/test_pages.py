"""What the page of a scoring job shows; the page that orders one: jobs/test_order_pages.py."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.models import Job, ScoringModel
from tests.builders import studies

pytestmark = pytest.mark.django_db


def test_the_jobs_page_says_what_was_scored(client):
    client.force_login(User.objects.create_superuser("ana"))
    benchmark = studies.benchmark()
    client.post(reverse("score-new", args=[benchmark.pk]), {"model": "m", "pretrained": "openai", "device": "auto"})
    report = {"run": 1, "benchmark": benchmark.pk, "items": 12, "model": "ViT-B-32 · openai", "precision": "float32"}
    report |= {"device": "cpu", "encoded": {"images": 24, "captions": 23}, "seconds": 3.5, "scores": 46}
    report |= {"lacking": {"negative image": {"count": 1, "keys": ["bivlc-7"]}}}
    Job.objects.update(state="done", report=report, finished_at="2026-11-21T12:00Z")
    page = client.get(reverse("job-detail", args=[Job.objects.get().pk])).text
    assert "Stored 46 scores" in page
    assert "1 item lacks a negative image" in page
    assert "bivlc-7" in page
    assert not ScoringModel.objects.exists()


@pytest.mark.parametrize(
    ("chosen", "model", "pretrained"),
    [
        ({"kind": "open_clip", "model": "ViT-B-32", "pretrained": "openai"}, "ViT-B-32", "openai"),
        ({"kind": "vqa", "model": "org/m", "pretrained": "openai", "prompt": "Look: "}, "vqa:org/m", ""),
        ({"kind": "vqa", "model": "vqa:org/m"}, "vqa:org/m", ""),
        ({"model": "itm:org/m"}, "itm:org/m", ""),
    ],
)
def test_a_model_is_named_by_its_kind_or_in_full(client, chosen, model, pretrained):
    client.force_login(User.objects.create_superuser("ana"))
    address = reverse("score-new", args=[studies.benchmark().pk])
    assert client.post(address, {"device": "auto"} | chosen).status_code == 302
    job = Job.objects.get()
    assert (job.params["model"], job.params["pretrained"], job.params["prompt"]) == (model, pretrained, "")
    form = client.get(address, {"again": job.pk}).context["form"]
    kind, _, name = model.rpartition(":")
    assert (form["kind"].value(), form["model"].value()) == (kind or "open_clip", name)
