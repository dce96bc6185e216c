"""What models computed about a benchmark: encodings, and runs with their predictions."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from benchmarks.models.benchmark import Benchmark, Item
from benchmarks.models.job import Job


class ScoringModel(models.Model):
    """A model as it computes: its weights, preparation and precision. Two names of one thing are one row."""

    fingerprint = models.CharField(max_length=64, unique=True)  # workers.scoring.device.told
    name = models.CharField(max_length=300)  # as it was first asked for
    pretrained = models.CharField(max_length=300, blank=True)
    title = models.CharField(max_length=300)  # as tables name it
    precision = models.CharField(max_length=10)  # float32, float16
    sees_images = models.BooleanField()  # False: blind, whatever it answers it answers from the captions
    recipes = ArrayField(models.CharField(max_length=64), default=list)  # workers.scoring.model_name.recipe

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
