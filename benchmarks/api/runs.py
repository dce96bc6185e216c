"""Models' results on a benchmark: runs with their scores, scores reported by a source, and deleting a run."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks import permissions
from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.endpoints import Counted, Endpoint, OffsetFilters, ordering
from benchmarks.api.errors import invalid, wrong_field
from benchmarks.api.serializers import GoneData
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Run, RunOrigin
from benchmarks.runs import figures, reported
from benchmarks.runs.forms import KIND_CHOICES
from benchmarks.runs.published_tables import tables_for
from benchmarks.runs.views import uploaded


class RunData(serializers.ModelSerializer):
    origin = serializers.ChoiceField(RunOrigin.choices)
    model = serializers.CharField(source="model.name", default=None, allow_null=True, help_text="As requested.")
    figures = serializers.DictField(
        source="computed", allow_null=True,
        help_text="`measures`: shares from 0 to 1 with 95% intervals; `groups`: those by type; `n`: items. Null until "
        "the worker has computed a large run's.",
    )  # fmt: skip

    asked_in_both_orders = serializers.BooleanField(
        help_text="Each question was asked twice, with its options in both orders, and is right only if both answers "
        "are. Compare such models only with each other."
    )
    orders = serializers.DictField(
        source="job.report.orders", default=None, allow_null=True,
        help_text="The measures for `first_order` and `second_order` separately, if the model was asked in both.",
    )  # fmt: skip
    cut = serializers.DictField(
        source="job.report.cut", default=None, allow_null=True,
        help_text="The items with captions that are longer than the model reads (`in_items`, if known), and those "
        "without scores because it reads two of their captions `alike`, also `by_type`.",
    )  # fmt: skip

    class Meta:
        model = Run
        fields = [
            "id", "origin", "kind", "title", "model", "source", "blind", "job", "made_at", "asked_in_both_orders",
            "figures", "orders", "cut",
        ]  # fmt: skip


def _with_figures(runs: list[Run]) -> list[Run]:
    """Add scores to one benchmark's runs; slow ones are left to the worker."""
    found = figures.of_runs(runs)
    if asked := figures.to_be_asked(found.missing):
        jobs.publish_after_commit(figures.compute_figures, asked)
    for run in runs:
        vars(run)["computed"] = found.figures.get(run.pk)
    return runs


def of_whole(benchmark: Benchmark) -> QuerySet[Run]:
    """Return runs, except those on a study's result, which only the study's members see."""
    return benchmark.runs.filter(study=None).select_related("model", "job")


class RunFilters(OffsetFilters):
    ordering = ordering("title", "made_at")
    kind = serializers.CharField(required=False)
    origin = serializers.ChoiceField(RunOrigin.choices, required=False)
    blind = serializers.BooleanField(required=False)
    title = serializers.CharField(required=False)


class RunList(Endpoint, ListAPIView):
    """Models' answers to the benchmark, or results reported for them, with every score; newest first."""

    operation, serializer_class, filters, pagination_class = "runs", RunData, RunFilters, Counted

    def get_queryset(self) -> QuerySet[Run]:
        return of_whole(permissions.benchmark_for(self.user, self.kwargs["pk"]))

    def paginate_queryset(self, queryset):
        return _with_figures(list(super().paginate_queryset(queryset) or ()))


class RunDetail(Endpoint):
    """One run with its scores."""

    operation, serializer_class = "run", RunData

    def get(self, request: Request, pk: int, run: int) -> Response:
        refuse_filters(request)
        benchmark = permissions.benchmark_for(self.user, pk)
        return Response(RunData(*_with_figures([get_object_or_404(of_whole(benchmark), pk=run)])).data)


class RunDelete(Command):
    """Delete a run with its answers: your own, or any on a benchmark that you may change."""

    command, gives, status = "delete_run", GoneData, 200

    def permit(self) -> None:
        self.run = permissions.run_for(self.user, self.kwargs["pk"], self.kwargs["run"])

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        title = self.run.title
        reported.delete_run(run=self.run, by=self.by)
        return {"deleted": title}


class ReportedRow(Body):
    def get_fields(self) -> dict[str, serializers.Field]:
        texts = {name: serializers.CharField(max_length=reported.LONGEST.get(name)) for name in reported.FIELDS}
        more = {name: serializers.CharField(required=False) for name in reported.OPTIONAL}
        return texts | more | {"value": serializers.FloatField(help_text="In percent.")}


class ReportedBody(Body):
    kind = serializers.ChoiceField(KIND_CHOICES)
    tables = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of tables built into Winnow."
    )
    figures = serializers.ListField(child=ReportedRow(), required=False, min_length=1, max_length=reported.MOST)

    def validate(self, given: dict) -> dict:
        if bool(given.get("tables")) == bool(given.get("figures")):
            raise serializers.ValidationError({"figures": ["Give either `tables` or `figures`."]})
        return given


class ReportedData(serializers.Serializer):
    runs = serializers.ListField(child=serializers.IntegerField(), help_text="The ids of the new runs.")


class ReportedNew(Command):
    """Enter scores that a source reports, one run per model: from a table built into Winnow, or your own rows."""

    command, takes, gives = "enter_reported_figures", ReportedBody, ReportedData

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"])

    def act(self, given: dict[str, Any]) -> dict[str, list[int]]:
        offered = {table.name: table for table in tables_for(given["kind"])}
        if unknown := set(given.get("tables", ())) - set(offered):
            says = f"There is no table {unknown.pop()}. Choose one of {', '.join(offered)}."
            raise invalid([wrong_field("tables", says, "UNKNOWN")])
        rows = [row for name in given.get("tables", ()) for row in offered[name].rows]
        if own := given.get("figures"):
            rows = uploaded(SimpleUploadedFile("figures.json", json.dumps(own).encode()), given["kind"])
        facts = {"benchmark": self.benchmark, "kind": given["kind"], "rows": rows}
        made = reported.enter_reported(**facts, by=self.by, created_by=self.user)
        return {"runs": [run.pk for run in made]}

    def location(self, made: dict) -> str:
        return reverse("api-run-list", args=[self.benchmark.pk])
