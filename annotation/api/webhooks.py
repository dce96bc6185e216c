"""Webhooks for studies and benchmarks: add, change, pause, send again; docs/guide/webhooks.md explains them."""

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import outbox, permissions
from annotation.api.studies import StudyCommand
from annotation.models import Delivery, DeliveryState, Role, Study, Webhook
from annotation.webhooks import endpoints
from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.endpoints import Counted, CursorFilters, Endpoint, Keyset, OffsetFilters
from benchmarks.api.errors import invalid, wrong_field
from benchmarks.models import Benchmark
from benchmarks.permissions import benchmark_with_webhooks

TYPES = sorted({**outbox.OF_STUDY, **outbox.OF_BENCHMARK})
LONGEST = Webhook._meta.get_field("url").max_length


class WebhookBody(Body):
    url = serializers.CharField(max_length=LONGEST, help_text="An HTTPS URL at a public address.")
    types = serializers.ListField(child=serializers.ChoiceField(TYPES), default=[], help_text="Events; empty for all.")


class ChangeBody(WebhookBody):
    """`types` has no default here: leaving it out would select all events."""

    types = serializers.ListField(child=serializers.ChoiceField(TYPES), help_text="Events; empty for all.")


class WebhookData(serializers.ModelSerializer):
    paused = serializers.SerializerMethodField(help_text="Events are queued.")
    study = serializers.IntegerField(source="study_id", allow_null=True)
    benchmark = serializers.IntegerField(source="benchmark_id", allow_null=True)
    types = serializers.ListField(child=serializers.CharField(), help_text="Events; empty for all.")

    class Meta:
        model = Webhook
        fields = ["id", "study", "benchmark", "url", "types", "paused", "created_at"]

    def get_paused(self, webhook: Webhook) -> bool:
        return webhook.paused_at is not None


class SecretData(WebhookData):
    secret = serializers.CharField(allow_null=True, help_text="Not stored, so it is null in a repeated response.")

    class Meta(WebhookData.Meta):
        fields = [*WebhookData.Meta.fields, "secret"]


class EventData(serializers.ModelSerializer):
    webhook_id = serializers.SerializerMethodField(help_text="Same as the `webhook-id` header.")
    state = serializers.ChoiceField(DeliveryState.choices)

    class Meta:
        model = Delivery
        fields = ["id", "webhook_id", "type", "data", "state", "tries", "tried_at", "problem", "created_at"]

    def get_webhook_id(self, delivery: Delivery) -> str:
        return f"msg_{delivery.key.hex}"


class EventFilters(CursorFilters):
    state = serializers.ChoiceField(DeliveryState.choices, required=False)
    type = serializers.CharField(required=False)


def _with_secret(webhook: Webhook, secret: str) -> Webhook:
    webhook.secret = secret  # type: ignore[attr-defined]  # for SecretData
    return webhook


def _refused(why: endpoints.CannotChange) -> Exception:
    return invalid([wrong_field("url", str(why), "CANNOT_CHANGE")])


def _check_types(owner: Study | Benchmark, types: list[str]) -> None:
    if unknown := sorted(set(types) - set(endpoints.types_of(owner))):
        raise invalid([wrong_field("types", f"There is no event {unknown[0]} here.")])


class _WebhookList(Command, ListAPIView):
    serializer_class, filters, pagination_class = WebhookData, OffsetFilters, Counted
    takes, gives, shown_once = WebhookBody, SecretData, ("secret",)
    owner: Any

    def get_queryset(self) -> QuerySet[Webhook]:
        return self.owner.webhooks.all()

    def act(self, given: dict[str, Any]) -> Webhook:
        _check_types(self.owner, given["types"])
        try:
            return _with_secret(*endpoints.add(owner=self.owner, by=self.by, created_by=self.user, **given))
        except endpoints.CannotChange as why:
            raise _refused(why) from None

    def location(self, made: Webhook) -> str:
        return reverse("api-webhook-detail", args=[made.pk])


class StudyWebhooks(_WebhookList, StudyCommand):
    """The study's webhooks. POST adds one."""

    operation, command, look = "study_webhooks", "add_study_webhook", Role.MANAGER

    @property
    def owner(self) -> Study:  # type: ignore[override]
        return self.study


class BenchmarkWebhooks(_WebhookList):
    """The benchmark's webhooks. POST adds one."""

    operation, command, fetches = "benchmark_webhooks", "add_benchmark_webhook", "owner"

    @cached_property
    def owner(self) -> Benchmark:  # type: ignore[override]
        return benchmark_with_webhooks(self.user, self.kwargs["pk"])


class WebhookDetail(Endpoint):
    """One webhook."""

    operation, serializer_class = "webhook", WebhookData

    def get(self, request: Request, pk: int) -> Response:
        refuse_filters(request)
        return Response(WebhookData(permissions.webhook_for(self.user, pk)).data)


class WebhookEvents(Endpoint, ListAPIView):
    """The webhook's events of the last 30 days, and those waiting."""

    operation, serializer_class, filters, pagination_class = "webhook_events", EventData, EventFilters, Keyset

    def get_queryset(self) -> QuerySet[Delivery]:
        return permissions.webhook_for(self.user, self.kwargs["pk"]).deliveries.all()


class _WebhookCommand(Command):
    gives: type[serializers.Serializer] = WebhookData
    status, fetches = 200, "webhook"

    @cached_property
    def webhook(self) -> Webhook:
        return permissions.webhook_for(self.user, self.kwargs["pk"])


class WebhookChange(_WebhookCommand):
    """Change the address and the events. Waiting events will go to the new address."""

    command, takes = "change_webhook", ChangeBody

    def act(self, given: dict[str, Any]) -> Webhook:
        _check_types(self.webhook.owner, given["types"])
        try:
            endpoints.change(webhook=self.webhook, by=self.by, **given)
        except endpoints.CannotChange as why:
            raise _refused(why) from None
        return self.webhook


class WebhookSecret(_WebhookCommand):
    """Create a new secret. For 24 hours, events are also signed with the previous one."""

    command, gives, shown_once = "new_webhook_secret", SecretData, ("secret",)

    def act(self, given: dict[str, Any]) -> Webhook:
        return _with_secret(self.webhook, endpoints.new_secret(webhook=self.webhook, by=self.by))


class PauseBody(Body):
    paused = serializers.BooleanField()
    skip = serializers.BooleanField(default=False, help_text="Skip the event that Winnow gave up sending.")


class WebhookPause(_WebhookCommand):
    """Pause the webhook, or resume it: an event that Winnow gave up sending goes first, unless skipped."""

    command, takes = "pause_webhook", PauseBody

    def act(self, given: dict[str, Any]) -> Webhook:
        if given["paused"]:
            endpoints.pause(webhook=self.webhook, by=self.by)
        else:
            endpoints.resume(webhook=self.webhook, by=self.by, skip=given["skip"])
        return self.webhook


class WebhookTest(_WebhookCommand):
    """Send a test event, after the events already waiting."""

    command, gives = "test_webhook", EventData

    def act(self, given: dict[str, Any]) -> Delivery:
        delivery = endpoints.send_test(webhook=self.webhook, by=self.by)
        delivery.refresh_from_db()
        return delivery


class AgainBody(Body):
    event = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1, help_text="Its `id`.")
    since = serializers.DateTimeField(required=False, help_text="All events since then; UTC if no time zone is given.")


class AgainData(serializers.Serializer):
    count = serializers.IntegerField(help_text="Events that will be sent again.")


class WebhookAgain(_WebhookCommand):
    """Send one event again, or all since a time, in order and with their original ids."""

    command, takes, gives = "send_webhook_events_again", AgainBody, AgainData

    def act(self, given: dict[str, Any]) -> dict[str, int]:
        if len(given) != 1:
            raise invalid([wrong_field("", "Send either `event` or `since`.")])
        which = {"delivery": given.get("event"), "since": given.get("since")}
        return {"count": endpoints.send_again(webhook=self.webhook, by=self.by, **which)}


class DeletedData(serializers.Serializer):
    id = serializers.IntegerField()


class WebhookDelete(_WebhookCommand):
    """Delete the webhook with its events, sent or not."""

    command, gives = "delete_webhook", DeletedData

    def act(self, given: dict[str, Any]) -> dict[str, int]:
        pk = self.webhook.pk
        endpoints.delete(webhook=self.webhook, by=self.by)
        return {"id": pk}
