"""Send stored events from the worker: each webhook's events one after the other, in the order in which they were
stored.

An event that its receiver does not confirm is sent again, after a pause that doubles with every try, and holds back the
later ones. After the last try the webhook is paused until a manager decides, so nothing is lost or overtaken.
An event counts as delivered only once this is stored. If the worker dies before, it is sent again with the same id.
"""

import json
import logging
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta

from django.db import Error, connections, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.functions import Now

from annotation.models import Delivery, DeliveryState, Webhook
from annotation.webhooks.connection import Connection, Unreachable
from annotation.webhooks.signing import signed_headers
from benchmarks import locks

TRIES = 17  # tries per event, over about a day
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 4 * 3600.0  # seconds
JITTER = 0.2  # share of a pause, either way, so that receivers that come back don't get everything at once
GONE = 410  # the receiver doesn't want any more events
THREADS, FOR_SLOW = 32, 24  # each has a connection to the database
SLOW = 1.0  # seconds per event from which a receiver is slow
SLICE = 10  # seconds for one webhook, before the others have their turn
KEPT = timedelta(days=30)  # how long delivered or skipped events can be seen and sent again
KEPT_WAITING = timedelta(days=90)
_BATCH = 10_000  # rows removed in one statement
WAITING = Delivery.objects.filter(state=DeliveryState.WAITING)
log = logging.getLogger(__name__)


class Sender:
    """Sends for many webhooks at once, without waiting for any: slow receivers never take the last threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="webhooks")
        self._busy: dict[int, Future] = {}  # by webhook
        self._slow: set[int] = set()  # webhooks whose receiver failed or was slow the last time

    def turn(self) -> None:
        """Begin to send what is due."""
        self._busy = {webhook: sending for webhook, sending in self._busy.items() if not sending.done()}
        for webhook in due():
            slow = webhook in self._slow and len(self._slow & self._busy.keys()) >= FOR_SLOW
            if webhook not in self._busy and len(self._busy) < THREADS and not slow:
                self._busy[webhook] = self._threads.submit(self._send, webhook)

    def wait(self) -> None:
        """Wait until what `turn` has begun is over."""
        wait(self._busy.values())

    def _send(self, webhook: int) -> None:
        begun, sent = time.monotonic(), 0
        try:
            sent = send_waiting(webhook)
        except Error as error:  # the database is down, and will come back
            log.warning("Could not send the events of webhook %s: %s", webhook, error)
        except Exception:
            log.exception("Could not send the events of webhook %s", webhook)
        finally:
            connections.close_all()
            (self._slow.discard if (time.monotonic() - begun) < SLOW * sent else self._slow.add)(webhook)


def due() -> list[int]:
    """Return webhooks that have something to send now, the longest due first.

    One that failed “later than now” is due: the clock was ahead then, and its pause would last until it catches up.
    """
    waits = WAITING.filter(webhook=OuterRef("pk"))
    ready = Q(retry_at__lte=Now()) | Exists(waits.filter(tried_at__gt=Now()))
    found = Webhook.objects.filter(ready, Exists(waits), paused_at=None)
    return list(found.order_by("retry_at").values_list("pk", flat=True))


def send_waiting(webhook: int) -> int:
    """Send the webhook's events until one fails, none is left, or its time is over; returns how many were delivered.

    One process at a time.
    """
    sent, end = 0, time.monotonic() + SLICE
    with locks.alone(f"webhook:{webhook}") as mine, Connection() as receiver:
        while mine and time.monotonic() < end:
            delivery = next_delivery(webhook)
            if delivery is None or not _send(delivery, receiver):
                break
            sent += 1
    return sent


def next_delivery(webhook: int) -> Delivery | None:
    """Return the first waiting event, with its webhook; None while nothing may be sent."""
    ready = Q(webhook__retry_at__lte=Now()) | Q(tried_at__gt=Now())  # as in `due`
    found = WAITING.filter(webhook=webhook, webhook__paused_at=None).annotate(
        ready=Case(When(ready, True), default=False)
    )
    first = found.select_related("webhook").order_by("pk").first()
    return first if first and first.ready else None


def body_of(delivery: Delivery) -> bytes:
    """Return the bytes that are sent: the same at every try."""
    event = {"type": delivery.type, "timestamp": delivery.created_at.isoformat(), "data": delivery.data}
    return json.dumps(event, sort_keys=True).encode()


def _send(delivery: Delivery, receiver: Connection) -> bool:
    """Send it; return whether the receiver confirmed it and that is stored."""
    webhook, body = delivery.webhook, body_of(delivery)
    headers = {"Content-Type": "application/json", **signed_headers(webhook, delivery.key, body)}
    try:
        status = receiver.post(webhook.url, headers, body)
    except Unreachable as reason:
        _mark_failed(delivery, str(reason))
        return False
    if 200 <= status < 300:
        if delivery.tries:  # later events need not wait because a clock was ahead when this one failed
            Webhook.objects.filter(pk=webhook.pk).update(retry_at=Now())
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
    """Return how long an event waits after this many failed tries."""
    seconds = min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE)
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


def forget_old() -> int:
    """Remove old events; returns how many."""
    over = Q(state__in=[DeliveryState.DELIVERED, DeliveryState.SKIPPED], created_at__lt=Now() - KEPT)
    return remove(Delivery.objects.filter(over | Q(created_at__lt=Now() - KEPT_WAITING)))


def remove(deliveries: QuerySet[Delivery]) -> int:
    """Remove them, a batch at a time; returns how many."""
    removed = 0
    while count := Delivery.objects.filter(pk__in=deliveries.order_by("pk").values("pk")[:_BATCH]).delete()[0]:
        removed += count
    return removed
