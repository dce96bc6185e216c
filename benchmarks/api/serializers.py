"""The fields of the API of benchmarks and jobs."""

from django.urls import reverse
from rest_framework import serializers

from benchmarks.api.errors import ErrorData
from benchmarks.models import Benchmark, Caption, Item, ItemImage, Job


class BenchmarkData(serializers.ModelSerializer):
    item_count = serializers.IntegerField()

    class Meta:
        model = Benchmark
        fields = ["id", "name", "source", "created_at", "item_count"]


class CaptionData(serializers.ModelSerializer):
    attributes = serializers.DictField(help_text="Information from its source, such as its model.")

    class Meta:
        model = Caption
        fields = ["role", "position", "text", "attributes"]


class ImageData(serializers.ModelSerializer):
    identity = serializers.CharField(source="key", help_text="Its name in answers, such as candidate-2.")
    sha256 = serializers.CharField(source="image.sha256", help_text="SHA-256 of the original file.")
    url = serializers.SerializerMethodField(help_text="Its bytes, for anyone with the address.")
    width = serializers.IntegerField(source="image.width")
    height = serializers.IntegerField(source="image.height")
    attributes = serializers.DictField(help_text="Information from its source, such as its model.")

    class Meta:
        model = ItemImage
        fields = [
            "identity", "role", "position", "round", "source_name", "sha256", "url", "width", "height", "licence",
            "attributes",
        ]  # fmt: skip

    def get_url(self, one: ItemImage) -> str:
        return self.context["request"].build_absolute_uri(reverse("image", args=[one.image.opaque]))


class ItemData(serializers.ModelSerializer):
    captions = CaptionData(many=True)
    images = ImageData(many=True, source="item_images")
    meta = serializers.DictField(help_text="Further information from its source.")

    class Meta:
        model = Item
        fields = ["id", "key", "position", "type", "subtype", "captions", "images", "meta"]


class JobData(serializers.ModelSerializer):
    problems = ErrorData(many=True, help_text="The first 100 reasons why it failed.")
    report = serializers.DictField(help_text="The result of a finished job.")

    class Meta:
        model = Job
        fields = [
            "id", "kind", "title", "state", "phase", "done", "total", "problems", "problem_count", "report",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip


class GoneData(serializers.Serializer):
    deleted = serializers.CharField(help_text="Its name.")
