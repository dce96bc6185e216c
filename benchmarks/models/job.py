"""Background work and its progress."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


JOB_MOVES = {
    JobState.QUEUED: {JobState.RUNNING, JobState.CANCELLED, JobState.FAILED},
    JobState.RUNNING: {JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.QUEUED},  # QUEUED: a worker died
    JobState.DONE: set(),
    JobState.FAILED: set(),
    JobState.CANCELLED: set(),
}


class Job(models.Model):
    """A background job: its state, progress, problems and report are in this row, not in the broker."""

    kind = models.CharField(max_length=20)  # "import", "export"
    title = models.CharField(max_length=200)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    phase = models.CharField(max_length=60, blank=True)  # "checking images"
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True)
    then = models.FloatField(default=0, db_default=0)  # what follows this phase, as an amount of its work
    rate = models.FloatField(null=True)  # of `done`, per second
    problems = models.JSONField(default=list)  # [{code, file, row, column, advice}], at most 100
    problem_count = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    cancel_asked = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known")]
