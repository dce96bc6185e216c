"""Preparing a stage for annotators: instructions, checks and practice, and items assigned by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.rows import AnnotatorList
from annotation.api.running import StageCommand
from annotation.api.setup import setting
from annotation.api.studies import StudyCommand
from annotation.assignment import by_name, seats
from annotation.checks import attention_checks, gold_items, setup
from annotation.checks.parsing import Known
from annotation.dashboard.checks_views import SettingsForm
from annotation.models import Annotator, Instructions, Kind, Stage
from annotation.studies import instructions_images, lifecycle
from annotation.studies.forms import InstructionsForm
from benchmarks.api.commands import Body, refuse_filters
from benchmarks.api.errors import invalid, wrong_field
from benchmarks.api.forms import as_sent, put, valid
from benchmarks.models import Item

PSEUDONYM = r"^A-[0-9]{2,8}$"


# Instructions


class InstructionsBody(Body):
    text = serializers.CharField(trim_whitespace=False, help_text="In the study's language, in Markdown.")
    translations = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False), required=False,
        help_text="By language. If `text` changes, translations left out are removed: readers get `text`.",
    )  # fmt: skip


class InstructionsData(serializers.ModelSerializer):
    translations = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Instructions
        fields = ["version", "text", "translations"]


class StageInstructions(StageCommand):
    """The stage's instructions. POST saves a new version, which every annotator must read before their next screen."""

    operation, serializer_class = "instructions", InstructionsData
    command, takes, gives, status = "revise_instructions", InstructionsBody, InstructionsData, 200

    def get(self, request: Request, pk: int, position: int) -> Response:
        refuse_filters(request)
        stage = get_object_or_404(self.study.stages, position=position)
        return Response(InstructionsData(stage.instructions.latest("version")).data)

    def act(self, given: dict[str, Any]) -> Instructions:
        facts: dict[str, Any] = {
            "current": self.stage.instructions.latest("version"), "own": self.stage.study.language,
            "images": [picture.name for picture in instructions_images.pictures(self.stage)],
        }  # fmt: skip
        shown, others = InstructionsForm(**facts), given.get("translations", {})
        if unknown := sorted(others.keys() - {code for code, _ in shown.others}):
            raise invalid([wrong_field("translations", f"The study has no other language {unknown[0]}.", "UNKNOWN")])
        data = as_sent(shown, {"text": given["text"], "keep": [*others], **others})
        put(data, "keep_asked", "yes")
        words = valid(InstructionsForm(data, **facts)).words()
        return lifecycle.revise_instructions(stage=self.stage, by=self.by, **words)


# Checks and practice


class _ChecksCommand(StageCommand):
    status, conflicts = 200, "The stage cannot have such checks."
    raises: Mapping[type[Exception], str] = MappingProxyType({gold_items.CannotSet: "CANNOT_SET"})


class QuestionBody(Body):
    question = serializers.CharField(max_length=500)
    options = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2, max_length=20)
    answer = serializers.IntegerField(min_value=0, max_value=19, help_text="The position of the right option, from 0.")

    def validate(self, given: dict) -> dict:
        if given["answer"] >= len(given["options"]):
            raise serializers.ValidationError({"answer": ["That option does not exist."]})
        return {**given}


class ScreeningBody(Body):
    """The changes. Other settings stay as they are."""

    comprehension = serializers.ListField(child=QuestionBody(), required=False, max_length=50)

    def get_fields(self) -> dict[str, serializers.Field]:
        return {name: setting(field) for name, field in SettingsForm.base_fields.items()} | super().get_fields()


class ScreeningData(serializers.ModelSerializer):
    comprehension = serializers.ListField(child=serializers.DictField())
    on_failure = serializers.CharField()

    class Meta:
        model = Stage
        fields = [*SettingsForm.base_fields, "comprehension"]


class StageScreening(_ChecksCommand):
    """Change the rate of checks, the practice pass mark, the tries, the consequence of failing, and the questions."""

    command, takes, gives = "change_screening", ScreeningBody, ScreeningData

    def act(self, given: dict[str, Any]) -> Stage:
        return setup.revise(stage=self.stage, by=self.by, **given)


class KnownBody(Body):
    kind = serializers.ChoiceField([Kind.CHECK, Kind.PRACTICE])
    items = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), allow_empty=False,
        help_text="Item keys → right answers; leave empty for the imported answers, or the protocol's.",
    )  # fmt: skip
    benchmark = serializers.IntegerField(required=False, min_value=1, help_text="The items'; by default the study's.")
    note = serializers.CharField(required=False, default="", max_length=500, help_text="Shown after the answer.")


class KnownData(serializers.Serializer):
    tasks = serializers.ListField(child=serializers.IntegerField(), help_text="The ids of the checks or practice.")


class StageKnown(_ChecksCommand):
    """Turn items into checks or practice, all or none."""

    command, takes, gives, status = "set_known", KnownBody, KnownData, 201

    def act(self, given: dict[str, Any]) -> dict[str, list[int]]:
        benchmark = given.get("benchmark", self.stage.study.benchmark_id)
        there = Item.objects.filter(benchmark=benchmark, key__in=given["items"], withdrawn=False)
        found = {item: given["items"][item.key] for item in there}
        if missing := sorted(given["items"].keys() - {item.key for item in found}):
            raise invalid([wrong_field("items", f"The benchmark has no item {missing[0]}.", "UNKNOWN")])
        if given["kind"] == Kind.CHECK:
            tasks = attention_checks.set_checks(stage=self.stage, answers=found, by=self.by)
        else:
            known = {item: Known(answers, given["note"]) for item, answers in found.items()}
            tasks = gold_items.set_known(stage=self.stage, kind=Kind.PRACTICE, known=known, by=self.by)
        return {"tasks": [task.pk for task in tasks]}


class ForgetBody(Body):
    tasks = serializers.ListField(child=serializers.IntegerField(min_value=1), allow_empty=False)


class ForgottenData(serializers.Serializer):
    removed = serializers.IntegerField(help_text="Gone.")
    retired = serializers.IntegerField(help_text="Items already answered: they stay, but are no longer shown.")


class StageForget(_ChecksCommand):
    """Remove checks or practice."""

    command, takes, gives = "remove_known", ForgetBody, ForgottenData

    def act(self, given: dict[str, Any]) -> dict[str, int]:
        gone, retired = attention_checks.remove_checks(stage=self.stage, tasks=given["tasks"], by=self.by)
        return {"removed": gone, "retired": retired}


# By name


class NewAnnotatorBody(Body):
    name = serializers.CharField(max_length=Annotator._meta.get_field("name").max_length, help_text="For managers.")
    stage = serializers.IntegerField(required=False, min_value=1, max_value=1000, help_text="The only stage.")


class NewAnnotatorData(serializers.Serializer):
    annotator = serializers.CharField(source="pseudonym")
    link = serializers.CharField(allow_null=True, help_text="Personal. Not stored, so null in a repeated response.")


class Annotators(StudyCommand, AnnotatorList):
    """The annotators who have joined, with their stages and counts of their judgments. POST adds one by name."""

    command, takes, gives, shown_once = "add_annotator", NewAnnotatorBody, NewAnnotatorData, ("link",)

    def act(self, given: dict[str, Any]) -> Annotator:
        stage = self.study.stages.filter(position=given["stage"]).first() if "stage" in given else None
        if "stage" in given and stage is None:
            raise invalid([wrong_field("stage", "This study has no such stage.", "UNKNOWN")])
        who = seats.join(study=self.study, stage=stage, name=given["name"], by=self.by)
        vars(who)["link"] = self.request.build_absolute_uri(reverse("judge", args=[who.token]))
        return who


class AssignBody(Body):
    annotators = serializers.ListField(child=serializers.RegexField(PSEUDONYM), allow_empty=False, max_length=1000)
    items = serializers.ListField(child=serializers.CharField(), allow_empty=False, help_text="Their keys.")


class AssignedData(serializers.Serializer):
    judgments = serializers.IntegerField(help_text="How many items were assigned, or taken back.")


class StageAssign(StageCommand):
    """Assign items to annotators, in a stage that is assigned by name, all or nothing."""

    command, takes, gives, status = "assign", AssignBody, AssignedData, 200
    conflicts = "The stage is not assigned by name, or an annotator cannot get an item."
    raises: Mapping[type[Exception], str] = MappingProxyType({by_name.CannotAssign: "CANNOT_ASSIGN"})

    def people(self, names: list[str]) -> list[Annotator]:
        numbers = [int(name.removeprefix("A-")) for name in names]
        found = {one.pseudonym: one for one in self.stage.study.annotators.filter(number__in=numbers)}
        if unknown := [name for name in names if name not in found]:
            raise invalid([wrong_field("annotators", f"This study has no annotator {unknown[0]}.", "UNKNOWN")])
        return [found[name] for name in names]

    def act(self, given: dict[str, Any]) -> dict[str, int]:
        facts = {"annotators": self.people(given["annotators"]), "keys": given["items"]}
        return {"judgments": by_name.assign(stage=self.stage, by=self.by, **facts)}


class UnassignBody(AssignBody):
    items = serializers.ListField(child=serializers.CharField(), required=False, help_text="Item keys; empty for all.")


class StageUnassign(StageAssign):
    """Take back these items (or all) from annotators who have not started them."""

    command, takes = "take_back", UnassignBody

    def act(self, given: dict[str, Any]) -> dict[str, int]:
        facts = {"stage": self.stage, "keys": given.get("items"), "by": self.by}
        return {"judgments": sum(by_name.unassign(annotator=one, **facts) for one in self.people(given["annotators"]))}
