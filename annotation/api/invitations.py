"""Invitations to a study, and its exchange with Prolific: codes, and the results of submissions."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.studies import StudyCommand, StudyEndpoint
from annotation.models import Role, Stage, Study
from annotation.participants import prolific
from annotation.participants.views import CodesForm, invitation
from benchmarks.api.commands import Body, refuse_filters
from benchmarks.api.endpoints import Counted, OffsetFilters
from benchmarks.api.errors import invalid, wrong_field
from benchmarks.api.forms import valid

CODE = Study._meta.get_field("completion_code").max_length


class InvitationData(serializers.Serializer):
    stage = serializers.IntegerField(allow_null=True, help_text="The stage it starts at; null for the whole study.")
    name = serializers.CharField(help_text="The stage's name, or empty.")
    follows = serializers.ListField(
        child=serializers.CharField(), help_text="Stages to which this one's annotators continue."
    )
    link = serializers.CharField()
    prolific_link = serializers.CharField(help_text="The same link with Prolific's parameters, to paste into Prolific.")


class Invitations(StudyEndpoint, ListAPIView):
    """The links by which annotators join the study or a stage. Only managers can get them."""

    operation, serializer_class, needs = "invitations", InvitationData, Role.MANAGER
    filters, pagination_class = OffsetFilters, Counted

    def get_queryset(self):
        to: list[tuple[int | None, str, list[str], Study | Stage]] = [(None, "", [], self.study)]
        for stage in self.study.stages.prefetch_related("followers").order_by("position"):
            to.append((stage.position, stage.name, [after.name for after in stage.followers.all()], stage))
        rows = []
        for position, name, follows, target in to:
            link = invitation(self.request._request, target)
            both = {"link": link, "prolific_link": prolific.with_parameters(link)}
            rows.append({"stage": position, "name": name, "follows": follows, **both})
        return rows


class ProlificBody(Body):
    completion_code = serializers.CharField(max_length=CODE)
    screened_out_code = serializers.CharField(max_length=CODE)
    no_consent_code = serializers.CharField(max_length=CODE)


class ProlificData(serializers.Serializer):
    completion_code = serializers.CharField(help_text="For annotators who have finished.")
    screened_out_code = serializers.CharField(help_text="For annotators who were screened out.")
    no_consent_code = serializers.CharField(help_text="For annotators who did not agree.")


class ProlificSettings(StudyCommand):
    """The codes with which annotators return to Prolific. POST sets all three, which must differ."""

    operation, serializer_class, look = "prolific", ProlificData, Role.MANAGER
    command, takes, gives, status = "set_prolific", ProlificBody, ProlificData, 200

    def get(self, request: Request, pk: int) -> Response:
        refuse_filters(request)
        return Response(ProlificData(self.study).data)

    def act(self, given: dict[str, Any]) -> Study:
        return prolific.set_codes(study=self.study, by=self.by, **valid(CodesForm(given)).cleaned_data)


class ReturnedBody(Body):
    csv = serializers.CharField(trim_whitespace=False, max_length=5_000_000, help_text="Prolific's export, unchanged.")


class ReturnedData(serializers.Serializer):
    statuses = serializers.DictField(child=serializers.IntegerField(), help_text="Submissions by status at Prolific.")
    left = serializers.ListField(child=serializers.CharField(), help_text="Annotators who are now marked as left.")
    older = serializers.IntegerField(help_text="Earlier submissions of returning participants, ignored.")
    unknown = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Prolific IDs that are not in this study. Not stored, so null in a repeated response.",
    )


class ProlificReturned(StudyCommand):
    """Mark annotators as left if their submissions were returned or timed out in Prolific's export."""

    command, takes, gives, status = "read_prolific_export", ReturnedBody, ReturnedData, 200
    shown_once = ("unknown",)

    def act(self, given: Mapping[str, Any]) -> prolific.Report:
        try:
            found = prolific.read(given["csv"].encode())
        except prolific.Unreadable as why:
            raise invalid([wrong_field("csv", str(why), "UNREADABLE")]) from None
        return prolific.mark_gone(study=self.study, found=found, by=self.by)
