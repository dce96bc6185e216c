"""The read-only API of benchmarks, their items, and jobs; docs/reference/api.md shows how to use it."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView

from benchmarks import permissions, queries
from benchmarks.api.endpoints import Counted, CursorFilters, Endpoint, Keyset, OffsetFilters
from benchmarks.models import Benchmark, Caption, Item, ItemImage, Job


class BenchmarkData(serializers.ModelSerializer):
    item_count = serializers.IntegerField()
    image_count = serializers.IntegerField(help_text="Number of distinct images.")

    class Meta:
        model = Benchmark
        fields = ["id", "name", "source", "created_at", "item_count", "image_count"]


class CaptionData(serializers.ModelSerializer):
    attributes = serializers.DictField(help_text="What its source says of it, such as its model.")

    class Meta:
        model = Caption
        fields = ["role", "position", "text", "attributes"]


class ImageData(serializers.ModelSerializer):
    identity = serializers.CharField(source="key", help_text="Its name in answers, such as candidate-2.")
    sha256 = serializers.CharField(source="image.sha256", help_text="SHA-256 of the original file.")
    width = serializers.IntegerField(source="image.width")
    height = serializers.IntegerField(source="image.height")
    attributes = serializers.DictField(help_text="What its source says of it, such as its model.")

    class Meta:
        model = ItemImage
        fields = [
            "identity", "role", "position", "round", "source_name", "sha256", "width", "height", "licence",
            "attributes",
        ]  # fmt: skip


class ItemData(serializers.ModelSerializer):
    captions = CaptionData(many=True)
    images = ImageData(many=True, source="item_images")
    meta = serializers.DictField(help_text="Further information from its source.")

    class Meta:
        model = Item
        fields = ["id", "key", "position", "type", "subtype", "captions", "images", "meta"]


class JobData(serializers.ModelSerializer):
    problems = serializers.ListField(child=serializers.DictField(), help_text="The first 100 problems.")
    report = serializers.DictField(help_text="The result.")

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
