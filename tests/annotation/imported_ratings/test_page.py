"""Ratings come in by the page of a benchmark and by the API."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Study
from annotation.protocols import library
from benchmarks.models import Job
from tests.annotation.imported_ratings.test_study import FOIL, MAPPING, VOTES
from tests.builders import declared

pytestmark = pytest.mark.django_db
ASKED = {"name": "Given elsewhere", "protocol": FOIL, "source": "A paper"}


@pytest.fixture
def at_once(eager_tasks, django_capture_on_commit_callbacks):
    """Run what is queued inside of it."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def benchmark():
    return declared.benchmark(library.shipped(FOIL), 4)


def sent(text: str = VOTES) -> SimpleUploadedFile:
    return SimpleUploadedFile("votes.csv", text.encode())


def test_a_manager_imports_ratings_on_the_page(client, manager, benchmark, at_once):
    assert (
        reverse("ratings-new", args=[benchmark.pk])
        in client.get(reverse("benchmark-detail", args=[benchmark.pk])).content.decode()
    )
    with at_once():
        client.post(
            reverse("ratings-new", args=[benchmark.pk]),
            {**ASKED, "mapping": json.dumps(MAPPING), "files": sent(), "repeated": "refuse"},
        )
    job, study = Job.objects.get(), Study.objects.get()
    assert (job.state, job.report["study"], job.report["judgments"]) == ("done", study.pk, 9)
    assert study.members.get().user == manager
    page = client.get(reverse("job-detail", args=[job.pk])).content.decode()
    assert reverse("study-detail", args=[study.pk]) in page
    page = client.get(reverse("study-detail", args=[study.pk])).content.decode()
    assert "9 judgments were made elsewhere" in page and "A paper" in page


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"mapping": "{"}, "mapping", "Correct the JSON"),
        ({"protocol": "no-such"}, "protocol", "no such protocol file"),
        ({"name": ""}, "name", "required"),
    ],
)
def test_a_wrong_form_is_shown_again(client, manager, benchmark, change, field, words):
    found = client.post(reverse("ratings-new", args=[benchmark.pk]), {**ASKED, "files": sent(), **change})
    assert found.status_code == 422 and words in str(found.context["form"].errors[field])
    assert not Job.objects.exists()


def test_a_file_with_problems_stores_nothing_and_lists_them(client, manager, benchmark, at_once):
    with at_once():
        client.post(
            reverse("ratings-new", args=[benchmark.pk]), {**ASKED, "files": sent("item,annotator,fit\n1,a,both\n")}
        )
    job = Job.objects.get()
    assert (job.state, [one["code"] for one in job.problems]) == ("failed", ["UNKNOWN_ID"])
    assert not Study.objects.exists()
    assert "votes.csv" in client.get(reverse("job-detail", args=[job.pk])).content.decode()


def test_the_api_takes_the_file_and_a_mapping(client, manager, benchmark, at_once):
    with at_once():
        found = client.post(
            reverse("api-ratings-new", args=[benchmark.pk]),
            {**ASKED, "mapping": json.dumps(MAPPING), "files": sent()},
            headers={"Idempotency-Key": "one"},
        )
    assert found.status_code == 202, found.content
    assert Job.objects.get().report["study"] == Study.objects.get().pk
