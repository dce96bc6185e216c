"""The read-only API of benchmarks, their items, and jobs; docs/reference/api.md shows it in use."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks import permissions, queries
from benchmarks.api.filters import Asked, AskedPage, AskedPlace, Counted, Keyset, paged, tells
from benchmarks.models import Benchmark, Caption, Item, ItemImage, Job


class BenchmarkData(serializers.ModelSerializer):
    item_count = serializers.IntegerField()
    image_count = serializers.IntegerField(help_text="Distinct images.")

    class Meta:
        model = Benchmark
        fields = ["id", "name", "source", "created_at", "item_count", "image_count"]


class CaptionData(serializers.ModelSerializer):
    class Meta:
        model = Caption
        fields = ["role", "position", "text"]


class ImageData(serializers.ModelSerializer):
    identity = serializers.CharField(source="key", help_text="How answers name it: candidate-2.")
    sha256 = serializers.CharField(source="image.sha256", help_text="Of the original file.")
    width = serializers.IntegerField(source="image.width")
    height = serializers.IntegerField(source="image.height")

    class Meta:
        model = ItemImage
        fields = ["identity", "role", "position", "round", "source_name", "sha256", "width", "height", "licence"]


class ItemData(serializers.ModelSerializer):
    captions = CaptionData(many=True)
    images = ImageData(many=True, source="item_images")
    meta = serializers.DictField(help_text="What else its source says of it.")

    class Meta:
        model = Item
        fields = ["id", "key", "position", "type", "subtype", "captions", "images", "meta"]


class JobData(serializers.ModelSerializer):
    problems = serializers.ListField(child=serializers.DictField(), help_text="The first 100.")
    report = serializers.DictField(help_text="What came of it.")

    class Meta:
        model = Job
        fields = [
            "id", "kind", "title", "state", "phase", "done", "total", "problems", "problem_count", "report",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip


class AskedItems(AskedPage):
    key = serializers.CharField(required=False)
    type = serializers.CharField(required=False, allow_blank=True)
    subtype = serializers.CharField(required=False, allow_blank=True)


@tells("benchmarks", BenchmarkData, AskedPlace, Counted)
@api_view(["GET"])
def benchmark_list(request: Request) -> Response:
    """Newest first."""
    AskedPlace.of(request)
    found: QuerySet[Benchmark] = queries.with_counts(Benchmark.objects.all())
    return paged(request, found, BenchmarkData, by=Counted)


@tells("benchmark", BenchmarkData)
@api_view(["GET"])
def benchmark_detail(request: Request, pk: int) -> Response:
    Asked.of(request)
    found = permissions.benchmark_for(request.user, pk)
    return Response(BenchmarkData(queries.with_counts(Benchmark.objects.filter(pk=found.pk)).get()).data)


@tells("items", ItemData, AskedItems, Keyset)
@api_view(["GET"])
def item_list(request: Request, pk: int) -> Response:
    """The benchmark's items with their captions and what is known of their images, in the order of coming in."""
    asked, benchmark = AskedItems.of(request), permissions.benchmark_for(request.user, pk)
    wanted = {name: value for name, value in asked.items() if name in ("key", "type", "subtype")}
    return paged(request, queries.with_material(benchmark.items.filter(**wanted)), ItemData)


@tells("job", JobData)
@api_view(["GET"])
def job_detail(request: Request, pk: int) -> Response:
    """A piece of slow work: how far it is, what was wrong, what came of it."""
    Asked.of(request)
    return Response(JobData(permissions.job_for(request.user, pk)).data)
