"""Studies, their stages and statistics, for those who may view them; docs/reference/api.md shows the API in use."""

from functools import cached_property

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api import figures
from annotation.api.filters import AgreementFilters, FiguresFilters
from annotation.api.serializers import (
    AgreementData,
    ProtocolData,
    StageData,
    StageDetailData,
    StudyData,
    StudyDetailData,
)
from annotation.exports.protocol_files import describe_file, text_of
from annotation.exports.readme import settings_of
from annotation.figures import agreement, funnel
from annotation.figures.study_list import StageRow, with_people, with_stages
from annotation.models import Role, Stage, Study
from annotation.pipeline.stage_rules import rule_in_words, rule_of
from annotation.protocols import in_words
from annotation.protocols.registry import protocol_named
from benchmarks.api.commands import Command
from benchmarks.api.endpoints import Counted, Endpoint, OffsetFilters

HIDDEN = {"comprehension": None}  # a stage's settings hidden from viewers: it has the right answers


class StudyDetail(Endpoint, RetrieveAPIView):
    """The study with its stages and its funnel; docs/reference/measures.md defines the counts."""

    operation, serializer_class = "study", StudyDetailData

    def get_queryset(self) -> QuerySet[Study]:
        return with_people(permissions.studies_for(self.request.user))

    def retrieve(self, request: Request, *args, **kwargs) -> Response:
        (study,) = with_stages([self.get_object()])
        return Response({**StudyData(study).data, "funnel": funnel.latest(study, by=self.by).data})


class StudyEndpoint(Endpoint):
    """An endpoint for the study `pk`, limited to the stages selected by the filter `stage`."""

    needs = Role.VIEWER

    @cached_property
    def study(self) -> Study:
        return permissions.study_for(self.request.user, self.kwargs["pk"], self.needs)

    @cached_property
    def all_stages(self) -> list[Stage]:
        return list(self.study.stages.order_by("position"))

    @cached_property
    def stages(self) -> list[Stage]:
        asked = self.asked.get("stage")
        return [stage for stage in self.all_stages if asked in (None, stage.position)]

    @property
    def rows(self) -> list[StageRow]:
        """Return the study's stages with their counts."""
        return vars(with_stages([self.study])[0])["rows"]


class StudyCommand(Command):
    """A POST for the role `change`, optionally with a GET for the role `look`."""

    look, change, fetches = Role.VIEWER, Role.MANAGER, "study"

    @cached_property
    def study(self) -> Study:
        needs = permissions.needed(self.request._request, look=self.look, change=self.change)
        return permissions.study_for(self.user, self.kwargs["pk"], needs)


class StageList(StudyEndpoint, ListAPIView):
    """The study's stages in order, with their progress."""

    operation, serializer_class, filters, pagination_class = "stages", StageData, OffsetFilters, Counted

    def get_queryset(self):
        return self.rows


class StageDetail(StudyEndpoint):
    """One stage, with every setting that decides what was asked, who was asked, and how answers became outcomes."""

    operation, serializer_class = "stage", StageDetailData

    def get(self, request: Request, pk: int, position: int) -> Response:
        stages = self.filter_queryset(self.study.stages.select_related("source", "after"))
        stage = get_object_or_404(stages, position=position)
        (row,) = [row for row in self.rows if row.position == position]
        settings = settings_of(stage) | ({} if self.study.may.manage else HIDDEN)
        return Response({**StageData(row).data, "settings": settings})


class StageProtocol(StudyEndpoint):
    """A stage's questions, possible answers and rules; the protocol file if it has one."""

    operation, serializer_class = "stage_protocol", ProtocolData

    def get(self, request: Request, pk: int, position: int) -> Response:
        stage = get_object_or_404(self.filter_queryset(self.study.stages.all()), position=position)
        protocol = protocol_named(stage.protocol)
        found: dict[str, object] = {
            "protocol": protocol.name,
            "title": protocol.title,
            "question": protocol.question,
            "answers": in_words.answers_in_words(protocol.file) if protocol.file else [],
            "decision_rule": rule_in_words(stage),
            "measures": in_words.measures_in_words(protocol.file) if protocol.file else [],
            "file": None,
        }
        if protocol.file:
            found["file"] = {**describe_file(protocol.name), "text": text_of(protocol.name)}
        return Response(ProtocolData(found).data)


class StudyFiguresData(StudyEndpoint):
    """Every statistic of one stage, as on the study page and in figures.json, without pairs of annotators unless
    requested; docs/reference/measures.md defines them.
    """

    operation, filters = "figures", FiguresFilters
    refusals = {503: "A worker is computing the numbers for the first time; `Retry-After` says when to ask again."}

    def get(self, request: Request, pk: int) -> Response:
        return Response(figures.stage_figures(self.stages[0], self.by, pairs=self.asked.get("pairs", False)))


class StudyAgreement(StudyEndpoint):
    """Every agreement measure for one stage, on the answer or a projection of it."""

    operation, serializer_class, filters = "agreement", AgreementData, AgreementFilters

    def get(self, request: Request, pk: int) -> Response:
        stage, view = self.stages[0], self.asked["view"]
        views = rule_of(stage).projections()
        if view not in views:
            raise ValidationError({"view": [f"This stage has no such view. Choose one of {', '.join(views)}."]})
        found = agreement.latest(stage, view, by=self.by)
        state = {"current": found.current, "made_at": found.made_at, "job": found.job and found.job.pk}
        return Response(AgreementData({"stage": stage.position, "view": view, **state, "measures": found.data}).data)
