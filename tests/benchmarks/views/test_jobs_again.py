"""A job that ended early leads to its form, with what it was asked for: stored work is found by equal settings."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.jobs.kinds import KINDS
from benchmarks.models import Job
from tests.builders import studies

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/v1"
ASKED = {
    "score-new": {"model": "ViT-B-32", "pretrained": "mine.pt", "device": "cpu", "measure": "retrieval", "seeds": "2"},
    "ask-new": {"address": ADDRESS, "model": "tiny-4", "input_price": "2.5", "output_price": "10.0",
                "max_tokens": "99"},
    "captions-new": {"name": "Negatives", "kinds": "swap-obj", "address": ADDRESS, "model": "tiny-4", "seed": "5",
                     "max_tokens": "99", "percent": "40.0", "device": "cpu"},
    "images-new": {"model": "painter", "count": "3", "steps": "20", "guidance": "2.5", "seed": "5", "device": "cpu"},
    "train-new": {"preset": "clip_coco", "model": "ViT-B-32", "pretrained": "mine.pt", "name": "mine", "epochs": "3",
                  "batch": "50", "rate": "0.001", "seed": "5", "device": "cpu"},
}  # fmt: skip


@pytest.mark.parametrize("form", ASKED)
@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_job_that_ended_early_leads_to_its_form_as_it_was(client, settings, form, state):
    settings.LLM_ENDPOINTS = [ADDRESS]
    client.force_login(User.objects.create_superuser("ana"))
    url = client.post(reverse(form, args=[studies.benchmark().pk]), ASKED[form]).url
    problem = {"code": "OUT_OF_MEMORY", "file": "", "row": None, "column": "", "advice": "Try again."}
    report = {"kinds": [{"code": "OUT_OF_MEMORY", "count": 1, "columns": [], "examples": [problem]}]}
    Job.objects.update(state=state, problems=[problem], problem_count=1, report=report, finished_at="2026-11-21T12:00Z")
    page, kind = client.get(url).text, KINDS[Job.objects.get().kind]
    assert kind.nothing in page and kind.kept in page and kind.again in page
    again = next(part for part in page.split('"') if "?again=" in part)
    shown = client.get(again)
    found = {field.name: field.value() for field in shown.context["form"]}
    for name, value in ASKED[form].items():
        assert str(found[name]) in (value, "True", f"['{value}']"), name


def test_another_kind_of_job_fills_no_form(client):
    client.force_login(User.objects.create_superuser("ana"))
    benchmark = studies.benchmark()
    client.post(reverse("images-new", args=[benchmark.pk]), ASKED["images-new"])
    form = client.get(reverse("train-new", args=[benchmark.pk]), {"again": Job.objects.get().pk}).context["form"]
    assert form["model"].value() == "ViT-B-32-quickgelu"


@pytest.mark.parametrize("kind", KINDS)
def test_the_codes_of_each_kind_are_explained_where_its_page_links_to(client, kind):
    client.force_login(User.objects.create_superuser("ana"))
    assert f'id="{KINDS[kind].codes}"' in client.get(reverse("help-page", args=[KINDS[kind].page])).text
