"""WHO judges: studies, stages, tasks, slots, leases and judgments.

Foreign keys that another index already covers have none of their own: every index is written at every click.

A task has k slots (its overlap). A slot is free, leased or judged; which of the three is read from its own columns and
held by a check constraint, so a task can never have more live leases plus counted judgments than slots (law 2).
"""

import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from benchmarks.models import Benchmark, Item

DAY = 86_400  # seconds


def secret_token() -> str:
    """A capability: whoever has the link may use it. 144 random bits, safe in a URL."""
    return secrets.token_urlsafe(18)


def completion_code() -> str:
    return "W" + secrets.token_hex(4).upper()


class StudyState(models.TextChoices):
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


STUDY_MOVES = {
    StudyState.OPEN: {StudyState.PAUSED, StudyState.CLOSED},
    StudyState.PAUSED: {StudyState.OPEN, StudyState.CLOSED},
    StudyState.CLOSED: {StudyState.OPEN},
}


class Study(models.Model):
    """A campaign over a benchmark."""

    name = models.CharField(max_length=120, unique=True)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="studies")
    state = models.CharField(max_length=8, choices=StudyState, default=StudyState.OPEN)
    invite = models.CharField(max_length=32, unique=True, default=secret_token)
    completion_code = models.CharField(max_length=40, default=completion_code)
    pay_per_hour = models.DecimalField(max_digits=7, decimal_places=2, default=0, validators=[MinValueValidator(0)])
    currency = models.CharField(max_length=3, default="USD")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=StudyState.values), name="study_state_known"),
            models.CheckConstraint(condition=Q(pay_per_hour__gte=0), name="study_pay_not_negative"),
        ]

    def __str__(self):
        return self.name


class Strategy(models.TextChoices):
    POOL = "pool"  # whoever asks next gets the next free slot, in one random order


class TieRule(models.TextChoices):
    DROP = "drop"  # a tie drops the item with the reason tie_unresolved
    FIRST = "first"  # the answer that was given first among the tied wins
    NONE = "none"  # a tie counts as the protocol's "none" answer


class Stage(models.Model):
    """One question asked of the study's items."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="stages")
    position = models.PositiveSmallIntegerField(default=1)
    protocol = models.CharField(max_length=40)
    overlap = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1), MaxValueValidator(50)])
    strategy = models.CharField(max_length=10, choices=Strategy, default=Strategy.POOL)
    tie_rule = models.CharField(max_length=8, choices=TieRule, default=TieRule.DROP)
    quota = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )  # judgments per annotator
    lease_seconds = models.PositiveIntegerField(
        default=600, validators=[MinValueValidator(30), MaxValueValidator(86400)]
    )
    undo_seconds = models.PositiveIntegerField(default=900, validators=[MaxValueValidator(86400)])
    auto_advance = models.BooleanField(default=False)
    seed = models.BigIntegerField()  # the pool's order is drawn from it

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="stage_position_once"),
            models.CheckConstraint(condition=Q(overlap__gte=1, overlap__lte=50), name="stage_overlap_range"),
            models.CheckConstraint(condition=Q(lease_seconds__gte=1), name="stage_lease_positive"),
        ]


class Instructions(models.Model):
    """What annotators must have read. Never edited: a change is a new version, and it is a gate again."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="instructions")
    version = models.PositiveIntegerField()
    text = models.TextField()  # blank lines part paragraphs; lines starting with "- " are a list
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["stage_id", "version"]
        verbose_name_plural = "instructions"
        constraints = [models.UniqueConstraint(fields=["stage", "version"], name="instructions_version_once")]


class Annotator(models.Model):
    """A person in one study. The token in their link is who they are; exports know them by number alone."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    number = models.PositiveIntegerField()  # … in order of joining
    token = models.CharField(max_length=32, unique=True, default=secret_token)
    name = models.CharField(max_length=120, blank=True)
    prolific_pid = models.CharField(max_length=64, blank=True)
    prolific_study = models.CharField(max_length=64, blank=True)
    prolific_session = models.CharField(max_length=64, blank=True)
    simulated = models.BooleanField(default=False)
    read = models.ForeignKey(
        Instructions, null=True, on_delete=models.PROTECT, related_name="+"
    )  # the last one accepted
    joined_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="annotator_number_once"),
            models.UniqueConstraint(
                fields=["study", "prolific_pid"], condition=~Q(prolific_pid=""), name="annotator_prolific_once"
            ),
        ]

    @property
    def pseudonym(self) -> str:
        return f"A-{self.number:02d}"


class Task(models.Model):
    """An item as one stage asks it."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="tasks")
    question = models.CharField(max_length=20, blank=True)  # where an item makes several tasks
    rank = models.PositiveIntegerField()  # its place in the pool's random order
    options = ArrayField(models.CharField(max_length=40))  # what is shuffled, by identity: candidate-0 …

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "item", "question"], name="task_once"),
            models.UniqueConstraint(fields=["stage", "rank"], name="task_rank_once"),
        ]


class LeaseState(models.TextChoices):
    HELD = "held"
    JUDGED = "judged"
    SKIPPED = "skipped"
    LAPSED = "lapsed"  # it ran out and the slot was given on
    LATE = "late"  # it lapsed and was answered all the same: the judgment is surplus


class Slot(models.Model):
    """One of a task's k places: free, leased (`held_until`) or judged (`judgment`)."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="slots", db_index=False)
    rank = models.PositiveIntegerField()  # the task's, here so that a claim reads one index
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
            models.Index(fields=["stage", "rank", "number"], condition=Q(annotator__isnull=True), name="slot_free"),
            models.Index(fields=["stage", "held_until"], condition=Q(held_until__isnull=False), name="slot_leased"),
            models.Index(fields=["annotator"], condition=Q(held_until__isnull=False), name="slot_held"),
            models.Index(fields=["stage", "annotator"], condition=Q(judgment__isnull=False), name="slot_judged"),
        ]


class Lease(models.Model):
    """A slot held by an annotator for a while, with the order of options that was drawn for it (law 4)."""

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
        ]


class Judgment(models.Model):
    """What an annotator answered on a slot. Append-only by a trigger: an edit or an undo is a new revision.

    `answer` is the option's identity (`candidate-2`), a fixed answer of the protocol (`none`) or `cannot_judge`.
    """

    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="judgments", db_index=False)
    revision = models.PositiveSmallIntegerField(default=1)
    key = models.UUIDField(unique=True)  # made by the client: the same key again is the same submission (law 3)
    digest = models.CharField(max_length=64)  # SHA-256 of the submission's body
    instructions = models.ForeignKey(Instructions, on_delete=models.PROTECT, related_name="+", db_index=False)
    answer = models.CharField(max_length=40, blank=True)
    reason = models.CharField(max_length=500, blank=True)  # of cannot_judge
    withdrawn = models.BooleanField(default=False)  # an undo
    surplus = models.BooleanField(default=False)  # came after its slot was given on: kept, not counted
    active_ms = models.PositiveIntegerField(default=0)  # time with the page in view, as the browser measured it
    elapsed_ms = models.PositiveIntegerField(default=0)  # from first painted to submitted, as the browser measured it
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lease", "revision"], name="judgment_revision_once"),
            models.CheckConstraint(
                condition=Q(withdrawn=True, answer="") | (Q(withdrawn=False) & ~Q(answer="")),
                name="judgment_answered_or_withdrawn",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="judgment_revision_from_one"),
            models.CheckConstraint(condition=Q(active_ms__lte=F("elapsed_ms")), name="judgment_active_within_elapsed"),
        ]


class Flag(models.Model):
    """An annotator's word to the manager about a task: something is wrong with it. Changes nothing by itself."""

    lease = models.ForeignKey(Lease, on_delete=models.CASCADE, related_name="flags")
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="flag_has_reason")]
