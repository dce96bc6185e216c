"""The API of benchmarks, their items, and jobs; docs/reference/api.md shows how to use it."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView

from benchmarks import permissions, queries
from benchmarks.api.commands import Command
from benchmarks.api.endpoints import Counted, CursorFilters, Endpoint, Keyset, OffsetFilters, ordering
from benchmarks.api.serializers import BenchmarkData, ItemData, JobData
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Item, Job


class ItemFilters(CursorFilters):
    key = serializers.CharField(required=False)
    type = serializers.CharField(required=False, allow_blank=True)
    subtype = serializers.CharField(required=False, allow_blank=True)


class BenchmarkFilters(OffsetFilters):
    ordering = ordering("name", "created_at", "item_count")
    name = serializers.CharField(required=False)


class BenchmarkList(Endpoint, ListAPIView):
    """Newest first."""

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


class JobDetail(Endpoint, RetrieveAPIView):
    """A background job: its progress, problems and result."""

    operation, serializer_class = "job", JobData
    queryset = Job.objects.select_related("created_by")

    def check_object_permissions(self, request, job: Job) -> None:
        permissions.check_job(request.user, job, change=False)


class JobCancel(Command):
    """Stop a job. It ends at once, or at its next step; one that has ended stays as it is."""

    command, gives, status = "cancel_job", JobData, 200

    def permit(self) -> None:
        self.job = permissions.job_for(self.user, self.kwargs["pk"], change=True)

    def act(self, given: dict) -> Job:
        return jobs.cancel_job(job=self.job, by=self.by)
