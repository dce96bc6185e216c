"""What managers do on the pages of webhooks."""

import ipaddress
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation import permissions
from annotation.models import Webhook
from annotation.webhooks import signing
from benchmarks.models import Event
from tests.builders import studies
from tests.builders.webhooks import events, waiting, webhook

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/hook?token=abc"


@pytest.fixture(autouse=True)
def boss(client, settings) -> User:
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    user = User.objects.create_superuser("boss")
    client.force_login(user)
    return user


def text(answer) -> str:
    return answer.content.decode()


def do(client, webhook: Webhook, what: str, **given):
    return client.post(reverse("webhook-detail", args=[webhook.pk]), {"do": what, **given}, follow=True)


@pytest.mark.parametrize("of", ["study", "benchmark"])
def test_the_secret_is_shown_once(client, of):
    study = studies.study()
    address = reverse(f"{of}-webhooks", args=[study.pk if of == "study" else study.benchmark_id])
    made = client.post(address, {"url": URL})
    one = Webhook.objects.get()
    secret = signing.secret_of(one.nonce)
    here = reverse("webhook-detail", args=[one.pk])
    assert secret in text(made) and URL in text(client.get(address))
    assert secret not in text(client.get(here)) + text(client.get(address))
    newer = text(do(client, one, "secret"))
    one.refresh_from_db()
    assert signing.secret_of(one.nonce) in newer and secret not in newer
    assert "The previous secret is valid until" in text(client.get(here))
    assert "token=abc" not in str(Event.objects.filter(subject=f"webhook:{one.pk}").values())


def test_wrong_input_is_named_and_nothing_is_stored(client, settings):
    study, other = studies.study(), studies.study()
    address = reverse("study-webhooks", args=[study.pk])
    webhook(study, URL), webhook(other, URL)
    refused = {
        "": "This field is required.",
        URL: "There is already a webhook with this address.",
        "https://192.168.1.1/": "not a public address",
        "lab": "Enter a full address",
    }
    for url, why in refused.items():
        answer = client.post(address, {"url": url})
        assert (answer.status_code, why in text(answer)) == (422, True), url
    wrong = client.post(address, {"url": "https://192.168.1.1/a", "types": ["study.exploded"]})
    assert wrong.status_code == 422 and "Select a valid choice" in text(wrong)
    for number in range(9):
        webhook(study, f"{URL}{number}")
    assert "There can be at most 10 webhooks here." in text(client.post(address, {"url": f"{URL}9"}))
    assert study.webhooks.count() == 10
    changed = do(client, study.webhooks.latest("pk"), "change", url=URL)
    assert (changed.status_code, "already a webhook" in text(changed)) == (422, True)
    assert do(client, study.webhooks.latest("pk"), "explode").status_code == 422


def test_events_are_listed_and_sent_again(client):
    one = webhook(studies.study(), URL, types=["study.closed"])
    first, _ = waiting(one, 2)
    one.deliveries.update(state="delivered", tries=1)
    assert "judgment.made" in text(do(client, one, "test"))
    assert "1 event will be sent again." in text(do(client, one, "again", delivery=first.pk))
    assert "No events to send again." in text(do(client, one, "again", delivery=first.pk))
    assert "1 event will be sent again." in text(do(client, one, "since", since="2020-01-01T00:00"))
    assert do(client, one, "since", since="yesterday").status_code == 422
    assert [kind for kind, _ in events(one)] == ["judgment.made", "judgment.made", "webhook.test"]
    assert set(one.deliveries.values_list("state", flat=True)) == {"waiting"}


def test_what_was_given_up_is_shown_with_its_reason(client):
    one = webhook(studies.study(), URL)
    first, _ = waiting(one, 2)
    one.deliveries.filter(pk=first.pk).update(tries=3, problem="The receiver answered 503.")
    page = text(client.get(reverse("webhook-detail", args=[one.pk])))
    assert re.search(r"judgment.made: The receiver answered 503. Try 3 of 17 failed.", page)
    one.deliveries.filter(pk=first.pk).update(state="failed", tried_at=first.created_at)
    do(client, one, "pause")
    page = text(client.get(reverse("webhook-detail", args=[one.pk])))
    assert "Paused because an event could not be delivered" in page and "1 waiting" in page
    do(client, one, "skip")
    one.refresh_from_db()
    assert one.paused_at is None
    assert [row.state for row in one.deliveries.all()] == ["waiting", "skipped"]


def test_changed_and_deleted(client):
    study = studies.study()
    one = webhook(study, URL)
    do(client, one, "change", url=f"{URL}d", types=["stage.closed"])
    one.refresh_from_db()
    assert (one.url, one.types) == (f"{URL}d", ["stage.closed"])
    waiting(one, 1)
    assert "The webhook was deleted." in text(do(client, one, "delete"))
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("what", ["secret", "pause", "resume", "test", "change", "delete"])
def test_a_webhook_that_another_manager_has_just_deleted_is_not_found(client, what, monkeypatch):
    one = webhook(studies.study(), URL)
    read = permissions.webhook_for

    def reads_and_loses(*given):
        found = read(*given)
        Webhook.objects.filter(pk=one.pk).delete()
        return found

    monkeypatch.setattr(permissions, "webhook_for", reads_and_loses)
    answer = client.post(reverse("webhook-detail", args=[one.pk]), {"do": what, "url": f"{URL}d"})
    assert answer.status_code == 404
