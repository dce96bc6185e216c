"""The fields of the API of studies, named as in exports (docs/reference/formats.md, docs/reference/measures.md).

Annotators are A-01, A-02 … in order of joining; names, Prolific ids and links are in none of these.
"""

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

from annotation.models import Study
from annotation.models.choices import Kind, OutcomeState, Role, StageState


def _words(says: str, **options) -> ListField:
    return ListField(child=CharField(), help_text=says, **options)


def _count(says: str = "", **options) -> IntegerField:
    """Null where the worker has not counted a large study yet."""
    return IntegerField(allow_null=True, help_text=says or None, **options)


class StageData(serializers.Serializer):
    """Its counts are null for as long as the worker has not counted a large study."""

    position = IntegerField(help_text="From 1; what `?stage=` names.")
    name = CharField()
    protocol = CharField()
    state = serializers.ChoiceField(StageState.choices)
    overlap = IntegerField(help_text="Judgments that a task wants.")
    tasks = _count("Live tasks that are judged; checks and training are none of them.")
    settled = _count("Those with an outcome.")
    kept = _count()
    judgments_wanted = _count(source="wanted")
    judgments_counted = _count(source="judged")


class StageDetailData(StageData):
    settings = DictField(
        help_text="Strategy, seed, rule, instructions …: as in an export's manifest.json. Viewers are not told "
        "`comprehension`: it has the right answers."
    )


class StudyData(serializers.ModelSerializer):
    benchmark = CharField(source="benchmark.name")
    role = serializers.ChoiceField(Role.choices, help_text="What you may do in it.")
    stages = StageData(many=True, source="rows")
    judgments_wanted = _count(source="wanted")
    judgments_counted = _count(source="judged")
    annotators = IntegerField(source="people", help_text="Who have joined.")
    pay_per_hour = serializers.DecimalField(max_digits=7, decimal_places=2)

    class Meta:
        model = Study
        fields = [
            "id", "name", "benchmark", "state", "role", "stages", "judgments_wanted", "judgments_counted", "annotators",
            "pay_per_hour", "currency", "created_at",
        ]  # fmt: skip


class StudyDetailData(StudyData):
    funnel = DictField(
        allow_null=True, help_text="From imported to kept, with reasons and by type: as in an export's figures.json."
    )

    class Meta(StudyData.Meta):
        fields = [*StudyData.Meta.fields, "funnel"]


class OfTaskData(serializers.Serializer):
    """What names a task."""

    stage = CharField(help_text="The stage's name.")
    item = CharField(help_text="The item's key in its benchmark.")
    question = CharField(help_text="Where an item makes several tasks.")
    round = IntegerField(help_text="An item that was asked anew with other material is in a later round.")


class TaskData(OfTaskData):
    id = IntegerField()
    position = IntegerField(help_text="The item's place in its benchmark.")
    type = CharField()
    subtype = CharField()
    kind = serializers.ChoiceField(Kind.choices)
    live = BooleanField(help_text="False: the item has gone from the stage, or is asked anew.")
    overlap = IntegerField(help_text="Judgments that decide it.")
    shared = BooleanField(help_text="Drawn for the agreement sample.")
    batch = IntegerField(allow_null=True)
    shows = _words("What is asked about, by identity.")
    options = _words("What is chosen among, by identity.")
    proposals = _words("Edits of other annotators, which are options too.")
    texts = DictField(child=CharField(), help_text="Identity → the words that are shown.")
    carried = DictField(child=CharField(), help_text="What earlier stages chose or wrote, by role.")
    gold = _words("Right answers, where they are known; null for viewers.", allow_null=True)
    own = BooleanField(help_text="The item is of the study's benchmark; check items may be of another.")
    state = serializers.ChoiceField(OutcomeState.choices, allow_null=True, help_text="Null: open.")
    outcome = CharField(allow_null=True, help_text="The winning answer.")
    content = JSONField(allow_null=True, help_text="What came with it: texts …")
    reason = CharField(allow_null=True, help_text="Why it was dropped.")
    decided_by = CharField(allow_null=True)
    posterior = FloatField(allow_null=True, help_text="Of the kind of answer that won, where an estimate decided.")


class JudgmentData(OfTaskData):
    """One revision of one answer; none is ever altered."""

    id = IntegerField()
    position = IntegerField(help_text="The item's place in its benchmark.")
    kind = serializers.ChoiceField(Kind.choices)
    live = BooleanField(help_text="False: the item has gone from the stage, or was asked anew.")
    type = CharField()
    subtype = CharField()
    annotator = CharField()
    excluded = BooleanField(help_text="The annotator was excluded: nothing of theirs counts.")
    slot = IntegerField()
    screen = IntegerField(help_text="Which of the annotator's screens of this task.")
    revision = IntegerField()
    answer = CharField(allow_null=True, help_text="Null where an answer was taken back.")
    content = JSONField(allow_null=True, help_text="What else was answered: texts, guidelines …")
    place = IntegerField(allow_null=True, help_text="Where the answer stood in `shown`, from 1; null: a fixed answer.")
    shown = _words("The options in the order on the screen.")
    created_at = DateTimeField()
    active_ms = IntegerField(help_text="Time with the page in view.")
    elapsed_ms = IntegerField()
    counted = BooleanField()
    withdrawn = BooleanField()
    surplus = BooleanField(help_text="It came after its slot was given on.")
    instructions_version = IntegerField()
    language = CharField(help_text="Of the page that the answer was given on.")
    reason = CharField(help_text="Of cannot_judge, or of a rejection.")
    flags = _words("What the annotator reported on this screen.")


class SeatData(serializers.Serializer):
    stage = CharField()
    batch = IntegerField(allow_null=True)
    place = IntegerField(allow_null=True)
    screened_out = BooleanField()
    skipped = IntegerField(help_text="Screens that they skipped.")


class AnnotatorData(serializers.Serializer):
    """The counts, of a large study, are those that the worker counted last."""

    annotator = CharField()
    simulated = BooleanField()
    excluded = BooleanField()
    exclusion_reason = CharField()
    left = BooleanField(help_text="They gave their place back; what they judged counts.")
    stages = SeatData(many=True)
    judgment_rows = _count("Every revision, checks too.")
    counted = _count("Those that stand, checks too.")
    withdrawn = _count()
    surplus = _count("Not withdrawn.")
    active_minutes = FloatField(allow_null=True, help_text="Over every revision.")


class AdjudicationData(OfTaskData):
    """What an adjudicator decided; who it was is not told."""

    id = IntegerField(help_text="Its task's.")
    state = serializers.ChoiceField(OutcomeState.choices)
    outcome = CharField(allow_null=True)
    content = JSONField(allow_null=True)
    reason = CharField(allow_null=True)
    note = CharField(help_text="The adjudicator's reason.")
    by = CharField()


class FlagData(OfTaskData):
    """What an annotator reported about a task."""

    id = IntegerField()
    annotator = CharField()
    reason = CharField()
    settled = BooleanField(help_text="Somebody has looked at it.")


class AgreementData(serializers.Serializer):
    """Every measure of counted judgments on live tasks, as on the agreement page; docs/reference/measures.md defines them."""  # noqa: E501

    stage = IntegerField()
    view = CharField(help_text="What was compared: the answer, or a projection of it.")
    current = BooleanField(help_text="False: newer figures are being computed; ask again when the job is done.")
    made_at = DateTimeField(allow_null=True)
    job = IntegerField(allow_null=True, help_text="The one that computes newer figures: /api/jobs/….")
    measures = DictField(
        allow_null=True,
        help_text="`whole`, and a list of rows for each of `type subtype week annotator pair`. A row has its counts "
        "and `measures`: percent cohen_mean fleiss alpha_nominal alpha_ordinal alpha_interval ac1, each with `value`, "
        "`low` and `high` (95 %, bootstrap over items), `n` and a `note`: why a null is one. `confusion` of the whole "
        "and of pairs has [label, label, n], labels by their places in `labels`.",
    )
