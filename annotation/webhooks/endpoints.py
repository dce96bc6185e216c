"""Managers' actions on webhooks: each writes an audit event without the URL, since that may contain a token."""

from collections.abc import Collection
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.shortcuts import get_object_or_404
from django.utils import timezone

from annotation import outbox
from annotation.models import Delivery, DeliveryState, Study, Webhook
from annotation.models.webhook import OVERLAP, random_nonce
from annotation.webhooks import connection, send, signing
from benchmarks import audit
from benchmarks.models import Benchmark

MOST = 10  # webhooks per study or benchmark


class CannotChange(ValueError):
    """Nothing was changed; the message is for managers."""


def types_of(owner: Study | Benchmark) -> dict[str, str]:
    """Return the types of events that its webhooks can get, each in words."""
    return outbox.OF_STUDY if isinstance(owner, Study) else outbox.OF_BENCHMARK


def add(*, owner: Study | Benchmark, url: str, types: Collection[str], by: str, created_by=None) -> tuple[Webhook, str]:
    """Add a webhook; return it and its secret, never shown again. Without `types`, it gets all. Raises CannotChange."""
    _check(owner, url, types)
    of = {"study": owner} if isinstance(owner, Study) else {"benchmark": owner}
    with transaction.atomic():
        type(owner).objects.select_for_update(no_key=True).get(pk=owner.pk)
        if owner.webhooks.count() >= MOST:
            raise CannotChange(f"There can be at most {MOST} webhooks here. Delete one that is no longer needed.")
        if owner.webhooks.filter(url=url).exists():
            raise CannotChange("There is already a webhook with this address.")
        webhook = Webhook.objects.create(**of, url=url, types=sorted(types), created_by=created_by)
        audit.record(by=by, verb="added", subject=webhook, owner=audit.named(owner), types=webhook.types)
    return webhook, signing.secret_of(webhook.nonce)


def change(*, webhook: Webhook, url: str, types: Collection[str], by: str) -> None:
    """Change the webhook; waiting events will go to the new address. Raises CannotChange."""
    _check(webhook.owner, url, types)
    try:
        with transaction.atomic():
            _update(webhook, by, "changed", url=url, types=sorted(types), retry_at=Now())
    except IntegrityError:
        raise CannotChange("There is already a webhook with this address.") from None


def _check(owner: Study | Benchmark, url: str, types: Collection[str]) -> None:
    if unknown := set(types) - set(types_of(owner)):
        raise CannotChange(f"There is no event {min(unknown)}.")
    try:
        connection.check(url)
    except connection.Unreachable as reason:
        raise CannotChange(str(reason)) from None


def new_secret(*, webhook: Webhook, by: str) -> str:
    """Return a new secret, which will never be shown again. For a day, events are also signed with the previous one."""
    with transaction.atomic():
        found = _locked(webhook)
        fresh, until = random_nonce(), timezone.now() + OVERLAP
        _update(webhook, by, "made a new secret", nonce=fresh, old_nonce=found.nonce, old_until=until)
    return signing.secret_of(fresh)


@transaction.atomic
def pause(*, webhook: Webhook, by: str) -> None:
    """Pause deliveries: events are queued."""
    _update(webhook, by, "paused", paused_at=Now())


@transaction.atomic
def resume(*, webhook: Webhook, by: str, skip: bool = False) -> None:
    """Send waiting events again, at once. An event that Winnow gave up on is sent first, or with `skip` left out."""
    given_up = webhook.deliveries.filter(state=DeliveryState.FAILED)
    if skip:
        given_up.update(state=DeliveryState.SKIPPED)
    else:
        _queue(given_up)
    _update(webhook, by, "resumed", paused_at=None, retry_at=Now())


@transaction.atomic
def send_again(*, webhook: Webhook, by: str, delivery: int | None = None, since: datetime | None = None) -> int:
    """Send one event again, or all since a moment, with the ids they had; returns how many. Waiting ones follow them.

    A webhook that was paused stays paused.
    """
    past = webhook.deliveries.exclude(state=DeliveryState.WAITING)
    count = _queue(past.filter(pk=delivery) if delivery is not None else past.filter(created_at__gte=since))
    if count:
        which = {"delivery": delivery} if delivery is not None else {"since": since.isoformat() if since else ""}
        audit.record(by=by, verb="sent again", subject=webhook, count=count, **which)
    return count


def _queue(deliveries: QuerySet[Delivery]) -> int:
    return deliveries.update(state=DeliveryState.WAITING, tries=0, problem="")


@transaction.atomic
def send_test(*, webhook: Webhook, by: str) -> Delivery:
    """Queue a test event, which will be sent after waiting events."""
    _locked(webhook)
    audit.record(by=by, verb="sent a test", subject=webhook)
    owner = webhook.owner
    return Delivery.objects.create(webhook=webhook, type=outbox.TEST, data={str(owner._meta.model_name): owner.pk})


def delete(*, webhook: Webhook, by: str) -> None:
    """Delete the webhook with its events, sent or not.

    Most events go first: from the last step's lock on, an answer that has an event for this webhook waits.
    """
    send.remove(webhook.deliveries.all())
    with transaction.atomic():
        _locked(webhook, no_key=False)  # an event that is being written is stored before, or not at all
        audit.record(by=by, verb="deleted", subject=webhook, owner=audit.named(webhook.owner))
        webhook.delete()


def _locked(webhook: Webhook, *, no_key: bool = True) -> Webhook:
    """Return its present row, which nobody else can delete until the commit. Raises Http404 if it is already gone."""
    return get_object_or_404(Webhook.objects.select_for_update(no_key=no_key), pk=webhook.pk)


def _update(webhook: Webhook, by: str, verb: str, **fields: object) -> None:
    _locked(webhook)
    audit.record(by=by, verb=verb, subject=webhook, **{"types": fields["types"]} if "types" in fields else {})
    Webhook.objects.filter(pk=webhook.pk).update(**fields)
    webhook.refresh_from_db()
