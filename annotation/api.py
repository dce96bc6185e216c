"""The read-only API of studies, for staff."""

from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.figures import study_figures
from annotation.funnel import funnel
from annotation.models import Study
from annotation.queries import with_people, with_stages


class StageData(serializers.Serializer):
    position = serializers.IntegerField()
    name = serializers.CharField()
    protocol = serializers.CharField()
    state = serializers.CharField()
    overlap = serializers.IntegerField()
    tasks = serializers.IntegerField()
    settled = serializers.IntegerField()
    kept = serializers.IntegerField()
    judgments_wanted = serializers.IntegerField(source="wanted")
    judgments_counted = serializers.IntegerField(source="judged")


class StudyData(serializers.ModelSerializer):
    benchmark = serializers.CharField(source="benchmark.name")
    stages = StageData(many=True, source="rows")
    judgments_wanted = serializers.IntegerField(source="wanted")
    judgments_counted = serializers.IntegerField(source="judged")
    annotators = serializers.IntegerField(source="people")

    class Meta:
        model = Study
        fields = [
            "id", "name", "benchmark", "state", "stages", "judgments_wanted", "judgments_counted", "annotators",
            "pay_per_hour", "currency", "created_at",
        ]  # fmt: skip


@api_view(["GET"])
def study_list(request: Request) -> Response:
    pages = LimitOffsetPagination()
    page = pages.paginate_queryset(with_people(Study.objects.all()), request)
    return pages.get_paginated_response(StudyData(with_stages(page), many=True).data)


@api_view(["GET"])
def study_detail(request: Request, pk: int) -> Response:
    """The study with its stages and its funnel; docs/measures.md defines the counts."""
    study = access.study_for(request.user, pk)
    (with_rows,) = with_stages(with_people(Study.objects.filter(pk=study.pk)))
    return Response({**StudyData(with_rows).data, "funnel": funnel(study)})


@api_view(["GET"])
def study_figures_data(request: Request, pk: int) -> Response:
    """The figures of one stage (`?stage=2`; the first where none is named), as on the study page."""
    return Response(study_figures(access.stage_for(request.user, pk, request.GET.get("stage", ""))))
