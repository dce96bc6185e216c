"""The read-only API of benchmarks, their items, and jobs; docs/reference/api.md shows it in use."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView

from benchmarks import permissions, queries
from benchmarks.api.endpoints import Counted, CursorFilters, Endpoint, Keyset, OffsetFilters
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


class ItemFilters(CursorFilters):
    key = serializers.CharField(required=False)
    type = serializers.CharField(required=False, allow_blank=True)
    subtype = serializers.CharField(required=False, allow_blank=True)


class BenchmarkList(Endpoint, ListAPIView):
    """Newest first."""

    operation, serializer_class, filters, pagination_class = "benchmarks", BenchmarkData, OffsetFilters, Counted
    queryset = queries.with_counts(Benchmark.objects.all())


class BenchmarkDetail(Endpoint, RetrieveAPIView):
    operation, serializer_class = "benchmark", BenchmarkData
    queryset = queries.with_counts(Benchmark.objects.all())


class ItemList(Endpoint, ListAPIView):
    """The benchmark's items with their captions and what is known of their images, in the order of coming in."""

    operation, serializer_class, filters, pagination_class = "items", ItemData, ItemFilters, Keyset

    def get_queryset(self) -> QuerySet[Item]:
        return queries.with_material(permissions.benchmark_for(self.request.user, self.kwargs["pk"]).items.all())


class JobDetail(Endpoint, RetrieveAPIView):
    """A piece of slow work: how far it is, what was wrong, what came of it."""

    operation, serializer_class = "job", JobData
    queryset = Job.objects.select_related("created_by")

    def check_object_permissions(self, request, job: Job) -> None:
        permissions.check_job(request.user, job, change=False)
