"""A study's settings, members and deletion, as on *Settings* and with the same locks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.urls import reverse
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api.setup import setting
from annotation.api.studies import StudyCommand
from annotation.dashboard.settings_page import stages_of
from annotation.models import Member, Role
from annotation.studies import deletion, members
from annotation.studies.forms import MemberForm
from annotation.studies.settings_form import OF_STAGE, OF_STUDY, StudySettingsForm
from annotation.studies.setup_forms import StageForm
from annotation.studies.study_form import StudyForm
from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.endpoints import Counted, OffsetFilters
from benchmarks.api.errors import form_problems, invalid, wrong_field
from benchmarks.api.forms import FormBody, as_sent, body_field, valid
from benchmarks.api.serializers import GoneData
from benchmarks.api.views import Archive, DeleteBody
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.seen import latest

CANNOT_CHANGE: Mapping[type[Exception], str] = MappingProxyType({members.CannotChange: "CANNOT_CHANGE"})


# Settings


class StageSettingsBody(Body):
    def get_fields(self) -> dict[str, serializers.Field]:
        return {name: setting(StageForm.base_fields[name]) for name in OF_STAGE}


class SettingsBody(Body):
    """The changes. Other settings stay as they are."""

    stages = serializers.DictField(child=StageSettingsBody(), required=False, help_text="By the stage's name.")

    def get_fields(self) -> dict[str, serializers.Field]:
        own = {name: body_field(StudyForm.base_fields[name], required=False) for name in OF_STUDY}
        return own | super().get_fields()


class SettingsData(serializers.Serializer):
    stages = serializers.DictField(child=serializers.DictField(), help_text="By the stage's name.")
    locked = serializers.DictField(
        child=serializers.CharField(), help_text="Setting (`currency`, `stages.choose.overlap` …) → why it is locked."
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        return {name: serializers.CharField() for name in OF_STUDY} | super().get_fields()


class StudySettings(StudyCommand):
    """The settings that can change while people judge, and why others can't. POST changes some, all or nothing."""

    operation, serializer_class, look = "settings", SettingsData, Role.MANAGER
    command, takes, gives, status = "change_settings", SettingsBody, SettingsData, 200

    def get(self, request: Request, pk: int) -> Response:
        refuse_filters(request)
        return Response(SettingsData(self.state(self.form())).data)

    def form(self, data: Any = None) -> StudySettingsForm:
        return StudySettingsForm(data, study=self.study, stages=stages_of(self.study))

    def names(self, form: StudySettingsForm) -> dict[str, str]:
        """Map the form's fields to their names in the API."""
        of_stages = ((stage, name) for stage in form.stages for name in OF_STAGE)
        return {f"{name}_{stage.position}": f"stages.{stage.name}.{name}" for stage, name in of_stages}

    def state(self, form: StudySettingsForm) -> dict[str, Any]:
        names, fields = self.names(form), form.fields.items()
        locked = {names.get(name, name): field.locked for name, field in fields if field.locked}  # type: ignore[attr-defined]
        stages = {one.name: {name: getattr(one, name) for name in OF_STAGE} for one in form.stages}
        return {**{name: getattr(self.study, name) for name in OF_STUDY}, "stages": stages, "locked": locked}

    def act(self, given: dict[str, Any]) -> dict[str, Any]:
        with latest(self.study, self.request):
            shown = self.form()
            positions = {stage.name: stage.position for stage in shown.stages}
            stages = given.pop("stages", {})
            if unknown := sorted(stages.keys() - positions):
                says = f"This study has no stage {unknown[0]}. Its stages are {', '.join(positions)}."
                raise invalid([wrong_field(f"stages.{unknown[0]}", says, "UNKNOWN_FIELD")])
            given |= {f"{name}_{positions[stage]}": one for stage, of in stages.items() for name, one in of.items()}
            names = self.names(shown)
            form = valid(self.form(as_sent(shown, given)), names)
            if not form.save(self.by):
                raise invalid(form_problems(form, names))
        self.study.refresh_from_db()
        return self.state(self.form())


class StudyArchive(Archive, StudyCommand):
    """Archive the study, or bring it back into the list."""

    command = "archive_study"

    def permit(self) -> None:
        self.thing = self.study


class DeleteStudyBody(DeleteBody):
    releases = serializers.BooleanField(default=False, help_text="Also delete frozen releases.")


class StudyDelete(StudyCommand):
    """Delete the study with its judgments, exports and, if you choose, releases. Its benchmark stays."""

    command, takes, gives, status, one_transaction = "delete_study", DeleteStudyBody, GoneData, 200, False
    conflicts = "It has frozen releases, one of its jobs is running, or it is too large to delete by request."
    raises: Mapping[type[Exception], str] = MappingProxyType({CannotDelete: "CANNOT_DELETE"})
    change = Role.OWNER

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        deletion.delete_named(study=self.study, by=self.by, **given)
        return {"deleted": given["name"]}


# Members


class MemberData(serializers.ModelSerializer):
    name = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Role.choices)

    class Meta:
        model = Member
        fields = ["id", "name", "role", "added_at"]


class MemberBody(FormBody):
    form = MemberForm
    role = serializers.ChoiceField(Role.choices)


class MemberList(StudyCommand, ListAPIView):
    """The study's members, in the order in which they were added. POST adds one, by name or e-mail address."""

    operation, serializer_class, filters, pagination_class = "members", MemberData, OffsetFilters, Counted
    command, takes, gives, raises = "add_member", MemberBody, MemberData, CANNOT_CHANGE
    look, change, conflicts = Role.MANAGER, Role.OWNER, "The user does not exist, or is already a member."

    def get_queryset(self):
        return members.members_of(self.study)

    def act(self, given: dict[str, Any]) -> Member:
        return members.add_by_name(study=self.study, by=self.by, **given)

    def location(self, made: Member) -> str:
        return reverse("api-member-list", args=[self.study.pk])


class RoleBody(Body):
    role = serializers.ChoiceField(Role.choices)


class _MemberCommand(Command):
    status, raises, conflicts = 200, CANNOT_CHANGE, "The study would have no owner left."

    def permit(self) -> None:
        self.member = permissions.member_for(self.user, self.kwargs["pk"], self.kwargs["member"])


class MemberChange(_MemberCommand):
    """Give a member another role."""

    command, takes, gives = "change_member", RoleBody, MemberData

    def act(self, given: dict[str, Any]) -> Member:
        return members.change(member=self.member, by=self.by, **given)


class RemovedData(serializers.Serializer):
    removed = serializers.CharField(help_text="The member's name.")


class MemberRemove(_MemberCommand):
    """Remove a member."""

    command, gives = "remove_member", RemovedData

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        members.remove(member=self.member, by=self.by)
        return {"removed": self.member.user.get_username()}
