"""The fields of the API for studies, named as in exports (docs/reference/measures.md). Lines of exports have their
columns' fields (exports/columns.py).

Annotators are A-01, A-02 … in order of joining; names, Prolific ids and links never appear.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    JSONField,
    ListField,
)

from annotation.exports.columns import SEATS, TABLES, Column
from annotation.measures.agreement_measures import describe_measures
from annotation.models import Study
from annotation.models.choices import Kind, OutcomeState, Role, StageState


def _words(says: str, **options) -> ListField:
    return ListField(child=CharField(), help_text=says, **options)


def _count(says: str = "", **options) -> IntegerField:
    """Return an integer field, null if the worker has not counted a large study yet."""
    return IntegerField(allow_null=True, help_text=says or None, **options)


class StageData(serializers.Serializer):
    """For a large study, counts are null until the worker has counted."""

    position = IntegerField(help_text="From 1; the value for `?stage=`.")
    name = CharField()
    protocol = CharField()
    state = serializers.ChoiceField(StageState.choices)
    overlap = IntegerField(help_text="Judgments required per task.")
    tasks = _count("Live tasks to be judged, not counting checks and practice.")
    settled = _count("Tasks with an outcome.")
    kept = _count()
    judgments_wanted = _count(source="wanted")
    judgments_counted = _count(source="judged")


class StageDetailData(StageData):
    settings = DictField(
        help_text="Strategy, seed, rule, instructions …: as in an export's manifest.json. Viewers do not get "
        "`comprehension`, which has the right answers."
    )


class ProtocolData(serializers.Serializer):
    """A stage's questions and its protocol file."""

    protocol = CharField(help_text="`verify`, or a protocol file's name and version: `prompt-fit@2`.")
    title = CharField()
    question = CharField()
    answers = _words("A sentence for each answer of a protocol file; empty for other protocols.")
    decision_rule = CharField(help_text="In words.")
    measures = _words("Sentences about a protocol file: agreement, scores, right answers, groups. Otherwise empty.")
    file = DictField(
        allow_null=True,
        help_text="For a protocol file: `name`, `version`, `title`, `sha256`, its `path` in exports, and its `text` "
        "as it was published. Null for other protocols.",
    )


class StudyData(serializers.ModelSerializer):
    benchmark = CharField(source="benchmark.name")
    role = serializers.ChoiceField(Role.choices, help_text="Your role in the study.")
    stages = StageData(many=True, source="rows")
    judgments_wanted = _count(source="wanted")
    judgments_counted = _count(source="judged")
    annotators = IntegerField(source="people", help_text="Annotators who have joined.")
    pay_per_hour = serializers.DecimalField(max_digits=7, decimal_places=2)

    class Meta:
        model = Study
        fields = [
            "id", "name", "benchmark", "state", "role", "stages", "judgments_wanted", "judgments_counted", "annotators",
            "pay_per_hour", "currency", "created_at",
        ]  # fmt: skip


class StudyDetailData(StudyData):
    funnel = DictField(
        allow_null=True, help_text="From imported to kept, with reasons and by type, as in an export's figures.json."
    )

    class Meta(StudyData.Meta):
        fields = [*StudyData.Meta.fields, "funnel"]


_KINDS: Mapping[str, type[serializers.Field]] = {
    "text": CharField,
    "integer": IntegerField,
    "long": IntegerField,
    "number": FloatField,
    "boolean": BooleanField,
    "time": DateTimeField,
    "texts": ListField,
    "object": DictField,
}


class _Line(serializers.Serializer):
    """A line of an export. Its columns define the fields; a class's own fields replace columns.

    The API does not hide anything by release part, so only columns that may be null in any export are null here.
    """

    columns: Sequence[Column] = ()

    def get_fields(self) -> dict[str, serializers.Field]:
        there = [one for one in self.columns if not (one.may_be_missing or one.only_released)]
        return {one.name: _field(one) for one in there if one.kind in _KINDS} | super().get_fields()


def _field(column: Column) -> serializers.Field:
    about: dict[str, Any] = {"help_text": column.says, "allow_null": column.may_be_null and not column.part}
    if column.kind == "texts":
        about["child"] = CharField()
    return _KINDS[column.kind](**about)


class TaskData(_Line):
    columns = TABLES["tasks"].columns
    id = IntegerField()
    kind = serializers.ChoiceField(Kind.choices)
    gold = _words("Right answers, if known; null for viewers.", allow_null=True)
    state = serializers.ChoiceField(OutcomeState.choices, allow_null=True, help_text="Null: open.")


class JudgmentData(_Line):
    """One revision of an answer; revisions never change."""

    columns = TABLES["judgments"].columns
    id = IntegerField()
    kind = serializers.ChoiceField(Kind.choices)
    answers = JSONField(allow_null=True, help_text="By name, in the protocol file's words; null if there is none.")
    content = JSONField(allow_null=True, help_text="The rest of the answer: texts, guidelines …")


class SeatData(_Line):
    columns = SEATS


class AnnotatorData(_Line):
    """For a large study, the counts are the worker's latest."""

    columns = TABLES["annotators"].columns
    stages = SeatData(many=True)
    judgment_rows = _count("Every revision, including checks.")
    counted = _count("Judgments that count now, including checks.")
    withdrawn = _count()
    surplus = _count("Not withdrawn.")
    active_minutes = FloatField(allow_null=True, help_text="Over every revision.")


class AdjudicationData(_Line):
    """An adjudicator's decision, without the adjudicator's name."""

    columns = TABLES["adjudications"].columns
    id = IntegerField(help_text="The id of its task.")
    state = serializers.ChoiceField(OutcomeState.choices)


class FlagData(_Line):
    """An annotator's flag about a task."""

    columns = TABLES["flags"].columns
    id = IntegerField()


class AgreementData(serializers.Serializer):
    """Every measure of counted judgments on live tasks, as on the agreement page; docs/reference/measures.md defines them."""  # noqa: E501

    stage = IntegerField()
    view = CharField(help_text="What was compared, the answer or a projection of it.")
    current = BooleanField(help_text="False if newer numbers are being computed; ask again when the job is done.")
    made_at = DateTimeField(allow_null=True)
    job = IntegerField(allow_null=True, help_text="The job that computes newer numbers: /api/v1/jobs/….")
    measures = DictField(
        allow_null=True,
        help_text="`whole`, and a list of rows for each of `type subtype week annotator pair`. A row has its counts "
        "and `measures`, each with `value`, `low` and `high` (95%, over items), `n` and a `note` that explains a "
        f"null: {describe_measures()}. `confusion` of the whole and of pairs has [label, label, n], labels by their "
        "places in `labels`. `categories` is how many labels (`n`) could be chosen: those that are `offered`, or "
        "`given` if those cannot be listed.",
    )
