"""The read-only API of studies, for staff."""

from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.figures import study_figures
from annotation.models import Study
from annotation.queries import with_progress


class StudyData(serializers.ModelSerializer):
    benchmark = serializers.CharField(source="benchmark.name")
    protocol = serializers.CharField()
    overlap = serializers.IntegerField()
    judgments_wanted = serializers.IntegerField(source="wanted")
    judgments_counted = serializers.IntegerField(source="judged")
    annotators = serializers.IntegerField(source="people")

    class Meta:
        model = Study
        fields = [
            "id", "name", "benchmark", "state", "protocol", "overlap", "judgments_wanted", "judgments_counted",
            "annotators", "pay_per_hour", "currency", "created_at",
        ]  # fmt: skip


@api_view(["GET"])
def study_list(request: Request) -> Response:
    pages = LimitOffsetPagination()
    page = pages.paginate_queryset(with_progress(Study.objects.all()), request)
    return pages.get_paginated_response(StudyData(page, many=True).data)


@api_view(["GET"])
def study_detail(request: Request, pk: int) -> Response:
    stage = access.stage_for(request.user, pk)
    return Response(StudyData(with_progress(Study.objects.all()).get(pk=stage.study_id)).data)


@api_view(["GET"])
def study_figures_data(request: Request, pk: int) -> Response:
    """The dictionary behind the study page; docs/measures.md defines its figures."""
    return Response(study_figures(access.stage_for(request.user, pk)))
