"""Starting points for the form of a new study: a preset, a single question, another study, or a saved template."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.designs import part, presets
from annotation.designs.plan import StagePlan
from annotation.designs.presets import PRESETS, Preset
from annotation.models import Instructions, Stage, Study, StudyTemplate
from annotation.protocol_files.offers import is_as_shipped, newest_versions
from annotation.protocols import library
from annotation.protocols.registry import PROTOCOLS, VERSION_SIGN, base_name, is_known, keep_published, protocol_named
from annotation.studies.instructions import default_instructions, default_translations
from annotation.studies.instructions_images import pictures
from benchmarks import audit

# A copy takes over every other column of a stage as a setting, but draws new samples.
_OWN = {
    "id", "study", "position", "name", "state", "invite", "protocol", "source", "after", "apart_from", "seed",
    "order_sha256", "scores_of", "scores_sha256",
}  # fmt: skip
_SETTINGS = [field.name for field in Stage._meta.concrete_fields if field.name not in _OWN]
SEVERAL, MOST_STAGES = ";", 12  # separates the names of questions that a study asks in order
_OF_STUDY = ("pay_per_hour", "currency", "language", "consent")


class CannotSave(ValueError):
    """The template cannot be saved; the message explains why."""


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """`kind` and `key` name it in addresses and forms: `preset=bivlc`, `protocol=verify`, `copy=4`, `template=2`.

    `study` has initial values for the study's own fields; `images` has, by stage, the names of the copied study's
    images, which the instructions can show.
    """

    kind: str
    key: str
    title: str
    summary: str
    stages: tuple[StagePlan, ...]
    study: Mapping[str, Any]
    images: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """Return the paper that the numbers come from; empty if there is none."""
        return PRESETS[self.key].paper if self.kind == "preset" else ""

    @property
    def version(self) -> str:
        """Return the number of a published version that has the name of a built-in question but differs from it."""
        name, _, number = self.key.partition(VERSION_SIGN)
        own = name in PROTOCOLS or name in library.names()
        return number if self.kind == "protocol" and number and own and not is_as_shipped(self.key) else ""

    @property
    def questions(self) -> str:
        """Return the key of the same questions in order, for adding another; "" if it has its own settings."""
        if self.kind == "preset" and len(self.stages) == 1:
            (stage,), (single,) = self.stages, presets.single_stage(self.stages[0].protocol).stages
            return stage.protocol if _every_setting(stage) == _every_setting(single) else ""
        return self.key if self.kind == "protocol" else ""


def _every_setting(stage: StagePlan) -> dict[str, Any]:
    fields = (field for field in Stage._meta.concrete_fields if field.name in _SETTINGS)
    return {field.name: stage.settings.get(field.name, field.get_default()) for field in fields}


def of_preset(preset: Preset, kind: str = "preset", key: str = "") -> StartingPoint:
    unpaid = {"pay_per_hour": 0, "currency": "USD"}
    return StartingPoint(kind, key or preset.name, preset.title, preset.summary, preset.stages, unpaid)


def of_protocols(key: str) -> StartingPoint:
    """Return the starting point of `verify`, or of several questions in order: `describe;revise@2`."""
    return of_preset(presets.stages_in_order(key.split(SEVERAL)), "protocol", key)


def are_known(key: str) -> bool:
    return len(names := key.split(SEVERAL)) <= MOST_STAGES and all(map(is_known, names))


def of_study(study: Study) -> StartingPoint:
    """Return the study's settings, comprehension questions, and newest instructions in every language with images."""
    versions = Instructions.objects.filter(stage__study=study).order_by("version")
    newest = {one.stage_id: one for one in versions}
    stages = list(study.stages.order_by("position"))
    for stage in stages:
        stage.study = study
    plans = [_plan_of(stage, stages, newest[stage.pk]) for stage in stages]
    given = {"name": f"{study.name[:110]} (copy)", **{name: getattr(study, name) for name in ("title", *_OF_STUDY)}}
    given |= {f"part_{name}": value for name, value in part.as_text(study.part).items()}
    summary = "Filled in from that study’s current settings; on the same benchmark, with its checks and practice."
    images = {stage.name: [picture.name for picture in pictures(stage)] for stage in stages}
    return StartingPoint("copy", str(study.pk), f"Copy of {study.name}", summary, tuple(plans), given, images)


def _plan_of(stage: Stage, stages: Sequence[Stage], instructions: Instructions) -> StagePlan:
    """Return the plan that would create the stage again, without the protocol's own instructions."""
    named: dict[int | None, str] = {one.pk: one.name for one in stages}
    protocol, own = protocol_named(stage.protocol), stage.study.language
    text, translations = instructions.text, instructions.translations
    if (text, translations) == (default_instructions(protocol, own), default_translations(protocol, own)):
        text, translations = "", {}
    return StagePlan(
        stage.protocol, stage.name, named.get(stage.source_id, ""), named.get(stage.after_id, ""),
        apart_from=[one.name for one in stages if one.position in stage.apart_from], instructions=text,
        settings={name: getattr(stage, name) for name in _SETTINGS}, translations=translations,
    )  # fmt: skip


# Templates


def _of_template(template: StudyTemplate) -> StartingPoint:
    setup = template.setup
    study = {**setup["study"], "pay_per_hour": Decimal(setup["study"]["pay_per_hour"])}
    stages = tuple(_restored(stage) for stage in setup["stages"])
    summary = f"A template that {template.created_by or 'a former user'} saved on {template.created_at:%d %B %Y}."
    return StartingPoint("template", str(template.pk), template.name, summary, stages, study)


def templates() -> list[StartingPoint]:
    """Return all templates, by name, except those with a question that no longer exists."""
    found = StudyTemplate.objects.select_related("created_by").order_by("name")
    known = [one for one in found if all(is_known(stage["protocol"]) for stage in one.setup["stages"])]
    return [_of_template(one) for one in known]


def _restored(stage: Mapping[str, Any]) -> StagePlan:
    """Restore a plan without settings that only an earlier version of Winnow had."""
    settings = {name: value for name, value in stage.get("settings", {}).items() if name in _SETTINGS}
    return StagePlan(**{**stage, "settings": settings})


@transaction.atomic
def save_template(
    *, name: str, stages: Sequence[StagePlan], study: Mapping[str, Any], user: User, by: str
) -> StudyTemplate:
    """Keep these settings under a name. Raises CannotSave if the name is taken."""
    of_study = {one: study[one] for one in _OF_STUDY} | {"pay_per_hour": str(study["pay_per_hour"])}
    setup = {"study": of_study, "stages": [asdict(stage) for stage in stages]}
    try:
        with transaction.atomic():
            template = StudyTemplate.objects.create(name=name, setup=setup, created_by=user)
    except IntegrityError:
        raise CannotSave("A template with this name already exists. Choose another name.") from None
    audit.record(by=by, verb="saved", subject=template, name=name)
    return template


def may_delete(start: StartingPoint, user: User) -> bool:
    """Return whether the user saved the template; superusers may delete any."""
    found = StudyTemplate.objects.filter(pk=start.key) if start.kind == "template" else StudyTemplate.objects.none()
    return (found if user.is_superuser else found.filter(created_by=user)).exists()


@transaction.atomic
def delete_template(*, template: StudyTemplate, by: str) -> None:
    audit.record(by=by, verb="deleted", subject=template, name=template.name)
    template.delete()


def all_presets() -> list[StartingPoint]:
    return [of_preset(preset) for preset in PRESETS.values()]


def on_offer() -> list[StartingPoint]:
    """Return the starting points for any new study: published questions, presets, and the library's other questions."""
    published, set_up = published_questions(), all_presets()
    same = {base_name(one.key) for one in published if is_as_shipped(one.key)} | {one.questions for one in set_up}
    return [*published, *set_up, *(one for one in single_questions() if one.key not in same)]


def published_questions() -> list[StartingPoint]:
    """Return the newest version of each published protocol."""
    versions = newest_versions()
    for version in versions:
        keep_published(str(version), version.text)
    return [of_protocols(str(version)) for version in versions]


def single_questions() -> list[StartingPoint]:
    """Return the built-in questions and other library files; a study publishes those it uses."""
    return [of_protocols(name) for name in dict.fromkeys([*PROTOCOLS, *library.names()])]
