"""Annotators, their seats in stages and attempts at qualification; and a study's members, who manage it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.choices import AttemptKind, Role
from annotation.models.study import Instructions, Stage, Study, secret_token
from annotation.wording import pseudonym


class Annotator(models.Model):
    """A person in one study, identified by the token in their link. Exports contain only their number. Annotators who
    judged elsewhere (`imported`) don't have a link.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    number = models.PositiveIntegerField()  # … in order of joining
    token = models.CharField(max_length=32, unique=True, null=True, default=secret_token)
    imported = models.BooleanField(default=False, db_default=False)
    name = models.CharField(max_length=120, blank=True)
    prolific_pid = models.CharField(max_length=64, blank=True)
    prolific_study = models.CharField(max_length=64, blank=True)
    prolific_session = models.CharField(max_length=64, blank=True)
    language = models.CharField(
        max_length=8, choices=settings.LANGUAGES, blank=True
    )  # chosen by them, or else the browser's
    simulated = models.BooleanField(default=False)
    stage = models.ForeignKey(Stage, null=True, on_delete=models.PROTECT, related_name="+")  # where they work now
    # The stage of the link by which they joined; none: the study's own link, which includes every stage
    invited_to = models.ForeignKey(Stage, null=True, on_delete=models.PROTECT, related_name="+")
    consented_at = models.DateTimeField(null=True)
    left_at = models.DateTimeField(null=True)  # gave up their place; their judgments still count
    excluded_at = models.DateTimeField(null=True)  # decided by a person; their judgments are kept but do not count
    excluded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    exclusion_reason = models.CharField(max_length=500, blank=True)
    joined_at = models.DateTimeField(db_default=Now())
    erased_at = models.DateTimeField(null=True)  # personal data erased; their judgments stay under the pseudonym

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="annotator_number_once"),
            models.UniqueConstraint(
                fields=["study", "prolific_pid"], condition=~Q(prolific_pid=""), name="annotator_prolific_once"
            ),
            models.CheckConstraint(
                condition=Q(excluded_at__isnull=True) | ~Q(exclusion_reason=""), name="annotator_excluded_with_reason"
            ),
            models.CheckConstraint(
                condition=Q(imported=True, token__isnull=True, stage__isnull=True)
                | Q(imported=False, token__isnull=False),
                name="annotator_imported_without_link",
            ),
            models.CheckConstraint(
                condition=Q(erased_at__isnull=True)
                | Q(name="", prolific_pid="", prolific_study="", prolific_session=""),
                name="annotator_erased_whole",
            ),
        ]

    @property
    def pseudonym(self) -> str:
        return pseudonym(self.number)


class Seat(models.Model):
    """An annotator's place in a stage: what they have read and passed there, and their batch."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="seats")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="seats")
    # The last version accepted
    read = models.ForeignKey(Instructions, null=True, on_delete=models.PROTECT, related_name="+")
    # With `place`, the number of their slots within the batch's tasks
    batch = models.PositiveIntegerField(null=True)
    place = models.PositiveSmallIntegerField(null=True)
    ready_at = models.DateTimeField(null=True)  # past comprehension questions and practice
    screened_out_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["stage_id", "annotator_id"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "stage"], name="seat_once"),
            models.UniqueConstraint(
                fields=["stage", "batch", "place"], condition=Q(batch__isnull=False), name="seat_place_once"
            ),
            models.CheckConstraint(
                condition=Q(batch__isnull=True, place__isnull=True) | Q(batch__isnull=False, place__isnull=False),
                name="seat_batch_and_place",
            ),
        ]


class Attempt(models.Model):
    """An attempt at a stage's comprehension questions or practice. It is only information; nothing follows from it."""

    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="attempts")
    kind = models.CharField(max_length=14, choices=AttemptKind)
    number = models.PositiveSmallIntegerField()  # the first attempt is 1
    answers = models.JSONField(default=list)  # [{"task" or "question", "shown", "answer", "right"}], in the order asked
    passed = models.BooleanField(null=True)  # none while it is in progress
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["seat_id", "kind", "number"]
        constraints = [
            models.UniqueConstraint(fields=["seat", "kind", "number"], name="attempt_once"),
            models.CheckConstraint(condition=Q(kind__in=AttemptKind.values), name="attempt_kind_known"),
            models.CheckConstraint(
                condition=Q(passed__isnull=True, finished_at__isnull=True)
                | Q(passed__isnull=False, finished_at__isnull=False),
                name="attempt_finished_with_result",
            ),
        ]


class Member(models.Model):
    """A user who may view a study, run it, or choose who else may. Superusers don't need a row."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role)
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["study_id", "added_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="member_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_known"),
        ]
