"""Move a study and its stages: open, pause, close, reopen, estimate, and an audit's target."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from django.http import Http404
from rest_framework import serializers

from annotation import permissions
from annotation.api.serializers import StageData
from annotation.api.studies import StudyCommand
from annotation.figures.study_list import StageRow, with_stages
from annotation.models import Role, Stage, StageState, StudyState
from annotation.models.choices import DecisionRule
from annotation.pipeline import dawid_skene
from annotation.studies import audit_target, closing, lifecycle, reopening
from benchmarks.api.commands import Body, JobCommand
from benchmarks.api.errors import conflict
from benchmarks.models import Job

CANNOT_MOVE: Mapping[type[Exception], str] = MappingProxyType({lifecycle.CannotMove: "CANNOT_MOVE"})
CANNOT_AIM: Mapping[type[Exception], str] = MappingProxyType({audit_target.CannotAim: "CANNOT_AIM"})
ASK = "Send `leave_open: true` to close the stage anyway."


class MoveStudyBody(Body):
    to = serializers.ChoiceField(StudyState.choices)


class StudyStateData(serializers.Serializer):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(StudyState.choices)


class StudyMove(StudyCommand):
    """Open, pause or close the study. While it is not open, annotators don't get any more screens."""

    command, takes, gives, status = "move_study", MoveStudyBody, StudyStateData, 200
    conflicts = "The study cannot change from its present state to this one."
    raises = CANNOT_MOVE

    def act(self, given: dict):
        return lifecycle.move_study(study=self.study, to=given["to"], by=self.by)


class StageCommand(StudyCommand):
    fetches = "stage"

    @cached_property
    def stage(self) -> Stage:
        position = self.kwargs["position"]
        stage = permissions.stage_for(self.user, self.kwargs["pk"], position, Role.MANAGER)
        if stage.position != position:  # permissions take too long a number for the first stage's
            raise Http404("This study has no such stage.")
        return stage

    def row(self) -> StageRow:
        """Return the stage with its counts, as it is now."""
        rows = vars(with_stages([self.stage.study])[0])["rows"]
        return next(row for row in rows if row.position == self.stage.position)


class MoveStageBody(Body):
    to = serializers.ChoiceField(StageState.choices)
    leave_open = serializers.BooleanField(
        default=False, help_text="Close it even if items still have no outcome, or a later sample is still too small."
    )


class MovedStageData(serializers.Serializer):
    stage = StageData()
    promoted = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many items each later stage got, by stage name."
    )
    open_items = serializers.IntegerField(help_text="Items in the stage without an outcome.")


class StageMove(StageCommand):
    """Close the stage, which passes items on to stages that wait for it, or open it again.

    A stage whose items are decided by an estimate passes them on when the estimate, a separate job, is done.
    """

    command, takes, gives, status = "move_stage", MoveStageBody, MovedStageData, 200
    conflicts = "The stage cannot change from its present state to this one, or closing it would leave items open."
    raises = CANNOT_MOVE

    def act(self, given: dict) -> dict:
        stage = self.stage
        closes = given["to"] == StageState.CLOSED and stage.state == StageState.OPEN
        if closes and not given["leave_open"] and (outlook := closing.outlook(stage)).needs_asking:
            raise conflict(_what_stays(outlook), "ITEMS_OPEN")
        moved = lifecycle.move_stage(stage=stage, to=given["to"], by=self.by)
        promoted = {to.name: count for to, count in moved.promoted.items()}
        return {"stage": self.row(), "promoted": promoted, "open_items": closing.open_items(moved.stage)}


def _what_stays(outlook: closing.Outlook) -> str:
    short = [f"“{one.to.name}” would get fewer items than its sample." for one in outlook.passing if one.short]
    still = f"{outlook.open:,} of {outlook.items:,} items have no outcome." if outlook.open else ""
    return " ".join(filter(None, [still, *short, ASK]))


class ReopenedData(serializers.Serializer):
    items = serializers.IntegerField(help_text="How many items are being given out again.")


class StageReopen(StageCommand):
    """Give out the items of a closed stage that came open after it was closed; the stage stays closed."""

    command, gives, status = "reopen_stage", ReopenedData, 200
    conflicts = "The stage is open, or no items came open after it closed."
    raises = CANNOT_MOVE

    def act(self, given: dict) -> dict:
        return {"items": reopening.reopen(stage=self.stage, by=self.by)}


class TargetBody(Body):
    target = serializers.FloatField(
        min_value=0, max_value=1, help_text="A fraction (0–1): the half-width, or the bound if the audit has one."
    )
    stops_if_futile = serializers.BooleanField(
        required=False, help_text="Whether an audit with a bound stops once the bound is out of reach."
    )


class StageTarget(StageCommand):
    """Change an audit's target; a tighter one reopens an audit that has stopped."""

    command, takes, gives, status = "set_audit_target", TargetBody, StageData, 200
    conflicts = "The stage is not an audit, or the target is out of range."
    raises = CANNOT_AIM

    def act(self, given: dict) -> StageRow:
        futile = given.get("stops_if_futile")
        audit_target.set_target(stage=self.stage, share=given["target"], by=self.by, stops_if_futile=futile)
        return self.row()


class StageEstimate(JobCommand, StageCommand):
    """Estimate the outcomes of a stage that is decided by an estimate."""

    command = "estimate_stage"
    conflicts = "Annotators decide this stage by vote, or an estimate is running."

    def act(self, given: dict) -> Job:
        if self.stage.rule != DecisionRule.DAWID_SKENE:
            raise conflict("A vote decides this stage. It doesn’t need an estimate.")
        job = dawid_skene.request_estimate(stage=self.stage, by=self.by, created_by=self.user)
        if job is None:
            raise conflict("An estimate of this stage is running. Wait for its job.")
        return job
