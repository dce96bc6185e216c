"""The read-only API of studies and their stages, for those who may look at them; docs/reference/api.md shows it in use."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api import figures
from annotation.api.filters import AskedAgreement, AskedStage, AskedStudies, stage_asked
from annotation.api.serializers import AgreementData, StageData, StageDetailData, StudyData, StudyDetailData
from annotation.exports.readme import settings_of
from annotation.figures import agreement
from annotation.figures.study_list import with_people, with_stages
from annotation.models import Study
from annotation.pipeline.outcomes import rule_of
from benchmarks.api.filters import Asked, AskedPlace, Counted, paged, tells
from benchmarks.audit import named

HIDDEN = {"comprehension": None}  # of a stage's settings, from viewers: it has the right answers


@tells("studies", StudyData, AskedStudies, Counted)
@api_view(["GET"])
def study_list(request: Request) -> Response:
    """The studies that you are a member of, newest first."""
    asked, found = AskedStudies.of(request), permissions.studies_for(request.user)
    if "state" in asked:
        found = found.filter(state=asked["state"])
    return paged(request, with_people(found), StudyData, with_stages, Counted)


@tells("study", StudyDetailData)
@api_view(["GET"])
def study_detail(request: Request, pk: int) -> Response:
    """The study with its stages and its funnel; docs/reference/measures.md defines the counts."""
    Asked.of(request)
    study = _with_stages(request, pk)
    study.funnel = figures.funnel_of(study, named(request.user))
    return Response(StudyDetailData(study).data)


@tells("stages", StageData, AskedPlace, Counted)
@api_view(["GET"])
def stage_list(request: Request, pk: int) -> Response:
    """The study's stages in their order, with what is done of each."""
    AskedPlace.of(request)
    return paged(request, _with_stages(request, pk).rows, StageData, by=Counted)


@tells("stage", StageDetailData)
@api_view(["GET"])
def stage_detail(request: Request, pk: int, position: int) -> Response:
    """One stage, with every setting that decides what was asked, of whom, and what was made of it."""
    Asked.of(request)
    study = _with_stages(request, pk)
    stage = get_object_or_404(study.stages.select_related("source", "after"), position=position)
    (row,) = [row for row in study.rows if row.position == position]
    return Response({**StageData(row).data, "settings": settings_of(stage) | ({} if study.may.manage else HIDDEN)})


@tells("figures", OpenApiTypes.OBJECT, AskedStage)
@api_view(["GET"])
def study_figures_data(request: Request, pk: int) -> Response:
    """Every figure of one stage, as on the study page and in figures.json; docs/reference/measures.md defines them."""
    asked = AskedStage.of(request)
    stage = stage_asked(permissions.study_for(request.user, pk), asked)
    return Response(figures.figures_of(stage, named(request.user)))


@tells("agreement", AgreementData, AskedAgreement)
@api_view(["GET"])
def study_agreement(request: Request, pk: int) -> Response:
    """Every agreement measure of one stage, on the answer or on a projection of it."""
    asked, study = AskedAgreement.of(request), permissions.study_for(request.user, pk)
    stage, view = stage_asked(study, asked), asked["view"]
    views = rule_of(stage).projections()
    if view not in views:
        raise ValidationError({"view": [f"There is no such view of this stage. There are: {', '.join(views)}."]})
    found = agreement.look(stage, view, by=named(request.user))
    told = {"current": found.current, "made_at": found.made_at, "job": found.job and found.job.pk}
    return Response(AgreementData({"stage": stage.position, "view": view, **told, "measures": found.data}).data)


def _with_stages(request: Request, pk: int) -> Study:
    """The study with its people, the rows of its stages, and what one may do in it."""
    may = permissions.study_for(request.user, pk).may
    (study,) = with_stages(with_people(permissions.studies_for(request.user).filter(pk=pk)))
    study.may = may
    return study
