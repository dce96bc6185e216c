"""Judging: tasks, slots, leases, judgments and outcomes. Studies and annotators are in study.py and people.py.

Foreign keys covered by another index don't get one of their own, since every index is written at every click.

A task has k slots (its overlap). A slot is free, leased or judged, as its own columns show and a check constraint
ensures, so a task can never have more live leases plus counted judgments than slots (law 2).
"""

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.models.choices import MOST_JUDGMENTS, Kind, LeaseState, OutcomeState
from annotation.models.people import Annotator
from annotation.models.study import Instructions, Stage
from benchmarks.models import Correction, Item

SPLIT = Q(entropy__gt=0, live=True)  # the tasks whose annotators disagree


class Task(models.Model):
    """An item as asked in one stage.

    `shows` and `options` name parts of the item: `candidate-2` is an image, `caption-negative-0` a caption. A task
    never changes once someone has seen it: if the item is asked about again with other material, it gets a new task in
    a later round, and the earlier one is no longer `live`.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="tasks")
    question = models.CharField(max_length=120, blank=True)  # if an item has several tasks
    round = models.PositiveSmallIntegerField(default=1)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.JUDGE)
    live = models.BooleanField(default=True)  # false: its item has left the stage, or is asked about in a later round
    # The first later correction of what it shows; its judgments are about the earlier text or picture
    corrected = models.ForeignKey(Correction, null=True, on_delete=models.PROTECT, related_name="tasks", db_index=False)
    rank = models.BigIntegerField()  # its place in the pool's random order
    score = models.FloatField(null=True)  # a model's score, as an audit's side information
    overlap = models.PositiveSmallIntegerField(default=1)  # how many judgments decide it
    shared = models.BooleanField(default=False)  # drawn for the agreement sample
    batch = models.PositiveIntegerField(null=True)
    shows = ArrayField(models.CharField(max_length=40), default=list)  # what the question is about, in order
    options = ArrayField(models.CharField(max_length=40), default=list)  # what is shuffled
    carried = models.JSONField(default=dict)  # {"negative": "candidate-2"}: what earlier stages chose, or wrote
    proposals = ArrayField(models.CharField(max_length=40), default=list)  # edits to confirm, as further options
    gold = ArrayField(models.CharField(max_length=40), default=list)  # correct answers, for checks and practice
    note = models.TextField(blank=True)  # practice: shown after the answer
    # If the counted answers are not all the same (maintained by pipeline/disagreement.py):
    entropy = models.FloatField(default=0, db_default=0)  # Shannon's, in bits; 0: fewer than two answers, or all equal
    differs = models.CharField(max_length=8, blank=True, default="", db_default="")  # in "kind" or "option"
    newest = models.BigIntegerField(null=True)  # the last judgment
    waits = models.BooleanField(default=False, db_default=False)  # the stage's rule leaves it to an adjudicator

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "item", "question", "round"], name="task_once"),
            models.UniqueConstraint(fields=["stage", "rank"], name="task_rank_once"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="task_kind_known"),
            models.CheckConstraint(condition=Q(kind=Kind.JUDGE) | ~Q(gold=[]), name="task_gold_where_known"),
            models.CheckConstraint(condition=Q(overlap__lte=MOST_JUDGMENTS), name="task_overlap_range"),
            models.CheckConstraint(
                condition=Q(entropy=0, differs="", newest__isnull=True)
                | Q(entropy__gt=0, differs__in=["kind", "option"], newest__isnull=False),
                name="task_split_or_not",
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "-entropy", "-newest"], condition=SPLIT, name="task_most_split"),
            models.Index(fields=["stage", "-newest"], condition=SPLIT, name="task_newest_split"),
            models.Index(fields=["stage", "item", "id"], condition=SPLIT, name="task_split_item"),
            models.Index(fields=["stage", "differs", "rank"], condition=SPLIT, name="task_differs"),
            models.Index(fields=["stage", "rank"], condition=Q(waits=True, live=True), name="task_waits"),
            models.Index(fields=["corrected"], condition=Q(corrected__isnull=False), name="task_corrected"),
        ]


class Outcome(models.Model):
    """A task's result by the decision rule or an adjudicator. Without a row, the task is open."""

    task = models.OneToOneField(Task, primary_key=True, on_delete=models.CASCADE, related_name="decided")
    state = models.CharField(max_length=8, choices=OutcomeState)
    outcome = models.TextField(blank=True)  # the winning answer
    content = models.JSONField(default=dict)  # the answer's content: {"texts": {"second_positive": "…"}}
    reason = models.CharField(max_length=40, blank=True)  # why the item was dropped
    by = models.CharField(max_length=20)  # protocols.decision_rule.Decision.by, or "adjudicator"
    posterior = models.FloatField(null=True)  # probability of the winning kind of answer, under Dawid and Skene's rule
    adjudicator = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    note = models.CharField(max_length=500, blank=True)  # the adjudicator's reason
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state=OutcomeState.KEPT, reason="") | (Q(state=OutcomeState.DROPPED) & ~Q(reason="")),
                name="outcome_dropped_with_reason",
            ),
            models.CheckConstraint(
                condition=Q(posterior__isnull=True) | Q(posterior__gte=0, posterior__lte=1),
                name="outcome_posterior_range",
            ),
            models.CheckConstraint(condition=~Q(by="adjudicator") | ~Q(note=""), name="outcome_adjudicated_with_note"),
        ]
        indexes = [models.Index(fields=["-decided_at"], condition=Q(by="adjudicator"), name="outcome_adjudicated")]


class Slot(models.Model):
    """One of a task's k places: free, leased (`held_until`) or judged (`judgment`).

    A check has a slot for each annotator, in addition to the overlap. In a pool, once given out, it is like any other
    slot (assignment/leases.py).
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="slots", db_index=False)
    rank = models.BigIntegerField()  # the task's (a check's: the slot's own), so that a claim reads one index
    live = models.BooleanField(default=True)  # may be assigned: the task is live and its stage is not closed
    # The only annotator to whom it may be assigned
    reserved = models.ForeignKey(Annotator, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    annotator = models.ForeignKey(Annotator, null=True, on_delete=models.PROTECT, related_name="slots", db_index=False)
    held_until = models.DateTimeField(null=True)
    judgment = models.OneToOneField("Judgment", null=True, on_delete=models.PROTECT, related_name="counted_on")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="slot_number_once"),
            models.UniqueConstraint(
                fields=["task", "annotator"], condition=Q(annotator__isnull=False), name="slot_annotator_once"
            ),
            models.CheckConstraint(
                condition=Q(annotator__isnull=True, held_until__isnull=True, judgment__isnull=True)
                | Q(annotator__isnull=False, held_until__isnull=False, judgment__isnull=True)
                | Q(annotator__isnull=False, held_until__isnull=True, judgment__isnull=False),
                name="slot_free_leased_or_judged",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="slot_number_from_one"),
        ]
        indexes = [
            models.Index(
                fields=["stage", "rank", "number"],
                condition=Q(annotator__isnull=True, reserved__isnull=True, live=True),
                name="slot_free",
            ),
            models.Index(
                fields=["stage", "reserved", "rank"],
                condition=Q(annotator__isnull=True, live=True),
                name="slot_reserved",
            ),
            models.Index(fields=["stage", "held_until"], condition=Q(held_until__isnull=False), name="slot_leased"),
            models.Index(fields=["annotator"], condition=Q(held_until__isnull=False), name="slot_held"),
            models.Index(fields=["stage", "annotator"], include=["judgment"], name="slot_of_stage"),
        ]


class Lease(models.Model):
    """A slot held by an annotator for a while, with the order of options drawn for it (law 4).

    `previous` has an earlier answer's fields as they were shown, if `judging` or `checks` looked for it, and `seen` its
    key.
    """

    previous: Mapping[str, str]
    seen: UUID
    token = models.UUIDField(unique=True, db_default=RandomUUID(), editable=False)
    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="leases")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="leases", db_index=False)
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="leases", db_index=False)
    state = models.CharField(max_length=8, choices=LeaseState, default=LeaseState.HELD)
    shown = ArrayField(models.CharField(max_length=40))  # a permutation of the task's options
    granted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "annotator"], condition=~Q(state=LeaseState.LAPSED), name="lease_task_annotator_once"
            ),
            models.CheckConstraint(condition=Q(state__in=LeaseState.values), name="lease_state_known"),
        ]
        indexes = [
            models.Index(fields=["annotator", "state", "granted_at"], name="lease_of_annotator"),
            models.Index(fields=["task"], name="lease_of_task"),  # the constraint's index does not have lapsed leases
        ]


class RatingsFile(models.Model):
    """A file of judgments made elsewhere and imported into a stage. `mapping` has the columns' meanings, and
    `source` their origin.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="ratings_files")
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    source = models.CharField(max_length=500)
    mapping = models.JSONField()
    imported_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["stage_id", "id"]
        constraints = [models.UniqueConstraint(fields=["stage", "sha256"], name="ratings_file_once")]


class Judgment(models.Model):
    """An annotator's answer on a slot. A trigger keeps the table append-only: an edit or an undo is a new revision.

    `answer` is the option's identity (`candidate-2`), a fixed answer of the protocol (`none`) or `cannot_judge`; for
    answers that are more than a choice of option it is a label (`edited`), and `content` has the rest
    (protocols.base.Answer).
    """

    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="judgments", db_index=False)
    revision = models.PositiveSmallIntegerField(default=1)
    key = models.UUIDField(unique=True)  # created by the client: the same key again is the same submission (law 3)
    digest = models.CharField(max_length=64)  # SHA-256 of the submission's body
    instructions = models.ForeignKey(Instructions, on_delete=models.PROTECT, related_name="+", db_index=False)
    answer = models.TextField(blank=True)
    content = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)  # for cannot_judge, or for a rejection
    withdrawn = models.BooleanField(default=False)  # an undo
    language = models.CharField(max_length=8, db_default="en")  # the language of the page they answered on
    surplus = models.BooleanField(default=False)  # came after its slot was given to someone else: kept, not counted
    active_ms = models.PositiveIntegerField(default=0)  # time with the page in view, as the browser measured it
    elapsed_ms = models.PositiveIntegerField(default=0)  # from first painted to submitted, as the browser measured it
    created_at = models.DateTimeField(db_default=Now())
    # For a judgment made elsewhere: its file, and the row in it
    imported = models.ForeignKey(
        RatingsFile, null=True, on_delete=models.PROTECT, related_name="judgments", db_index=False
    )
    imported_row = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lease", "revision"], name="judgment_revision_once"),
            models.CheckConstraint(
                condition=Q(imported__isnull=True, imported_row__isnull=True)
                | Q(imported__isnull=False, imported_row__isnull=False),
                name="judgment_imported_with_row",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn=True, answer="") | (Q(withdrawn=False) & ~Q(answer="")),
                name="judgment_answered_or_withdrawn",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="judgment_revision_from_one"),
            models.CheckConstraint(condition=Q(active_ms__lte=F("elapsed_ms")), name="judgment_active_within_elapsed"),
        ]
        indexes = [
            BrinIndex(fields=["created_at"], name="judgment_given_at", autosummarize=True),
            models.Index(fields=["imported"], condition=Q(imported__isnull=False), name="judgment_imported"),
        ]


class Flag(models.Model):
    """An annotator's report to the manager that something is wrong with a task. Changes nothing by itself."""

    lease = models.ForeignKey(Lease, on_delete=models.CASCADE, related_name="flags")
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="flag_has_reason")]
