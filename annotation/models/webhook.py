"""Webhooks: addresses that events of a study or benchmark are sent to, and the outbox of those events."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Now

from annotation.models.study import Study
from benchmarks.models import Benchmark

OVERLAP = timedelta(hours=24)  # how long events are also signed with the previous secret


def random_nonce() -> str:
    return secrets.token_hex(16)


class Webhooks(models.QuerySet):
    def with_deliveries(self) -> "Webhooks":
        """Annotate the number of events `waiting` (None without any) and when the last one was `delivered_at`."""
        mine = Delivery.objects.filter(webhook=OuterRef("pk"))
        waiting = mine.filter(state=DeliveryState.WAITING).order_by().values("webhook").annotate(count=Count("pk"))
        delivered = mine.filter(state=DeliveryState.DELIVERED).order_by("-pk").values("tried_at")[:1]
        return self.annotate(waiting=Subquery(waiting.values("count")), delivered_at=Subquery(delivered))


class Webhook(models.Model):
    """A receiver's address. Its secret is derived from `nonce` and the secret key (webhooks/signing.py)."""

    study = models.ForeignKey(Study, null=True, on_delete=models.CASCADE, related_name="webhooks")
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    types = ArrayField(models.CharField(max_length=40), default=list)  # types of events; empty for all
    nonce = models.CharField(max_length=32, default=random_nonce)
    old_nonce = models.CharField(max_length=32, blank=True)  # nonce of the previous secret, valid
    old_until = models.DateTimeField(null=True)  # until this time
    retry_at = models.DateTimeField(db_default=Now())  # nothing is sent before this time
    # While set, events are stored but not sent: a manager paused it, or Winnow gave up on an event
    paused_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    objects = Webhooks.as_manager()

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(study__isnull=True, benchmark__isnull=False)
                | Q(study__isnull=False, benchmark__isnull=True),
                name="webhook_of_one_owner",
            ),
            models.UniqueConstraint(fields=["study", "url"], name="webhook_once_for_study"),
            models.UniqueConstraint(fields=["benchmark", "url"], name="webhook_once_for_benchmark"),
        ]

    @property
    def owner(self) -> Study | Benchmark:
        owner = self.study or self.benchmark
        assert owner is not None
        return owner


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed", "given up"  # after the last try; its webhook is paused
    SKIPPED = "skipped"  # by a manager, after Winnow gave up


class Delivery(models.Model):
    """One event for one webhook, written in the transaction of its cause. Sent in the order of the ids."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    key = models.UUIDField(db_default=RandomUUID(), editable=False)  # the header `webhook-id`, the same at every try
    type = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=DeliveryState, db_default=DeliveryState.WAITING.value)
    tries = models.PositiveSmallIntegerField(db_default=0)
    tried_at = models.DateTimeField(null=True)  # last
    problem = models.CharField(max_length=200, db_default="", blank=True)  # the last try's error; empty if delivered
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["webhook", "id"], name="delivery_of_webhook"),
            models.Index(fields=["webhook", "state", "id"], name="delivery_of_state"),
        ]
        constraints = [models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_known")]
