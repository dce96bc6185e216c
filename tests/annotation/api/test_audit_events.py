"""What the API writes is in the audit trail just as what the pages write is."""

import ipaddress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.urls import reverse

from benchmarks.models import Event
from tests.annotation.api.writing import post
from tests.builders import compared_models, releases, studies, webhooks

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/hook"
PLAN = {"name": "cups", "version": "1.0", "seed": 7, "shard_mb": 500, "forms": ["csv"], "stages": [1]}
ON_PAGE = PLAN | {"splits": "one", "word-licence": "MIT"}
PREDICTIONS = {"model": "CLIP", "source": "a repository", "kind": "bivlc"}
CHANGED = {"url": f"{URL}2", "types": ["study.closed"]}
# (page, what its form sends, route of the API, body): both of the thing whose name begins the test's id.
WRITES = {
    "study: export": ("study-export", {}, "api-export-list", {}),
    "study: release": ("release-new", ON_PAGE, "api-release-list", PLAN | {"words": {"licence": "MIT"}}),
    "release: again": ("release-again", {}, "api-release-again", {}),
    "release: discard": ("release-discard", {}, "api-release-discard", {}),
    "benchmark: predictions": ("predictions-new", PREDICTIONS, "api-predictions-new", PREDICTIONS),
    "benchmark: webhook": ("benchmark-webhooks", {"url": URL}, "api-benchmark-webhooks", {"url": URL}),
    "study: webhook": ("study-webhooks", CHANGED, "api-study-webhooks", CHANGED),
} | {
    f"webhook: {do}": ("webhook-detail", {"do": do, **form}, f"api-webhook-{act}", body)
    for do, form, act, body in (
        ("change", CHANGED, "change", CHANGED),
        ("secret", {}, "secret", {}),
        ("pause", {}, "pause", {"paused": True}),
        ("resume", {}, "pause", {"paused": False}),
        ("skip", {}, "pause", {"paused": False, "skip": True}),
        ("test", {}, "test", {}),
        ("since", {"since": "2020-01-01T00:00"}, "again", {"since": "2020-01-01T00:00:00Z"}),
        ("delete", {}, "delete", {}),
    )
}
NEW = {"job", "run"}  # numbers in events' data that differ each time


def thing(name: str):
    match name:
        case "study":
            return studies.study(items=2)
        case "benchmark":
            return compared_models.pairs(2)
        case "release":
            return releases.failed(studies.study(items=2))
    webhook = webhooks.webhook(studies.study(items=2), URL)
    webhooks.waiting(webhook, 2)
    webhook.deliveries.update(state="delivered")
    return webhook


@pytest.fixture
def written(settings, eager_tasks, django_capture_on_commit_callbacks):
    """`written(act, at_once)`: the audit events of an act, which is undone; `at_once`: with its job's, run at once."""
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]

    def events(act, at_once: bool) -> list:
        before = set(Event.objects.values_list("pk", flat=True))
        with transaction.atomic():
            with django_capture_on_commit_callbacks(execute=at_once):
                assert act().status_code < 400
            found = Event.objects.exclude(pk__in=before).order_by("pk")
            told = [
                (one.by, one.verb, one.subject.partition(":")[0], {k: v for k, v in one.data.items() if k not in NEW})
                for one in found
            ]
            transaction.set_rollback(True)
        return told

    return events


@pytest.mark.parametrize("write", WRITES)
def test_a_write_through_the_api_leaves_the_events_of_the_page(client, manager, written, write):
    subject = thing(write.partition(":")[0])
    page, form, route, body = WRITES[write]
    answers = compared_models.lines(subject, 1).encode() if body is PREDICTIONS else b""

    def files() -> dict:
        return {"files": [SimpleUploadedFile("clip.jsonl", answers)]} if answers else {}

    on_page = written(lambda: client.post(reverse(page, args=[subject.pk]), form | files()), bool(answers))
    by_api = written(lambda: post(client, route, subject.pk, parts=files(), **body), bool(answers))
    assert by_api == on_page and f"user:{manager.pk}" in {by for by, *_ in on_page}
