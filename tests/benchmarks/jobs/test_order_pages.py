"""Each page that orders work of models leads from a benchmark to a job, and refuses what makes no sense."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from benchmarks.jobs import model_workers
from benchmarks.models import Benchmark, Job
from tests.builders import studies

pytestmark = pytest.mark.django_db
ENDPOINT = "https://models.example/v1"
MODEL = {"model": "ViT-B-32-quickgelu", "pretrained": "openai", "device": "auto"}
FIELDS = {  # by the page's name; the kind of its job is the name's first part, if it is not in KINDS
    "score-new": MODEL,
    "train-new": MODEL | {"preset": "negclip", "name": "mine"},
    "images-new": {"model": "sdxl-dpo", "count": 4, "steps": 50, "guidance": 5.0, "seed": 0, "device": "auto"},
    "captions-new": {
        "name": "New", "kinds": ["swap-obj"], "address": "", "model": "some/model", "max_tokens": 100, "seed": 3,
        "percent": 35, "device": "auto", "input_price": "2", "output_price": "8",
    },
    "ask-new": {"address": ENDPOINT, "model": "m", "max_tokens": 16, "input_price": "1000", "output_price": "0"},
}  # fmt: skip
KINDS = {"captions-new": "generate"}
MATERIAL = ("captions-new", "images-new")


@pytest.fixture
def benchmark(client, settings) -> Benchmark:
    settings.LLM_ENDPOINTS = [ENDPOINT]
    client.force_login(User.objects.create_superuser("ana"))
    return studies.benchmark()


@pytest.mark.parametrize("page", FIELDS)
def test_the_benchmarks_page_leads_to_the_form_which_queues_a_job(client, benchmark, page):
    url = reverse(page, args=[benchmark.pk])
    place = reverse("captions-new" if page in MATERIAL else "benchmark-models", args=[benchmark.pk])
    assert f'href="{place}"' in client.get(reverse("benchmark-detail", args=[benchmark.pk])).text
    assert f'href="{url}"' in client.get(place).text
    answer = client.post(url, FIELDS[page])
    job = Job.objects.get(kind=KINDS.get(page, page.partition("-")[0]))
    assert (answer.url, job.created_by.username) == (reverse("job-detail", args=[job.pk]), "ana")
    assert "Waiting for a worker with models" in client.get(answer.url).text
    assert f'value="{FIELDS[page]["model"]}"' in client.get(f"{url}?again={job.pk}").text


@pytest.mark.parametrize("page", FIELDS)
def test_the_form_says_whether_a_worker_for_models_is_running(client, benchmark, page):
    url = reverse(page, args=[benchmark.pk])
    cache.clear()
    assert "No worker for models is running" in client.get(url).text
    model_workers.report_in()
    assert "A worker for models is running" in client.get(url).text


def test_scoring_needs_only_the_button(client, benchmark):
    url = reverse("score-new", args=[benchmark.pk])
    shown = {field.name: field.value() or "" for field in client.get(url).context["form"]}
    client.post(url, shown)
    assert Job.objects.get().params["model"] == MODEL["model"]


def test_the_share_of_captions_is_asked_in_percent(client, benchmark):
    url = reverse("captions-new", args=[benchmark.pk])
    client.post(url, FIELDS["captions-new"])
    job = Job.objects.get()
    assert (job.params["order"]["share"], job.params["order"]["kinds"]) == (0.35, ["swap-obj"])
    assert 'value="35.0"' in client.get(f"{url}?again={job.pk}").text


@pytest.mark.parametrize(
    ("page", "fields", "words"),
    [
        ("score-new", {"pretrained": "/etc/passwd"}, "not a path"),
        ("score-new", {"model": "local-dir:../secret", "pretrained": ""}, "not a path"),
        ("score-new", {"pretrained": ""}, "Choose weights"),
        ("score-new", {"device": "toaster"}, "There is no device"),
        ("score-new", {"model": ""}, "required"),
        ("train-new", {"pretrained": "/etc/passwd"}, "not a path"),
        ("train-new", {"name": "a b"}, "Name the model"),
        ("train-new", {"epochs": 0}, "greater than or equal to 1"),
        ("train-new", {"release": "Cups 1.0"}, "not one of the available choices"),
        ("train-new", {"model": "language-model:gpt2", "pretrained": ""}, "Only models of open_clip"),
        ("images-new", {"model": "/srv/model"}, "not a path"),
        ("images-new", {"unet": "../secret"}, "not a path"),
        ("images-new", {"count": 17}, "less than or equal to 16"),
        ("images-new", {"keys": "nobody"}, "has no item “nobody”"),
        ("captions-new", {"model": "/etc/passwd"}, "not a path"),
        ("captions-new", {"grammar": "../secret"}, "not a path"),
        ("captions-new", {"address": "http://169.254.169.254/v1"}, "Select a valid choice"),
        ("captions-new", {"kinds": []}, "required"),
        ("captions-new", {"prompt": "Change it."}, "does not contain {caption}"),
        ("captions-new", {"prompt": "Change it.", "estimate": "1"}, "does not contain {caption}"),
        ("captions-new", {"refine": "on"}, "needs both classifiers"),
        ("captions-new", {"percent": "0"}, "greater than or equal to 0.01"),
        ("ask-new", {"address": "http://evil.example/v1"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_refused_beside_the_field(client, benchmark, page, fields, words):
    answer = client.post(reverse(page, args=[benchmark.pk]), FIELDS[page] | fields)
    assert (answer.status_code, words in answer.text, Job.objects.exists()) == (422, True, False)
