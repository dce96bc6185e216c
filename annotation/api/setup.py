"""New studies and published protocol files: the form of *New study*, filled in from its starting point."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from django import forms
from django.http import QueryDict
from django.urls import reverse
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from annotation import permissions
from annotation.api.filters import StudyFilters
from annotation.api.serializers import StudyData
from annotation.checks.fields import PercentField
from annotation.designs import part
from annotation.designs.plan import StagePlan
from annotation.designs.presets import PRESETS, unsuited, with_roles_of_benchmark
from annotation.figures.study_list import with_people, with_stages
from annotation.models import ProtocolVersion, Role, Study
from annotation.participants.views import invitation
from annotation.permissions import reaches
from annotation.protocol_files.drafts import MOST
from annotation.protocol_files.publish import NameTaken, publish
from annotation.protocols.registry import is_known
from annotation.protocols.roles import CannotMap
from annotation.studies import lifecycle, starting_points
from annotation.studies.cards import offers
from annotation.studies.setup import Setup
from annotation.studies.setup_forms import StageForm
from annotation.studies.starting_points import StartingPoint
from annotation.studies.study_form import StudyForm
from benchmarks import queries
from benchmarks.api.commands import Body, Command
from benchmarks.api.endpoints import Counted, OffsetFilters
from benchmarks.api.errors import INVALID, CannotAnswer, conflict, form_problems, invalid, wrong_field
from benchmarks.api.forms import as_sent, body_field
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.models import Benchmark
from benchmarks.records import Problem

MOST_NAMED = 5  # starting points named in a refusal
ONE_START = "Send one of `preset`, `protocol`, `protocols` and `template`."
STARTS = ("preset", "protocol", "protocols", "template")


class _ChoiceOfStage(serializers.ChoiceField):
    """Leaves an unknown word to the stage's form, whose choices depend on the question."""

    def to_internal_value(self, data: Any) -> Any:
        return data if isinstance(data, str) else super().to_internal_value(data)


def setting(field: forms.Field) -> serializers.Field:
    """Return a stage's setting as the API takes it, with percentages as shares."""
    if type(field) is forms.ChoiceField:
        return _ChoiceOfStage([*getattr(field, "choices", ())], required=False, help_text=field.label)
    if isinstance(field, PercentField):
        most: Any = field.max_value
        says: dict[str, Any] = {"required": False, "help_text": field.label}
        return serializers.FloatField(min_value=0, max_value=most / 100, allow_null=True, **says)
    return body_field(field, required=False, help_text=field.label)


class StageBody(Body):
    """Settings of a stage that differ from its starting point."""

    def get_fields(self) -> dict[str, Any]:
        fields = StageForm.base_fields.items()
        return {name: setting(field) for name, field in fields if name not in StageForm.ASSUMED}


class PartBody(Body):
    """A part of the benchmark's items: those that pass every filter given, or a sample of them."""

    types = serializers.ListField(
        child=serializers.CharField(max_length=121), required=False, help_text="`replace`, or `replace/obj`."
    )
    roles = serializers.DictField(
        child=serializers.CharField(max_length=8),
        required=False,
        help_text="`images.scene` or `texts.foil` → how many an item has: `2`, `2..4`, `2..`.",
    )
    attributes = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=200), min_length=1),
        required=False,
        help_text="Attributes → values; a part of each item has one of them.",
    )
    keys = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=part.MOST_KEYS)
    sample = serializers.IntegerField(required=False, min_value=1, help_text="This many items at random.")

    def validate(self, given: dict) -> dict:
        try:
            part.read_roles(part.as_text(given)["roles"])
            part.check_names(given.get("attributes", {}))
        except part.WrongPart as refusal:
            raise serializers.ValidationError(str(refusal)) from None
        return {name: value for name, value in given.items() if value}


class StudyBody(Body):
    name = serializers.CharField(max_length=Study._meta.get_field("name").max_length, help_text="Annotators see it.")
    benchmark = serializers.IntegerField(help_text="Its id.")
    preset = serializers.ChoiceField([*PRESETS], required=False)
    protocol = serializers.CharField(
        required=False,
        max_length=500,
        help_text="One question: `verify`, another library file, or a published file such as `prompt-fit@2`.",
    )
    protocols = serializers.ListField(
        child=serializers.CharField(max_length=500),
        required=False,
        min_length=1,
        max_length=starting_points.MOST_STAGES,
        help_text="Several questions in order, each about the items kept by the one before.",
    )
    roles = serializers.DictField(
        child=serializers.CharField(max_length=16),
        required=False,
        help_text="Roles in the question → the benchmark's names: `picture`, or with its kind, `images.picture`.",
    )
    template = serializers.CharField(required=False, max_length=120, help_text="The name of a template.")
    title = serializers.CharField(max_length=120, required=False)
    pay_per_hour = serializers.DecimalField(7, 2, min_value=0, required=False)
    currency = serializers.CharField(required=False, min_length=3, max_length=3)
    language = serializers.ChoiceField(StudyForm.base_fields["language"].choices, required=False)  # type: ignore[attr-defined]
    consent = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False, help_text="In Markdown.")
    paused = serializers.BooleanField(default=False, help_text="If true, nobody can join until you open the study.")
    skip_stored = serializers.BooleanField(
        default=False, help_text="If you manage a study with this name and these settings, return it instead."
    )
    part = PartBody(required=False)
    stages = serializers.DictField(
        child=StageBody(),
        required=False,
        help_text="By the stage's name or number: settings that differ from the starting point.",
    )

    def validate(self, given: dict) -> dict:
        if sum(name in given for name in STARTS) != 1:
            raise serializers.ValidationError({"preset": [ONE_START]})
        return given


class StudyMadeData(StudyData):
    link = serializers.CharField(help_text="The invitation to the whole study.")

    class Meta(StudyData.Meta):
        fields = [*StudyData.Meta.fields, "link"]


class StudyList(Command, ListAPIView):
    """The studies that you are a member of, newest first. POST creates one, and you become its owner.

    A new study starts from a preset, a question or a template, as on the page *New study*; `stages` changes its
    settings. Every item of the benchmark must suit every stage.
    """

    operation, serializer_class, filters, pagination_class = "studies", StudyData, StudyFilters, Counted
    command, takes, gives = "create_study", StudyBody, StudyMadeData
    conflicts = "A study with this name exists; with `skip_stored`, its settings differ: `errors` lists them."

    def get_queryset(self):
        return with_people(permissions.studies_for(self.request.user))

    def paginate_queryset(self, queryset):
        return with_stages(super().paginate_queryset(queryset) or ())

    fetches = "user"  # for every manager

    def act(self, given: dict[str, Any]) -> Study:
        if not Benchmark.objects.filter(pk=given["benchmark"]).exists():
            raise invalid([wrong_field("benchmark", "There is no benchmark with this id.", "UNKNOWN")])
        setup = setup_of(_with_roles(_start(given), given.get("roles", {})), given)
        stored = self._stored(given["name"]) if given["skip_stored"] else None
        if stored:
            setup.study.errors.pop("name", None)  # the study requested has that name
        if problems := [problem for form in setup.forms for problem in _problems(form)]:
            taken = {problem.code for problem in problems} == {"NAME_TAKEN"}
            raise conflict(problems[0].advice, "NAME_TAKEN", problems) if taken else invalid(problems)
        plan = {**setup.plan(), "part": given.get("part", {})}
        if stored and (other := list(differences(stored, plan, given, self.by))):
            says = f"The study “{stored}” already exists with other settings. Choose another name. {other[0].advice}"
            raise conflict(says, "EXISTS_OTHERWISE", other)
        try:
            study = stored or lifecycle.create_study(by=self.by, created_by=self.user, **plan)
        except lifecycle.Unsuitable as why:
            says, *examples = str(why).split("\n")
            problems = [wrong_field("", line, "UNSUITABLE") for line in examples or [says]]
            suits = _suiting(given["benchmark"], plan["stages"])
            raise CannotAnswer(400, INVALID, f"{says} {suits}".strip(), problems) from None
        except lifecycle.CannotCreate as why:
            raise invalid([wrong_field("", line, "UNSUITABLE") for line in str(why).split("\n")]) from None
        (made,) = with_stages(self.get_queryset().filter(pk=study.pk))
        vars(made)["link"] = invitation(self.request._request, made)
        return made

    def _stored(self, name: str) -> Study | None:
        """Return the study only if they manage it, since the response has the invitation."""
        named = self.get_queryset().filter(name=name)
        return next((study for study in named if reaches(study.role, Role.MANAGER)), None)

    def location(self, made: Study) -> str:
        return reverse("api-study-detail", args=[made.pk])


def _start(given: Mapping[str, Any]) -> StartingPoint:
    if "preset" in given:
        return starting_points.of_preset(PRESETS[given["preset"]])
    for name in {"protocol", "protocols"} & given.keys():
        names = given[name] if name == "protocols" else [given[name]]
        if unknown := [one for one in names if starting_points.SEVERAL in one or not is_known(one)]:
            says = f"There is no protocol {unknown[0]}. Publish its file first."
            raise invalid([wrong_field(name, says, "UNKNOWN")])
        return starting_points.of_protocols(starting_points.SEVERAL.join(names))
    found = [one for one in starting_points.templates() if one.title == given["template"]]
    if not found:
        raise invalid([wrong_field("template", "There is no template with this name.", "UNKNOWN")])
    return found[0]


def _suiting(benchmark: int, stages: Sequence[StagePlan]) -> str:
    """Return the questions that could be asked instead: those that suit the first item, as on *New study*."""
    first = queries.first_record(benchmark)
    if first is None or unsuited(stages, first) is None:
        return ""
    cards = [card for card in offers(starting_points.on_offer(), first).fitting if not card.roles]
    named = ", ".join(f"{card.start.kind} {card.start.key}" for card in cards[:MOST_NAMED])
    return f"Suitable questions: {named}." if named else ""


def _with_roles(start: StartingPoint, roles: Mapping[str, str]) -> StartingPoint:
    if not roles:
        return start
    given = ",".join(f"{role}={name}" for role, name in roles.items())
    try:
        return replace(start, stages=tuple(with_roles_of_benchmark(start.stages, given)))
    except CannotMap as refusal:
        raise invalid([wrong_field("roles", str(refusal), "UNKNOWN")]) from None


def setup_of(start: StartingPoint, given: Mapping[str, Any]) -> Setup:
    """Return the forms of *New study* as the page would submit them with these changes. Raises CannotAnswer."""
    own = {"title": "", **{name: value for name, value in given.items() if name in StudyForm.base_fields}}
    shown = Setup(start, benchmark=str(given["benchmark"]))
    numbers = {str(number): form.plan.stage_name for number, form in enumerate(shown.stages, 1)}
    changes = {numbers.get(stage, stage): settings for stage, settings in given.get("stages", {}).items()}
    data = QueryDict(mutable=True)
    as_sent(shown.study, own, data)
    for form in shown.stages:
        as_sent(form, changes.get(form.plan.stage_name, {}), data)
    if problems := list(_unusable(shown.stages, changes)):
        raise invalid(problems)
    return Setup(start, data)


def _unusable(stages: list[StageForm], changes: Mapping[str, Mapping]) -> Iterator[Problem]:
    """Yield stages and settings that the starting point does not have."""
    named = {form.plan.stage_name: form for form in stages}
    for stage, settings in changes.items():
        form = named.get(stage)
        if form is None:
            says = f"There is no stage {stage} here. The stages are {', '.join(named)}."
            yield wrong_field(f"stages.{stage}", says, "UNKNOWN_FIELD")
            continue
        for name in settings:
            field = form.fields.get(name)
            if field is None or field.disabled:
                says = "This stage’s question decides this. Leave it out."
                yield wrong_field(f"stages.{stage}.{name}", says, "UNKNOWN_FIELD")


def _problems(form: StudyForm | StageForm) -> list[Problem]:
    if isinstance(form, StudyForm):
        return form_problems(form)
    return form_problems(form, {name: f"stages.{form.plan.stage_name}.{name}" for name in form.fields})


# A study that exists

# They can change while people judge, or the server fills them in: compared only if given
_CAN_CHANGE = {"overlap", "quota", "tie_rule", "target_half_width", "target_bound", "wrong_reasons"}
_CAN_CHANGE |= {*StageForm.OF_PRACTICE}


def differences(study: Study, plan: Mapping[str, Any], given: Mapping[str, Any], by: str) -> Iterator[Problem]:
    """Yield what differs between a new study's `plan` and this one: everything `given`, and all that cannot change."""
    own = starting_points.of_study(study)
    for name in ("benchmark", "language", *sorted({"title", "consent", "pay_per_hour", "currency"} & given.keys())):
        yield from _difference(name, getattr(study, name), plan[name])
    drawn = {name: value for name, value in study.part.items() if name not in part.SET_WHEN_DRAWN}
    yield from _difference("part", drawn, plan["part"])
    start = next(name for name in STARTS if name in given)
    asks = [[(one.stage_name, one.protocol) for one in stages] for stages in (own.stages, plan["stages"])]
    asks[1] = [(name, lifecycle.published_name(protocol, by)) for name, protocol in asks[1]]
    if asks[0] != asks[1]:
        own_words, others = (", ".join(protocol for _, protocol in one) for one in asks)
        yield wrong_field(start, f"The study asks {own_words}, not {others}.", "EXISTS_OTHERWISE")
        return
    for place, (stored, planned) in enumerate(zip(own.stages, plan["stages"], strict=True), 1):
        stages = given.get("stages", {})
        changed = stages.get(stored.stage_name, stages.get(str(place), {}))
        values = [{**one.settings, "source": one.source, "after": one.after} for one in (stored, planned)]
        values[0]["apart_from"], values[1]["apart_from"] = sorted(stored.apart_from or ()), sorted(planned.apart_from)
        if "instructions" in changed:
            text = study.stages.get(position=place).instructions.latest("version").text
            values[0]["instructions"], values[1]["instructions"] = text.strip(), planned.instructions.strip()
        for name in sorted(values[1].keys() - (_CAN_CHANGE - changed.keys())):
            yield from _difference(f"stages.{stored.stage_name}.{name}", values[0].get(name), values[1][name])


def _difference(name: str, stored: object, asked: object) -> Iterator[Problem]:
    if stored != asked:
        own, other = ("empty" if one in ("", None, {}, []) else one for one in (stored, asked))
        yield wrong_field(name, f"{name} is {own} in the study, not {other}.", "EXISTS_OTHERWISE")


# Protocol files


class ProtocolBody(Body):
    text = serializers.CharField(trim_whitespace=False, max_length=MOST, help_text="The protocol file, in YAML.")


class ProtocolVersionData(serializers.ModelSerializer):
    version = serializers.CharField(source="__str__", help_text="The value for a study's `protocol`: `prompt-fit@2`.")

    class Meta:
        model = ProtocolVersion
        fields = ["version", "title", "sha256", "published_at"]


class ProtocolList(Command, ListAPIView):
    """Published protocol files, by name, newest version first. POST publishes one.

    A text that is already published keeps its version. A problem's `row` is its line in the file.
    """

    operation, serializer_class, filters = "protocols", ProtocolVersionData, OffsetFilters
    pagination_class, queryset = Counted, ProtocolVersion.objects.all()
    command, takes, gives = "publish_protocol", ProtocolBody, ProtocolVersionData
    conflicts = "Somebody else has published a protocol with this name."
    raises: Mapping[type[Exception], str] = MappingProxyType({NameTaken: "NAME_TAKEN"})

    fetches = "user"  # for every manager

    def act(self, given: dict[str, Any]) -> ProtocolVersion:
        log = ProblemLog()
        try:
            found = publish(text=given["text"].replace("\r\n", "\n"), by=self.by, user=self.user, log=log)
        except Unreadable:
            raise invalid(sorted(log.problems, key=lambda problem: problem.row or 0)) from None
        found.refresh_from_db()
        return found
