"""Asking for candidate images, in the browser's way."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.models import Benchmark, Job
from tests.builders import studies

pytestmark = pytest.mark.django_db
ASKED = {"model": "sdxl-dpo", "count": 4, "steps": 50, "guidance": 5.0, "seed": 0, "device": "auto"}


@pytest.fixture
def benchmark(client) -> Benchmark:
    client.force_login(User.objects.create_superuser("ana"))
    return studies.benchmark()


def test_a_request_queues_a_job(client, benchmark):
    url, key = reverse("images-new", args=[benchmark.pk]), benchmark.items.first().key
    assert url in client.get(reverse("benchmark-detail", args=[benchmark.pk])).text
    answer = client.post(url, ASKED | {"keys": f" {key}\n\n"})
    job = Job.objects.get(kind="images")
    assert answer.url == reverse("job-detail", args=[job.pk])
    assert (job.params["keys"], job.params["count"], job.created_by.username) == ([key], 4, "ana")
    assert "Waiting for a worker with models" in client.get(answer.url).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "/srv/model"}, "not a path"),
        ({"unet": "../secret"}, "not a path"),
        ({"count": 17}, "less than or equal to 16"),
        ({"keys": "nobody"}, "has no item “nobody”"),
        ({"device": "toaster"}, "There is no device"),
    ],
)
def test_what_makes_no_sense_is_refused_on_the_page(client, benchmark, fields, words):
    answer = client.post(reverse("images-new", args=[benchmark.pk]), ASKED | fields)
    assert answer.status_code == 422
    assert words in answer.text
    assert not Job.objects.exists()
