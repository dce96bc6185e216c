"""WHAT is judged: benchmarks, their items, captions and images; what models said of them; and the jobs and events that
the whole house shares."""

import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Event(models.Model):
    """The audit trail: one row for each change that a person or the app made, written in the change's transaction."""

    at = models.DateTimeField(db_default=Now())
    by = models.CharField(max_length=200)  # "user:3", "annotator:17", "command", "worker"
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=60)  # "study:4"
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject", "at"])]


class Benchmark(models.Model):
    """A set of items of one kind, from one import or more."""

    name = models.CharField(max_length=120, unique=True)
    source = models.CharField(max_length=60)  # the format that its first import came in
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.name


def opaque_name() -> str:
    """128 random bits: the name under which an image is served says nothing about it (law 4)."""
    return secrets.token_hex(16)


class Image(models.Model):
    """One image, stored once by the SHA-256 of its original bytes.

    The original is kept for export; what is served is a re-encoded copy without metadata, under an opaque name.
    """

    sha256 = models.CharField(max_length=64, unique=True)
    format = models.CharField(max_length=8)  # JPEG, PNG, WEBP, GIF
    width = models.PositiveIntegerField()  # of the original with its orientation applied
    height = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField()  # bytes of the original
    opaque = models.CharField(max_length=32, unique=True, default=opaque_name)

    @property
    def original_path(self) -> str:
        return f"originals/{self.sha256[:2]}/{self.sha256}"

    @property
    def served_path(self) -> str:
        return f"served/{self.opaque[:2]}/{self.opaque}.jpg"

    @property
    def thumbnail_path(self) -> str:
        return f"thumbnails/{self.opaque[:2]}/{self.opaque}.jpg"


class Item(models.Model):
    """One instance of a benchmark: captions and images with roles."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=200)  # the source's own id
    position = models.PositiveIntegerField()  # the source's order
    type = models.CharField(max_length=60, blank=True)
    subtype = models.CharField(max_length=60, blank=True)
    meta = models.JSONField(default=dict)
    truth = models.JSONField(default=dict)  # records.ItemRecord.truth

    class Meta:
        ordering = ["benchmark_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="item_key_once"),
            models.UniqueConstraint(fields=["benchmark", "position"], name="item_position_once"),
        ]


class Role(models.TextChoices):
    POSITIVE = "positive"
    NEGATIVE = "negative"
    SECOND_POSITIVE = "second_positive"
    CANDIDATE = "candidate"


class Caption(models.Model):
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="captions")
    role = models.CharField(max_length=16, choices=Role)
    position = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()

    class Meta:
        ordering = ["item_id", "role", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "role", "position"], name="caption_place_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="caption_role_known"),
        ]


class ItemImage(models.Model):
    """An image in one of an item's places; `key` is how answers name it: `candidate-2`."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="item_images")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="uses")
    role = models.CharField(max_length=16, choices=Role)
    position = models.PositiveSmallIntegerField(default=0)
    round = models.PositiveSmallIntegerField(default=1)  # of candidates: made anew for an item that had fallen out
    source_name = models.CharField(max_length=400)
    crop = ArrayField(models.PositiveIntegerField(), size=4, null=True)  # `image` is that part of the file
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["item_id", "role", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "role", "position"], name="item_image_place_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="item_image_role_known"),
            models.CheckConstraint(
                condition=Q(crop=None) | Q(crop__len=4, crop__0__gte=0, crop__1__gte=0, crop__2__gt=0, crop__3__gt=0),
                name="item_image_crop_whole",
            ),
        ]
        indexes = [  # the few that came later: looked for whenever somebody has run out of work
            models.Index(fields=["item"], condition=Q(role="candidate", round__gt=1), name="item_image_later_round")
        ]

    @property
    def key(self) -> str:
        return f"{self.role}-{self.position}"


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
    """A piece of slow work: its state, progress, problems and report live here, not in the broker."""

    kind = models.CharField(max_length=20)  # "import", "export"
    title = models.CharField(max_length=200)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    phase = models.CharField(max_length=60, blank=True)  # "checking images"
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True)
    problems = models.JSONField(default=list)  # [{code, file, row, column, advice}], at most 100
    problem_count = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    cancel_asked = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    phase_started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known")]


class ScoringModel(models.Model):
    """A model as it computes: its weights, preparation and precision. Two names of one thing are one row."""

    fingerprint = models.CharField(max_length=64, unique=True)  # workers.scoring.device.told
    name = models.CharField(max_length=300)  # as it was first asked for
    pretrained = models.CharField(max_length=300, blank=True)
    title = models.CharField(max_length=300)  # as tables name it
    precision = models.CharField(max_length=10)  # float32, float16
    sees_images = models.BooleanField()  # False: blind, whatever it answers it answers from the captions
    recipes = ArrayField(models.CharField(max_length=64), default=list)  # workers.scoring.asked.recipe

    def __str__(self):
        return self.title


class Embedding(models.Model):
    """What a model made of one content: numbers as little-endian float32, one behind the other."""

    model = models.ForeignKey(ScoringModel, on_delete=models.CASCADE, related_name="embeddings")
    content = models.CharField(max_length=64)  # SHA-256 of the image's original bytes, or of the caption in UTF-8
    vector = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "content"], name="embedding_once")]


class RunOrigin(models.TextChoices):
    MEASURED = "measured"  # here, from the model itself
    IMPORTED = "imported"  # predictions made elsewhere
    REPORTED = "reported"  # figures as a source printed them


class Run(models.Model):
    """What one model said of a benchmark, at one time."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="runs")
    origin = models.CharField(max_length=10, choices=RunOrigin)
    kind = models.CharField(max_length=20)  # of evaluation: benchmarks.predictions.kinds
    title = models.CharField(max_length=300)  # the model, as tables name it
    model = models.ForeignKey(ScoringModel, null=True, on_delete=models.PROTECT, related_name="runs")
    source = models.CharField(max_length=500, blank=True)  # a file, a paper's table
    digest = models.CharField(max_length=64, blank=True)  # of what was measured: the same again needs no other run
    blind = models.BooleanField(default=False)  # the model saw no image
    figures = models.JSONField(default=dict)  # of what was reported: there are no predictions then
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-made_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(origin__in=RunOrigin.values), name="run_origin_known"),
            models.CheckConstraint(
                condition=Q(model__isnull=False) | ~Q(origin="measured"), name="run_measured_by_one"
            ),
        ]


class Prediction(models.Model):
    """A model's word on one item: a score under the name of what was scored, or a choice at a question."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="predictions")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="predictions")
    question = models.CharField(max_length=200)  # "s(c0,i1)", "i_pos2t": benchmarks.predictions.kinds
    score = models.FloatField(null=True)
    choice = models.CharField(max_length=200, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "item", "question"], name="prediction_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=False, choice=None) | Q(score=None, choice__isnull=False),
                name="prediction_one_answer",
            ),
        ]
