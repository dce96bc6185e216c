"""Endpoints for readers other than members: the page of results to share, and the errors that readers report."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from annotation import permissions
from annotation.api.studies import StudyCommand
from annotation.models import ReaderReport, Role
from annotation.models.reader_reports import Answered
from annotation.reader_reports import reports
from annotation.reader_reports.address import address_of
from annotation.studies import sharing
from benchmarks.api.commands import Body, Command
from benchmarks.api.endpoints import Counted, OffsetFilters
from benchmarks.permissions import benchmark_for


class ShareBody(Body):
    shared = serializers.BooleanField()


class SharedData(serializers.Serializer):
    address = serializers.CharField(allow_null=True, help_text="Everybody with it can read the results; null if off.")


class StudyShare(StudyCommand):
    """Turn the shared results page on, or off for good: its address then stops working."""

    command, takes, gives, status = "share_results", ShareBody, SharedData, 200

    def act(self, given: dict[str, Any]) -> dict[str, str | None]:
        if not given["shared"]:
            sharing.stop_sharing(study=self.study, by=self.by)
            return {"address": None}
        token = sharing.share(study=self.study, by=self.by).token
        return {"address": self.request.build_absolute_uri(reverse("shared-results", args=[token]))}


class ReportData(serializers.ModelSerializer):
    item = serializers.CharField(source="key", help_text="As the reader entered it.")
    answer = serializers.ChoiceField(["", *Answered.values], help_text="Empty if nobody has answered.")

    class Meta:
        model = ReaderReport
        fields = ["id", "item", "text", "created_at", "answer", "answered_at"]


class DoorBody(Body):
    who = serializers.ChoiceField(["everybody", "members", "nobody"], help_text="`members`: users who are logged in.")


class DoorData(serializers.Serializer):
    address = serializers.CharField(allow_blank=True, help_text="With `{id}` for the item's id; empty if not set.")


class ReportList(StudyCommand, ListAPIView):
    """The errors that readers have reported, newest first. POST sets who may report."""

    operation, serializer_class, filters, pagination_class = "reader_reports", ReportData, OffsetFilters, Counted
    command, takes, gives, status = "set_who_may_report", DoorBody, DoorData, 200

    def get_queryset(self) -> QuerySet[ReaderReport]:
        return self.study.reader_reports.all()

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        who = given["who"]
        reports.set_door(study=self.study, exists=who != "nobody", is_open=who == "everybody", by=self.by)
        return {"address": address_of(self.study)}


class AnswerBody(Body):
    answer = serializers.ChoiceField(Answered.choices, help_text="`withdrawn` withdraws the item.")


class ReportAnswer(Command):
    """Answer a report with what was done."""

    command, takes, gives, status = "answer_report", AnswerBody, ReportData, 200

    def permit(self) -> None:
        self.report = get_object_or_404(ReaderReport, pk=self.kwargs["pk"])
        self.study = permissions.study_for(self.user, self.report.study_id, Role.MANAGER)

    def act(self, given: dict[str, Any]) -> ReaderReport:
        if given["answer"] == Answered.WITHDRAWN:
            benchmark_for(self.user, self.study.benchmark_id, change=True)
        return reports.answer(report=self.report, answer=Answered(given["answer"]), by=self.by, answered_by=self.user)
