"""The API of a large study: what the worker computed last, or that there is nothing yet."""

import pytest
from django.urls import reverse

from annotation.tasks import compute_figures
from benchmarks.models import Job
from tests.annotation.api.reading import rows, told
from tests.builders import crowds


@pytest.mark.django_db(transaction=True)
def test_a_large_study_is_told_as_the_worker_counted_it(client, manager, monkeypatch):
    study = crowds.stage(items=6, people=4, overlap=2).study
    monkeypatch.setattr("annotation.figures.cache.SMALL", 0)
    waits = client.get(reverse("api-study-figures", args=[study.pk]))
    assert (waits.status_code, waits["Retry-After"]) == (503, "60")
    found = told(client, "api-study-agreement", study.pk)
    assert (found["measures"], found["current"]) == (None, False) and found["job"]
    assert told(client, "api-study-detail", study.pk)["funnel"] is None
    assert rows(client, "api-annotator-list", study.pk)[0]["counted"] is None
    for job in Job.objects.filter(state="queued"):
        compute_figures(job.pk)
    found = told(client, "api-study-figures", study.pk)
    assert found["progress"]["judgments_counted"] > 0 and "kappa_pairs" not in found["agreement"][0]
    every_pair = {"path": reverse("api-study-figures", args=[study.pk]), "data": {"pairs": "true"}}
    assert client.get(**every_pair).status_code == 503  # computed once somebody has asked
    compute_figures(Job.objects.get(state="queued").pk)
    assert len(client.get(**every_pair).json()["agreement"][0]["kappa_pairs"]) == 3
    assert told(client, "api-study-agreement", study.pk)["measures"]["whole"]["n_items"] == 6
    assert told(client, "api-study-detail", study.pk)["funnel"]["imported"] == 6
    assert rows(client, "api-annotator-list", study.pk)[0]["counted"] > 0
