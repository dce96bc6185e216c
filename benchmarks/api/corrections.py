"""Corrections through the API: a list of rows, as in a file, and all corrections so far."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from benchmarks import permissions
from benchmarks.api.commands import Body, JobCommand
from benchmarks.api.endpoints import NO_STORAGE, Counted, OffsetFilters
from benchmarks.api.imports import UploadsField
from benchmarks.corrections.correct import MOST
from benchmarks.corrections.reading import COLUMNS
from benchmarks.corrections.views import queue_rows
from benchmarks.models import Correction, Job


class CorrectionData(serializers.ModelSerializer):
    item = serializers.CharField(source="item.key", help_text="The item's id in the benchmark.")
    by = serializers.CharField(source="made_by.username", default=None, help_text="Null for corrections by a command.")

    class Meta:
        model = Correction
        fields = ("id", "item", "action", "place", "old", "new", "reason", "by", "at")


class Row(serializers.Serializer):
    """A row as in a file of corrections: `text`, `file` or `action` is the change."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return {name: serializers.CharField(required=name in ("id", "reason")) for name in COLUMNS}


class CorrectionsBody(Body):
    corrections = serializers.ListField(child=Row(), allow_empty=False, max_length=MOST)
    images = UploadsField(help_text="Ids of uploads: the pictures that rows name as `file`, or one archive of them.")


class Corrections(JobCommand, ListAPIView):
    """Correct texts or images of items, withdraw items or put them back: all rows, or none."""

    operation, serializer_class, filters, pagination_class = "corrections", CorrectionData, OffsetFilters, Counted
    command, takes = "correct_items", CorrectionsBody
    refusals = {503: NO_STORAGE, 507: "The server has no room for the files."}

    def get_queryset(self) -> QuerySet[Correction]:
        benchmark = permissions.benchmark_for(self.request.user, self.kwargs["pk"])
        found = Correction.objects.filter(item__benchmark=benchmark).select_related("item", "made_by")
        return found.order_by("-pk")

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"], change=True)

    def act(self, given: dict[str, Any]) -> Job:
        rows = [{name: value for name, value in row.items() if value} for row in given["corrections"]]
        return queue_rows(self.benchmark, rows, given.get("images", []), self.user)
