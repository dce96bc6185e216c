"""The query parameters of the API's endpoints for studies. `context["view"]` is the endpoint, which knows its study."""

from rest_framework.exceptions import ValidationError
from rest_framework.fields import BooleanField, CharField, ChoiceField, DateTimeField, RegexField

from annotation.models import Annotator
from annotation.models.choices import Kind, StudyState
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.wording import pseudonym
from benchmarks.api.endpoints import CursorFilters, Filters, OffsetFilters, WholeNumberField, ordering


class _IsSet(BooleanField):
    """Select, if true, rows in which the column in the `isnull` lookup has a value."""

    def to_internal_value(self, data) -> bool:
        return not super().to_internal_value(data)


class _OfStage(Filters):
    def validate_stage(self, position: int) -> int:
        last = len(self.context["view"].all_stages)
        if position > last:
            raise ValidationError(f"This study has the stages 1 to {last}.")
        return position


class StudyFilters(OffsetFilters):
    ordering = ordering("name", "created_at")
    state = ChoiceField(StudyState.choices, required=False)
    name = CharField(required=False)


class StageFilters(_OfStage):
    stage = WholeNumberField(required=False, min_value=1, help_text="The stage's position; by default 1.")


class FiguresFilters(StageFilters):
    pairs = BooleanField(required=False, help_text="True adds `kappa_pairs`, the kappa of every pair of annotators.")


class AgreementFilters(StageFilters):
    view = CharField(required=False, default="answer", help_text="`answer`, or one of the protocol's projections.")


class RowFilters(_OfStage, CursorFilters):
    stage = WholeNumberField(required=False, min_value=1, help_text="The stage's position; by default all.")


class TaskFilters(RowFilters):
    kind = ChoiceField(Kind.choices, required=False)
    live = BooleanField(required=False)
    state = ChoiceField([KEPT, DROPPED, OPEN], required=False, help_text="The outcome; `open` if there is none.")
    item = CharField(source="item__key", required=False, help_text="The item's key.")
    type = CharField(source="item__type", required=False, allow_blank=True)
    subtype = CharField(source="item__subtype", required=False, allow_blank=True)

    def validate(self, asked: dict) -> dict:
        state = asked.pop("state", None)
        if state is None:
            return asked
        return asked | ({"decided__isnull": True} if state == OPEN else {"decided__state": state})


class JudgmentFilters(RowFilters):
    annotator = RegexField(r"^A-[0-9]{2,8}$", source="lease__annotator", required=False, help_text="A-01, A-02 …")
    counted = _IsSet(source="counted_on__isnull", required=False)
    withdrawn = BooleanField(required=False)
    since = DateTimeField(
        source="created_at__gte", required=False, help_text="Given at this time or later; UTC if no time zone is given."
    )

    def validate_annotator(self, name: str) -> Annotator:
        number = int(name.removeprefix("A-"))
        found = Annotator.objects.filter(study=self.context["view"].study, number=number).first()
        if found is None or pseudonym(number) != name:
            raise ValidationError(f"This study has no annotator {name}.")
        return found


class AnnotatorFilters(CursorFilters):
    excluded = _IsSet(source="excluded_at__isnull", required=False)


class FlagFilters(RowFilters):
    settled = _IsSet(source="settled_at__isnull", required=False)
