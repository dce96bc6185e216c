"""What the API's lists of a study may be filtered by, and the study's things that a filter names."""

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import BooleanField, CharField, ChoiceField

from annotation.models import Annotator, Outcome, Stage, Study
from annotation.models.choices import Kind, StudyState
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.wording import pseudonym
from benchmarks.api.filters import Asked, AskedPage, AskedPlace


class AskedStudies(AskedPlace):
    state = ChoiceField(StudyState.choices, required=False)


class AskedStage(Asked):
    stage = serializers.IntegerField(
        required=False, min_value=1, help_text="The stage's position; 1 where none is said."
    )


class AskedAgreement(AskedStage):
    view = CharField(required=False, default="answer", help_text="`answer`, or a projection that the protocol names.")


class AskedOfStage(AskedPage):
    stage = serializers.IntegerField(
        required=False, min_value=1, help_text="The stage's position; all where none is said."
    )


class AskedTasks(AskedOfStage):
    kind = ChoiceField(Kind.choices, required=False)
    live = BooleanField(required=False)
    state = ChoiceField([KEPT, DROPPED, OPEN], required=False, help_text="Of the outcome; `open`: it has none.")
    item = CharField(required=False, help_text="The item's key.")
    type = CharField(required=False, allow_blank=True)
    subtype = CharField(required=False, allow_blank=True)


class AskedJudgments(AskedOfStage):
    annotator = serializers.RegexField(r"^A-[0-9]{2,8}$", required=False, help_text="A-01, A-02 …")
    counted = BooleanField(required=False)
    withdrawn = BooleanField(required=False)
    since = serializers.DateTimeField(
        required=False, help_text="Given at that time or later; UTC where no zone is said."
    )


class AskedAnnotators(AskedPage):
    excluded = BooleanField(required=False)


class AskedFlags(AskedOfStage):
    settled = BooleanField(required=False)


def stages_asked(study: Study, asked: dict) -> list[Stage]:
    """The one that is asked for, or all of the study."""
    stages = list(study.stages.order_by("position"))
    if "stage" not in asked:
        return stages
    found = [stage for stage in stages if stage.position == asked["stage"]]
    if not found:
        raise ValidationError({"stage": [f"This study has the stages 1 to {len(stages)}."]})
    return found


def stage_asked(study: Study, asked: dict) -> Stage:
    """The one that is asked for, or the first; it has its study."""
    (stage,) = stages_asked(study, {"stage": asked.get("stage", 1)})
    stage.study = study
    return stage


def annotator_asked(study: Study, name: str) -> Annotator:
    number = int(name.removeprefix("A-"))
    found = Annotator.objects.filter(study=study, number=number).first() if pseudonym(number) == name else None
    if found is None:
        raise ValidationError({"annotator": [f"Nobody in this study is {name}."]})
    return found


def tasks_asked(tasks: QuerySet, asked: dict) -> QuerySet:
    own = {"kind": "kind", "live": "live", "item": "item__key", "type": "item__type", "subtype": "item__subtype"}
    found = tasks.filter(**{own[name]: value for name, value in asked.items() if name in own})
    state = asked.get("state")
    if state is None:
        return found
    return found.filter(decided__isnull=True) if state == OPEN else found.filter(decided__state=state)


def judgments_asked(judgments: QuerySet, asked: dict, study: Study) -> QuerySet:
    found = judgments
    if "annotator" in asked:
        found = found.filter(lease__annotator=annotator_asked(study, asked["annotator"]))
    if "counted" in asked:
        found = found.filter(counted_on__isnull=not asked["counted"])
    if "withdrawn" in asked:
        found = found.filter(withdrawn=asked["withdrawn"])
    return found.filter(created_at__gte=asked["since"]) if "since" in asked else found


def adjudicated(stages: list[Stage]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(task__stage__in=stages, by="adjudicator")
