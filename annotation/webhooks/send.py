"""Send stored events from the worker: each webhook's one after the other, in the order in which they were stored.

An event that its receiver does not confirm is sent again, after a pause that doubles with every try, and holds back the
later ones. After the last try the webhook is paused until a manager decides: nothing is lost or overtaken.
An event counts as delivered only once that is stored. If the worker dies before, it is sent again with the same id.
"""

import json
import logging
import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import Error, connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from annotation.models import Delivery, DeliveryState, Webhook
from annotation.webhooks.connection import Connection, Unreachable
from annotation.webhooks.signing import signed_headers
from benchmarks.jobs import jobs

TRIES = 17  # of an event: for about a day
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 4 * 3600.0  # seconds
JITTER = 0.2  # of a pause, either way: receivers that come back are not met by all at once
GONE = 410  # the receiver wants no more events
THREADS = 8
SLICE = 10  # seconds for one webhook, before the others have their turn
KEPT = timedelta(days=30)  # for which what was delivered or skipped can be seen and sent again
KEPT_WAITING = timedelta(days=90)
_BATCH = 10_000  # rows that are removed in one statement
WAITING = Delivery.objects.filter(state=DeliveryState.WAITING)
log = logging.getLogger(__name__)


def send_all() -> None:
    """Send what is due, for `SLICE` seconds at most from when the last webhook has its turn."""
    ready = Webhook.objects.filter(paused_at=None, retry_at__lte=Now())
    due = list(ready.filter(Exists(WAITING.filter(webhook=OuterRef("pk")))).values_list("pk", flat=True))
    if due:
        with ThreadPoolExecutor(min(THREADS, len(due))) as threads:
            list(threads.map(_send_in_thread, due))


def _send_in_thread(webhook: int) -> None:
    try:
        send_waiting(webhook)
    except Error as error:  # the database is down, and will come back
        log.warning("Could not send the events of webhook %s: %s", webhook, error)
    except Exception:
        log.exception("Could not send the events of webhook %s", webhook)
    finally:
        connection.close()


def send_waiting(webhook: int) -> int:
    """Send the webhook's events until one fails, none is left, or its time is over; returns how many were delivered.

    One process at a time.
    """
    sent, end = 0, time.monotonic() + SLICE
    with jobs.alone(f"webhook:{webhook}") as mine, Connection() as receiver:
        while mine and time.monotonic() < end:
            delivery = next_delivery(webhook)
            if delivery is None or not _send(delivery, receiver):
                break
            sent += 1
    return sent


def next_delivery(webhook: int) -> Delivery | None:
    """The first waiting event, with its webhook; None while nothing may be sent."""
    ready = WAITING.filter(webhook=webhook, webhook__paused_at=None, webhook__retry_at__lte=Now())
    return ready.select_related("webhook").order_by("pk").first()


def body_of(delivery: Delivery) -> bytes:
    """What is sent: the same bytes at every try."""
    event = {"type": delivery.type, "timestamp": delivery.created_at.isoformat(), "data": delivery.data}
    return json.dumps(event, sort_keys=True).encode()


def _send(delivery: Delivery, receiver: Connection) -> bool:
    """Returns whether the receiver confirmed it, and that is stored."""
    webhook, body = delivery.webhook, body_of(delivery)
    headers = {"Content-Type": "application/json", **signed_headers(webhook, delivery.key, body)}
    try:
        status = receiver.post(webhook.url, headers, body)
    except Unreachable as reason:
        _mark_failed(delivery, str(reason))
        return False
    if 200 <= status < 300:
        return _mark(delivery, DeliveryState.DELIVERED) > 0
    redirect = " Redirects are not followed." if 300 <= status < 400 else ""
    _mark_failed(delivery, f"The receiver answered {status}.{redirect}", gives_up=status == GONE)
    return False


def _mark(delivery: Delivery, state: DeliveryState, problem: str = "") -> int:
    """Store the result of a try; returns 0 if the webhook was deleted in the meantime."""
    row = Delivery.objects.filter(pk=delivery.pk)
    return row.update(state=state, tries=F("tries") + 1, tried_at=Now(), problem=problem)


@transaction.atomic
def _mark_failed(delivery: Delivery, problem: str, gives_up: bool = False) -> None:
    tries = delivery.tries + 1
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if gives_up or tries >= TRIES:
        _mark(delivery, DeliveryState.FAILED, problem)
        webhook.update(paused_at=Now())
    else:
        _mark(delivery, DeliveryState.WAITING, problem)
        webhook.update(retry_at=Now() + pause_after(tries))


def pause_after(tries: int) -> timedelta:
    """How long an event waits after so many tries have failed."""
    seconds = min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE)
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


def forget_old() -> int:
    """Remove old events; returns how many."""
    over = Q(state__in=[DeliveryState.DELIVERED, DeliveryState.SKIPPED], created_at__lt=Now() - KEPT)
    old = Delivery.objects.filter(over | Q(created_at__lt=Now() - KEPT_WAITING)).order_by("pk")
    removed = 0
    while count := Delivery.objects.filter(pk__in=old.values("pk")[:_BATCH]).delete()[0]:
        removed += count
    return removed
