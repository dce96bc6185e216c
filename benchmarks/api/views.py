"""The API of benchmarks, their items, and jobs; docs/reference/api.md explains how to use it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks import permissions, queries
from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.endpoints import Counted, CursorFilters, Endpoint, Keyset, OffsetFilters, ordering
from benchmarks.api.serializers import BenchmarkData, GoneData, ItemData, JobData
from benchmarks.housekeeping import delete
from benchmarks.housekeeping.archive import rename, set_archived
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Item, Job, JobState


class ServerData(serializers.Serializer):
    version = serializers.CharField(help_text="Winnow's.")
    user = serializers.CharField(help_text="The owner of the token or session.")


class Server(Endpoint):
    """The server's version, and who is asking."""

    operation, serializer_class = "server", ServerData

    def get(self, request: Request) -> Response:
        refuse_filters(request)
        return Response({"version": settings.SPECTACULAR_SETTINGS["VERSION"], "user": self.user.get_username()})


class ItemFilters(CursorFilters):
    key = serializers.CharField(required=False)
    type = serializers.CharField(required=False, allow_blank=True)
    subtype = serializers.CharField(required=False, allow_blank=True)


class BenchmarkFilters(OffsetFilters):
    ordering = ordering("name", "created_at", "item_count")
    name = serializers.CharField(required=False)


class BenchmarkList(Endpoint, ListAPIView):
    """Benchmarks, newest first."""

    operation, serializer_class, filters, pagination_class = "benchmarks", BenchmarkData, BenchmarkFilters, Counted
    queryset = queries.with_counts(Benchmark.objects.all())


class BenchmarkDetail(Endpoint, RetrieveAPIView):
    operation, serializer_class = "benchmark", BenchmarkData
    queryset = queries.with_counts(Benchmark.objects.all())


class ItemList(Endpoint, ListAPIView):
    """The benchmark's items with their captions and information about their images, in the order of import."""

    operation, serializer_class, filters, pagination_class = "items", ItemData, ItemFilters, Keyset

    def get_queryset(self) -> QuerySet[Item]:
        return queries.with_material(permissions.benchmark_for(self.request.user, self.kwargs["pk"]).items.all())


class ArchiveBody(Body):
    archived = serializers.BooleanField()


class ArchivedData(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    archived = serializers.BooleanField(help_text="It disappears from lists on pages; nothing else changes.")


class Archive(Command):
    """Archives `thing`, a study or a benchmark."""

    takes, gives, status = ArchiveBody, ArchivedData, 200
    thing: Benchmark | Any

    def act(self, given: dict[str, Any]) -> Any:
        set_archived(thing=self.thing, by=self.by, **given)
        self.thing.refresh_from_db(fields=["archived"])
        return self.thing


class BenchmarkArchive(Archive):
    """Archive the benchmark, or restore it to the list."""

    command = "archive_benchmark"

    def permit(self) -> None:
        self.thing = permissions.benchmark_for(self.user, self.kwargs["pk"], change=True)


class NameBody(Body):
    id = serializers.IntegerField(source="pk", read_only=True)
    name = serializers.CharField(max_length=Benchmark._meta.get_field("name").max_length)


class BenchmarkRename(Command):
    """Rename the benchmark. Its studies and releases do not change."""

    command, takes, gives, status = "rename_benchmark", NameBody, NameBody, 200

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"], change=True)

    def act(self, given: dict[str, Any]) -> Benchmark:
        rename(benchmark=self.benchmark, by=self.by, **given)
        return self.benchmark


class DeleteBody(Body):
    name = serializers.CharField(trim_whitespace=False, help_text="Its name, to confirm the deletion.")


class BenchmarkDelete(Command):
    """Delete the benchmark with its items, runs, and images that nothing else uses."""

    command, takes, gives, status, one_transaction = "delete_benchmark", DeleteBody, GoneData, 200, False
    conflicts = "A study uses it, an import is running, or it is too large for a request."
    raises: Mapping[type[Exception], str] = MappingProxyType({delete.CannotDelete: "CANNOT_DELETE"})

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"], change=True)

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        delete.delete_named(benchmark=self.benchmark, by=self.by, **given)
        return {"deleted": given["name"]}


class JobFilters(OffsetFilters):
    ordering = ordering("created_at", "finished_at")
    kind = serializers.CharField(required=False)
    state = serializers.ChoiceField(JobState.choices, required=False)


class JobList(Endpoint, ListAPIView):
    """The jobs that you started, newest first; admins see everybody's."""

    operation, serializer_class, filters, pagination_class = "jobs", JobData, JobFilters, Counted

    def get_queryset(self) -> QuerySet[Job]:
        return permissions.jobs_for(self.user)


class JobDetail(Endpoint, RetrieveAPIView):
    """A background job: its progress, problems and result."""

    operation, serializer_class = "job", JobData
    queryset = Job.objects.select_related("created_by")

    def check_object_permissions(self, request, job: Job) -> None:
        permissions.check_job(request.user, job, change=False)


class JobCancel(Command):
    """Stop a job, at once or at its next step. A job that has already ended does not change."""

    command, gives, status = "cancel_job", JobData, 200

    def permit(self) -> None:
        self.job = permissions.job_for(self.user, self.kwargs["pk"], change=True)

    def act(self, given: dict) -> Job:
        return jobs.cancel_job(job=self.job, by=self.by)
