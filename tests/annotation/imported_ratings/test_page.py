"""Ratings come in by the page of a benchmark and by the API."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Study
from annotation.protocols import library
from benchmarks.models import Caption, Job
from tests.annotation.imported_ratings.test_study import FOIL, MAPPING, VOTES
from tests.builders import declared
from tests.builders.columns import sent_by

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
    address = reverse("ratings-new", args=[benchmark.pk])
    assert address in client.get(reverse("benchmark-detail", args=[benchmark.pk])).text
    with at_once():
        client.post(address, {**ASKED, "mapping": json.dumps(MAPPING), "files": sent(), "repeated": "refuse"})
    job, study = Job.objects.get(), Study.objects.get()
    assert (job.state, job.report["study"], job.report["judgments"]) == ("done", study.pk, 9)
    assert study.members.get().user == manager
    page = client.get(reverse("job-detail", args=[job.pk])).content.decode()
    assert reverse("study-detail", args=[study.pk]) in page
    page = client.get(reverse("study-stage", args=[study.pk, 1])).content.decode()
    assert "9 judgments were made elsewhere" in page and "A paper" in page


def test_what_nobody_rated_waits_for_nobody_until_the_study_is_opened(client, manager, benchmark, at_once):
    asked = ASKED | {"files": sent(), "mapping": json.dumps(MAPPING)}
    with at_once():
        client.post(reverse("ratings-new", args=[benchmark.pk]), asked)
    study = Study.objects.get()
    overview, items = reverse("study-detail", args=[study.pk]), reverse("study-items", args=[study.pk])
    assert "Not rated" in client.get(items).text
    page = client.get(overview).text
    assert "Not rated" in page and "blocked" not in page
    assert "Freeze the result in a release" in page and "2 items not rated." in page
    blocked, releases = reverse("study-blocked", args=[study.pk]), reverse("release-list", args=[study.pk])
    assert "nobody judges here." in client.get(blocked).text and ">Blocked<" not in client.get(items).text
    assert "2 items are still open.</b>" in client.get(releases).text
    Study.objects.update(state="open")
    assert "Not rated" not in client.get(items).text and "Still to be judged" in client.get(overview).text


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [("mapping", "{", "Correct the JSON"), ("protocol", "no-such", "does not exist"), ("name", "", "required")],
)
def test_a_wrong_form_is_shown_again(client, manager, benchmark, field, given, words):
    found = client.post(reverse("ratings-new", args=[benchmark.pk]), {**ASKED, "files": sent(), field: given})
    assert found.status_code == 422 and words in str(found.context["form"].errors[field])
    assert not Job.objects.exists()


def test_a_file_with_problems_stores_nothing_and_lists_them(client, manager, benchmark, at_once):
    asked = {**ASKED, "files": sent("item,annotator,fit\n1,a,both\n")}
    with at_once():
        client.post(reverse("ratings-new", args=[benchmark.pk]), asked)
    job = Job.objects.get()
    assert (job.state, [one["code"] for one in job.problems]) == ("failed", ["UNKNOWN_ID"])
    assert not Study.objects.exists()
    assert "votes.csv" in client.get(reverse("job-detail", args=[job.pk])).content.decode()


OWN = "number,kind,worker,verdict\n" + "".join(
    f"{n},item,{who},{said}\n" for n in range(3) for who, said in (("ana", "TRUE"), ("ben", "positive"), ("cy", "no"))
)


@pytest.fixture
def looked(client, manager, benchmark, at_once):
    """The job that has looked at a file of other names, and its page."""
    with at_once():
        client.post(reverse("ratings-new", args=[benchmark.pk]), {**ASKED, "files": sent(OWN)})
    job = Job.objects.get()
    return job, client.get(reverse("job-detail", args=[job.pk])).text


def test_columns_are_guessed_by_the_benchmarks_ids_and_corrected_by_choices(client, benchmark, looked, at_once):
    job, page = looked
    assert job.report["mapping"] == {"winnow": "ratings/1", "item": "{kind}-{number}", "annotator": "worker"}
    assert not Study.objects.exists() and "Name at least one answer" in page and ">ana<" in page
    chosen = sent_by(page, verdict="answers.fit")
    shown = client.post(reverse("import-preview", args=[job.pk]), chosen).text
    assert "There is no answer “TRUE”" in shown and "There is no answer “no”" in shown and "no such item" not in shown
    values = {"value_of": ["answers.fit"] * 2, "value": ["TRUE", "no"], "meant": ["positive", "negative"]}
    shown = client.post(reverse("import-preview", args=[job.pk]), chosen | values).text
    assert "There is no answer" not in shown and shown.count("item-0") == 3 and "<option selected>positive" in shown
    with at_once():
        answer = client.post(reverse("ratings-new", args=[benchmark.pk]), chosen | values)
    assert answer.status_code == 302, answer.context["form"].errors
    job = Job.objects.first()
    assert (job.state, job.report["judgments"]) == ("done", 9), job.problems
    assert job.report["mapping"]["answers"] == {
        "fit": {"from": "verdict", "values": {"TRUE": "positive", "no": "negative"}}
    }


def test_ids_that_the_benchmark_lacks_are_seen_before_the_import(client, looked):
    job, page = looked
    address = reverse("import-preview", args=[job.pk])
    changed = sent_by(page, verdict="answers.fit", number="item", **{"{kind}-{number}": ""})
    assert "no such item in the benchmark" in client.post(address, changed).text
    two = sent_by(page, number="item")
    assert "Two columns are the item" in client.post(address, two).text


def test_roles_of_the_protocol_are_those_of_the_benchmark(client, manager, at_once):
    """By the command's option, and by the choices of the page."""
    benchmark = declared.benchmark(library.shipped(FOIL), 2)
    Caption.objects.filter(role="negative").update(role="wrong")
    votes = "item,annotator,fit\n" + "".join(f"item-{n},{who},wrong\n" for n in range(2) for who in "abc")
    with at_once():
        client.post(reverse("ratings-new", args=[benchmark.pk]), {**ASKED, "files": sent(votes)})
    page = client.get(reverse("job-detail", args=[Job.objects.get().pk])).text
    chosen = sent_by(page)
    assert chosen["role_captions.negative"] == ["wrong"]
    with at_once():
        client.post(reverse("ratings-new", args=[benchmark.pk]), chosen)
    assert Job.objects.first().state == "done", Job.objects.first().problems
    assert Study.objects.get().stages.get().protocol.endswith(":captions.negative=wrong")


def test_the_api_takes_the_file_and_a_mapping(client, manager, benchmark, at_once):
    with at_once():
        found = client.post(
            reverse("api-ratings-new", args=[benchmark.pk]),
            {**ASKED, "mapping": json.dumps(MAPPING), "files": sent()},
            headers={"Idempotency-Key": "one"},
        )
    assert found.status_code == 202, found.content
    assert Job.objects.get().report["study"] == Study.objects.get().pk
