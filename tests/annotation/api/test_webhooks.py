"""Webhooks through the API: the same verbs as on the pages."""

import ipaddress

import pytest
from django.urls import reverse

from annotation.models import Webhook
from annotation.webhooks import signing
from tests.annotation.api.writing import made, post
from tests.builders import studies
from tests.builders.webhooks import waiting, webhook

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/hook"


@pytest.fixture(autouse=True)
def loopback_allowed(settings):
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.mark.parametrize("of", ["study", "benchmark"])
def test_one_is_added_once_and_its_secret_shown_once(client, manager, of):
    study = studies.study()
    owner, route = (study if of == "study" else study.benchmark), f"api-{of}-webhooks"
    answer = post(client, route, owner.pk, key="a", url=URL, expects=201)
    one = Webhook.objects.get()
    assert answer.json()["secret"] == signing.secret_of(one.nonce)
    assert answer["Location"].endswith(reverse("api-webhook-detail", args=[one.pk]))
    assert post(client, route, owner.pk, key="a", url=URL, expects=201).json()["secret"] is None
    (listed,) = client.get(reverse(route, args=[owner.pk])).json()["results"]
    assert (listed[of], listed["url"], listed["paused"]) == (owner.pk, URL, False) and "secret" not in listed
    assert client.get(answer["Location"]).json() == listed


@pytest.mark.parametrize(
    "body, field",
    [
        ({"url": "https://10.0.0.1/"}, "url"),
        ({"url": URL, "types": ["import.failed"]}, "types"),
        ({"url": URL, "color": "red"}, "color"),
        ({}, "url"),
    ],
)
def test_wrong_input_is_named(client, manager, body, field):
    refused = post(client, "api-study-webhooks", studies.study().pk, **body, expects=400).json()
    assert [error["field"] for error in refused["errors"]] == [field]
    assert not Webhook.objects.exists()


def test_it_is_changed_paused_tried_sent_again_and_deleted(client, manager):
    one = webhook(studies.study(), URL)
    first, _ = waiting(one, 2)
    one.deliveries.update(state="delivered")
    post(client, "api-webhook-change", one.pk, url=f"{URL}2", expects=400)  # it would ask for all events
    changed = made(client, "api-webhook-change", one.pk, url=f"{URL}2", types=["study.closed"], expects=200)
    assert (changed["url"], changed["types"]) == (f"{URL}2", ["study.closed"])
    assert made(client, "api-webhook-secret", one.pk, expects=200)["secret"].startswith("whsec_")
    assert made(client, "api-webhook-pause", one.pk, paused=True, expects=200)["paused"]
    assert not made(client, "api-webhook-pause", one.pk, paused=False, expects=200)["paused"]
    assert made(client, "api-webhook-test", one.pk, expects=200)["state"] == "waiting"
    assert made(client, "api-webhook-again", one.pk, event=first.pk, expects=200) == {"count": 1}
    assert made(client, "api-webhook-again", one.pk, since="2020-01-01T00:00:00Z", expects=200) == {"count": 1}
    post(client, "api-webhook-again", one.pk, expects=400)
    rows = client.get(reverse("api-webhook-events", args=[one.pk]), {"state": "waiting"}).json()["results"]
    assert [row["type"] for row in rows] == ["judgment.made", "judgment.made", "webhook.test"]
    first.refresh_from_db()
    assert rows[0]["webhook_id"] == f"msg_{first.key.hex}"
    assert made(client, "api-webhook-delete", one.pk, expects=200) == {"id": one.pk}
    assert client.get(reverse("api-webhook-detail", args=[one.pk])).status_code == 404
