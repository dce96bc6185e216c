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

from annotation.measures.agreement_measures import describe_measures
from annotation.models import Study
from annotation.models.choices import Kind, OutcomeState, Role, StageState


def _words(says: str, **options) -> ListField:
    return ListField(child=CharField(), help_text=says, **options)


def _count(says: str = "", **options) -> IntegerField:
    """Null if the worker has not counted a large study yet."""
    return IntegerField(allow_null=True, help_text=says or None, **options)


class StageData(serializers.Serializer):
    """Its counts are null until the worker has counted a large study."""

    position = IntegerField(help_text="From 1; the value for `?stage=`.")
    name = CharField()
    protocol = CharField()
    state = serializers.ChoiceField(StageState.choices)
    overlap = IntegerField(help_text="Judgments required per task.")
    tasks = _count("Live tasks to be judged, without checks and practice.")
    settled = _count("Those with an outcome.")
    kept = _count()
    judgments_wanted = _count(source="wanted")
    judgments_counted = _count(source="judged")


class StageDetailData(StageData):
    settings = DictField(
        help_text="Strategy, seed, rule, instructions …: as in an export's manifest.json. Viewers do not get "
        "`comprehension`, which has the right answers."
    )


class ProtocolData(serializers.Serializer):
    """What a stage asks, and the protocol file that says so."""

    protocol = CharField(help_text="`verify`, or of a protocol file its name and version: `prompt-fit@2`.")
    title = CharField()
    question = CharField()
    answers = _words("A sentence for each answer of a protocol file; empty for other protocols.")
    decision_rule = CharField(help_text="In words.")
    measures = _words("Sentences of a protocol file: agreement, scores, right answers, groups. Empty for others.")
    file = DictField(
        allow_null=True,
        help_text="Of a protocol file its `name`, `version`, `title`, `sha256`, its `path` in exports, and its `text` "
        "as it was published. Null for other protocols.",
    )


class StudyData(serializers.ModelSerializer):
    benchmark = CharField(source="benchmark.name")
    role = serializers.ChoiceField(Role.choices, help_text="Your role in it.")
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
        allow_null=True, help_text="From imported to kept, with reasons and by type: as in an export's figures.json."
    )

    class Meta(StudyData.Meta):
        fields = [*StudyData.Meta.fields, "funnel"]


class OfTaskData(serializers.Serializer):
    """The fields that identify a task."""

    stage = CharField(help_text="The stage's name.")
    item = CharField(help_text="The item's key in its benchmark.")
    question = CharField(help_text="Which question, if an item makes several tasks.")
    round = IntegerField(help_text="Later rounds ask an item again with other material.")


class TaskData(OfTaskData):
    id = IntegerField()
    position = IntegerField(help_text="The item's place in its benchmark.")
    type = CharField()
    subtype = CharField()
    kind = serializers.ChoiceField(Kind.choices)
    live = BooleanField(help_text="False: the item has left the stage or is asked again.")
    overlap = IntegerField(help_text="Judgments required to decide it.")
    shared = BooleanField(help_text="In the agreement sample.")
    batch = IntegerField(allow_null=True)
    shows = _words("What the question is about, by identity.")
    options = _words("The options, by identity.")
    proposals = _words("Edits by other annotators, which are also options.")
    texts = DictField(child=CharField(), help_text="Identity → the text shown.")
    carried = DictField(child=CharField(), help_text="What earlier stages chose or wrote, by role.")
    gold = _words("Right answers, if known; null for viewers.", allow_null=True)
    own = BooleanField(help_text="The item is from the study's benchmark; check items may be from another.")
    state = serializers.ChoiceField(OutcomeState.choices, allow_null=True, help_text="Null: open.")
    outcome = CharField(allow_null=True, help_text="The winning answer.")
    content = JSONField(allow_null=True, help_text="The rest of the answer: texts …")
    reason = CharField(allow_null=True, help_text="Why it was dropped.")
    decided_by = CharField(allow_null=True)
    posterior = FloatField(allow_null=True, help_text="Probability of the winning answer, if an estimate decided.")
    names = JSONField(allow_null=True, help_text="Identity → what the protocol file calls it; null without one.")


class JudgmentData(OfTaskData):
    """One revision of one answer; revisions never change."""

    id = IntegerField()
    position = IntegerField(help_text="The item's place in its benchmark.")
    kind = serializers.ChoiceField(Kind.choices)
    live = BooleanField(help_text="False: the item has left the stage or was asked again.")
    type = CharField()
    subtype = CharField()
    annotator = CharField()
    excluded = BooleanField(help_text="The annotator was excluded; none of their judgments count.")
    slot = IntegerField()
    screen = IntegerField(help_text="Which of the annotator's screens of this task.")
    revision = IntegerField()
    answer = CharField(allow_null=True, help_text="Null if the answer was withdrawn.")
    content = JSONField(allow_null=True, help_text="The rest of the answer: texts, guidelines …")
    answers = JSONField(allow_null=True, help_text="By name, in the words of the protocol file; null without one.")
    place = IntegerField(allow_null=True, help_text="The answer's place in `shown`, from 1; null for a fixed answer.")
    shown = _words("The options in the order on the screen.")
    created_at = DateTimeField()
    active_ms = IntegerField(help_text="Time with the page in view.")
    elapsed_ms = IntegerField()
    counted = BooleanField()
    withdrawn = BooleanField()
    surplus = BooleanField(help_text="It came after its slot was given to someone else.")
    instructions_version = IntegerField()
    language = CharField(help_text="Language of the page the answer was given on.")
    reason = CharField(help_text="Reason for cannot_judge or a rejection.")
    flags = _words("What the annotator flagged on this screen.")


class SeatData(serializers.Serializer):
    stage = CharField()
    batch = IntegerField(allow_null=True)
    place = IntegerField(allow_null=True)
    screened_out = BooleanField()
    skipped = IntegerField(help_text="Screens that they skipped.")


class AnnotatorData(serializers.Serializer):
    """For a large study, the counts are the worker's latest."""

    annotator = CharField()
    simulated = BooleanField()
    excluded = BooleanField()
    exclusion_reason = CharField()
    left = BooleanField(help_text="They left the study; their judgments still count.")
    stages = SeatData(many=True)
    judgment_rows = _count("Every revision, including checks.")
    counted = _count("Current judgments, including checks.")
    withdrawn = _count()
    surplus = _count("Not withdrawn.")
    active_minutes = FloatField(allow_null=True, help_text="Over every revision.")


class AdjudicationData(OfTaskData):
    """What an adjudicator decided, without naming the adjudicator."""

    id = IntegerField(help_text="The id of its task.")
    state = serializers.ChoiceField(OutcomeState.choices)
    outcome = CharField(allow_null=True)
    content = JSONField(allow_null=True)
    reason = CharField(allow_null=True)
    note = CharField(help_text="The adjudicator's reason.")
    by = CharField()


class FlagData(OfTaskData):
    """What an annotator flagged about a task."""

    id = IntegerField()
    annotator = CharField()
    reason = CharField()
    settled = BooleanField(help_text="A manager has reviewed it.")


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
        "and `measures`, each with `value`, `low` and `high` (95 %, over items), `n` and a `note` that explains a "
        f"null: {describe_measures()}. `confusion` of the whole and of pairs has [label, label, n], labels by their "
        "places in `labels`. `categories` is how many labels (`n`) could be chosen: those that are `offered`, or "
        "`given` if those cannot be listed.",
    )
