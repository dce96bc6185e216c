"""Jobs of models and their runs through the API: the same orders and figures as on the pages."""

import pytest
from django.urls import reverse

from annotation.models import CachedFigures
from benchmarks.models import Event, Job, Run
from tests.annotation.api.reading import refused, told
from tests.annotation.api.writing import made, post
from tests.annotation.comparison.test_people_and_models import asked, foils, judge, scored
from tests.builders import declared, predictions, studies

pytestmark = pytest.mark.django_db
ENDPOINT = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def endpoint(settings) -> None:
    settings.LLM_ENDPOINTS = [ENDPOINT]


ORDERS = {
    "api-score-new": ({"model": "ViT-B-32", "pretrained": "openai"}, "score", {"device": "auto", "prompt": ""}),
    "api-ask-new": ({"model": "m", "address": ENDPOINT}, "ask", {"order.max_tokens": 16}),
    "api-train-new": ({"preset": "negclip", "name": "mine", "model": "ViT-B-32"}, "train", {"settings.epochs": 5}),
    "api-captions-new": (
        {"name": "New", "kinds": ["swap-obj"], "model": "m", "address": ENDPOINT, "share": 0.5},
        "generate",
        {"order.share": 0.5, "order.kinds": ["swap-obj"], "order.format_captions": True, "order.seed": 0},
    ),
    "api-images-new": ({"keys": ["item-0"], "count": 2}, "images", {"keys": ["item-0"], "count": 2}),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_model_s_job_is_started_and_followed(client, manager, name):
    body, kind, expected = ORDERS[name]
    benchmark = studies.benchmark(items=1)
    answer = post(client, name, benchmark.pk, expects=202, **body)
    followed, job = client.get(answer["Location"]).json(), Job.objects.get(pk=answer.json()["id"])
    assert (followed["state"], job.kind, job.created_by) == ("queued", kind, manager)
    found = {}
    for path in expected:
        value = job.params
        for part in path.split("."):
            value = value[part]
        found[path] = value
    assert found == expected
    assert [one["id"] for one in client.get(reverse("api-job-list"), {"kind": kind}).json()["results"]] == [job.pk]


def test_what_asking_would_cost_is_told_before(client, manager):
    benchmark, body = studies.benchmark(items=1), ORDERS["api-ask-new"][0] | {"input_price": 2}
    found = made(client, "api-ask-estimate", benchmark.pk, expects=200, **body)
    assert found["questions"] > 0 and found["cost"] == pytest.approx(found["prompt_tokens"] * 2 / 1e6)
    body = ORDERS["api-captions-new"][0]
    assert made(client, "api-captions-estimate", benchmark.pk, expects=200, **body)["questions"] == 1
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("api-score-new", {"model": "ViT-B-32", "seeds": 11}, "seeds"),
        ("api-ask-new", {"model": "m", "address": "https://elsewhere.example/v1"}, "address"),
        ("api-train-new", {"preset": "negclip", "name": "mine", "model": "m", "release": "none 1.0"}, "release"),
        ("api-images-new", {"keys": ["none"]}, ""),
    ],
)
def test_what_the_page_refuses_is_refused(client, manager, name, body, field):
    refusal = post(client, name, studies.benchmark(items=1).pk, expects=400, **body).json()
    assert refusal["errors"][0]["field"] == field or not field
    assert not Job.objects.exists()


def test_runs_have_their_figures(client, manager):
    benchmark = studies.benchmark(items=2)
    run = predictions.model(benchmark, {item: predictions.bivlc() for item in benchmark.items.all()}, title="Right")
    made(client, "api-reported-new", benchmark.pk, kind="bivlc", figures=[
        {"model": "Paper", "measure": "group", "value": 50.5, "source": "Table 1"}
    ])  # fmt: skip
    found = client.get(reverse("api-run-list", args=[benchmark.pk]), {"ordering": "title"}).json()["results"]
    shares = {row["title"]: row["figures"]["measures"]["group"]["share"] for row in found}
    assert shares == {"Paper": 0.505, "Right": 1.0} and [row["origin"] for row in found] == ["reported", "imported"]
    assert client.get(reverse("api-run-detail", args=[benchmark.pk, run.pk])).json() == found[1]
    assert made(client, "api-run-delete", benchmark.pk, run.pk, expects=200) == {"deleted": "Right"}
    assert Run.objects.get().title == "Paper" and Event.objects.filter(verb="deleted a run").exists()
    both = {"kind": "bivlc", "tables": ["none"]}
    assert post(client, "api-reported-new", benchmark.pk, **both).json()["errors"][0]["code"] == "UNKNOWN"


def test_a_benchmark_is_renamed_archived_and_deleted_by_its_name(client, manager):
    benchmark, other = studies.benchmark(items=1), studies.benchmark(items=1)
    done = made(client, "api-benchmark-rename", benchmark.pk, name=" Cups ", expects=200)
    assert done == {"id": benchmark.pk, "name": "Cups"}
    assert post(client, "api-benchmark-rename", other.pk, name="Cups").json()["errors"][0]["field"] == "name"
    benchmark.refresh_from_db()
    assert made(client, "api-benchmark-archive", benchmark.pk, archived=True, expects=200)["archived"] is True
    post(client, "api-benchmark-delete", benchmark.pk, name="Another", expects=409)
    assert made(client, "api-benchmark-delete", benchmark.pk, name=benchmark.name, expects=200)
    assert client.get(reverse("api-benchmark-detail", args=[benchmark.pk])).status_code == 404
    used = studies.study().benchmark
    assert post(client, "api-benchmark-delete", used.pk, name=used.name).json()["code"] == "CANNOT_DELETE"


def test_people_and_models_are_compared_as_on_the_pages(client, manager, tmp_path, monkeypatch):
    """With differences of people and each model, and of two models; a large study's, once the worker has counted."""
    study = asked(foils(), declared.published("image-caption-foil"))
    judge(study.stages.get())
    for right in (9, 6):
        scored(study.benchmark, tmp_path, right, f"right on {right}")
    found = told(client, "api-study-results", study.pk)
    people, *models = found["rows"]
    assert (found["items"], people["all"]["n"], [row["title"] for row in models]) == (
        12,
        12,
        ["right on 9", "right on 6"],
    )
    assert models[0]["gap"]["value"] == pytest.approx(people["all"]["share"] - 9 / 12) and models[0]["gap"]["low"] < 0
    first, second = (row["run"] for row in models)
    found = told(client, "api-paired-runs", study.benchmark_id, first=first, second=second)
    whole, *parts = found["rows"]
    assert found["asked_alike"]
    assert not any("found" in row for row in (whole, *parts))
    assert (whole["n"], whole["difference"], whole["only_first"]) == (12, pytest.approx(3 / 12), 3)
    assert {row["type"] for row in parts} > {"replace"}
    for wrong, field in (({"first": 10**30, "second": second}, "first"), ({"first": first, "second": first}, "second")):
        assert refused(client, "api-paired-runs", study.benchmark_id, field, **wrong)
    CachedFigures.objects.all().delete()
    monkeypatch.setattr("annotation.figures.cache.SMALL", 0)
    assert client.get(reverse("api-study-results", args=[study.pk])).status_code == 503
