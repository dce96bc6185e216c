"""The read-only API of benchmarks and jobs, for staff."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks import access, queries
from benchmarks.models import Benchmark, Job


class BenchmarkData(serializers.ModelSerializer):
    item_count = serializers.IntegerField()
    image_count = serializers.IntegerField()

    class Meta:
        model = Benchmark
        fields = ["id", "name", "source", "created_at", "item_count", "image_count"]


class JobData(serializers.ModelSerializer):
    class Meta:
        model = Job
        fields = [
            "id", "kind", "title", "state", "phase", "done", "total", "problems", "problem_count", "report",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip


@api_view(["GET"])
def benchmark_list(request: Request) -> Response:
    pages = LimitOffsetPagination()
    found: QuerySet[Benchmark] = queries.with_counts(Benchmark.objects.all())
    page = pages.paginate_queryset(found, request)
    return pages.get_paginated_response(BenchmarkData(page, many=True).data)


@api_view(["GET"])
def job_detail(request: Request, pk: int) -> Response:
    return Response(JobData(access.job_for(request.user, pk)).data)
