"""Asking for a training in the browser's way, and what its pages show."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.models import Benchmark, Job, TrainedModel
from tests.builders import studies

pytestmark = pytest.mark.django_db
CURVE = {"steps": 4, "losses": [[1, 2.5], [2, 1.5]], "accuracies": [[2, 0.75]]}
REPORT = {
    "trained": 1, "name": "mine", "model": "local-dir:trained/mine-ab",
    "preset": "negclip", "accuracy": 0.875, "epoch": 2, "curve": CURVE, "device": "cpu", "precision": "float32",
    "weights": "ab" * 32,
    "notes": ["Memory ran out."], "accuracies": {}, "seconds": 3.5, "train": 12, "validation": 3,
    "lacking": {"negative caption": 2},
}  # fmt: skip


@pytest.fixture
def benchmark(client) -> Benchmark:
    client.force_login(User.objects.create_superuser("ana"))
    return studies.benchmark()


def post(client, benchmark: Benchmark, **fields):
    asked = {"preset": "negclip", "model": "ViT-B-32-quickgelu", "pretrained": "openai", "name": "mine"}
    return client.post(reverse("train-new", args=[benchmark.pk]), asked | {"device": "auto"} | fields)


def test_a_request_queues_a_job_whose_page_plots_the_curve(client, benchmark):
    page = client.get(reverse("train-new", args=[benchmark.pk])).text
    assert "InfoNCE over positive and negative pairs" in page
    answer = post(client, benchmark, epochs=3)
    job = Job.objects.get(kind="train")
    assert (job.params["settings"]["epochs"], job.params["settings"]["batch"]) == (3, 1024)
    Job.objects.update(state="running", phase="training", report={"curve": CURVE, "train": 12, "validation": 3})
    page = client.get(answer.url, headers={"HX-Request": "true"}).text
    assert '<polyline points="160.0,0.0 320.0,48.0">' in page
    assert "12 items to train on, 3 to validate on" in " ".join(page.split())


def test_a_trained_model_is_offered_for_scoring(client, benchmark, settings, tmp_path):
    settings.MODELS = tmp_path
    (tmp_path / "trained" / "mine-ab").mkdir(parents=True)
    facts = {"hyperparameters": {"epochs": 1, "image_epochs": 0}, "counts": {"train": 12}, "seconds": 6.0}
    TrainedModel.objects.create(name="mine", preset="negclip", accuracy=0.9, epoch=1, path="trained/mine-ab", **facts)
    score = reverse("score-new", args=[benchmark.pk])
    assert f"{score}?model=local-dir%3Atrained/mine-ab" in client.get(reverse("train-new", args=[benchmark.pk])).text
    page = client.get(f"{score}?model=local-dir:trained/mine-ab").text
    assert '<option value="local-dir:trained/mine-ab" selected>mine</option>' in page
    client.post(score, {"kind": "trained", "model": "", "trained": "local-dir:trained/mine-ab", "device": "auto"})
    assert Job.objects.get().params["model"] == "local-dir:trained/mine-ab"


def test_the_jobs_page_says_what_was_trained(client, benchmark):
    post(client, benchmark)
    Job.objects.update(state="done", report=REPORT | {"benchmark": benchmark.pk}, finished_at="2026-11-21T12:00Z")
    page = client.get(reverse("job-detail", args=[Job.objects.get().pk])).text
    for words in ("Trained", "0.875", "Memory ran out.", "2 items lack a negative caption", "Score with this model"):
        assert words in page
