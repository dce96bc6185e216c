"""Models' results on a benchmark: encodings, and runs with their predictions."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from benchmarks.models.benchmark import Benchmark, Item
from benchmarks.models.job import Job

ASKED = "remote"  # the precision of a model at an endpoint, whose scores are not computed locally


class ScoringModel(models.Model):
    """A model as executed: its weights, preprocessing and precision. Two names for the same model share a row."""

    fingerprint = models.CharField(max_length=64, unique=True)  # workers.models.device.describe
    name = models.CharField(max_length=300)  # as first requested
    pretrained = models.CharField(max_length=300, blank=True)
    title = models.CharField(max_length=300)  # name in tables
    precision = models.CharField(max_length=10)  # float32, float16, or ASKED
    sees_images = models.BooleanField()  # False: blind, it answers only from the captions
    recipes = ArrayField(models.CharField(max_length=64), default=list)  # workers.models.model_name.recipe

    def __str__(self):
        return self.title


class Embedding(models.Model):
    """A model's encoding of one content, or its score for a pair: consecutive little-endian float32 numbers."""

    model = models.ForeignKey(ScoringModel, on_delete=models.CASCADE, related_name="embeddings")
    content = models.CharField(max_length=64)  # SHA-256 of an image's original bytes, a caption, or both (runs.pairs)
    vector = models.BinaryField()
    # SHA-256 of the tokens that the model read of a caption too long for it, otherwise empty. Captions that are
    # identical to the model share it; for a pair, together with the image.
    cut = models.CharField(max_length=64, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "content"], name="embedding_once")]


class RunOrigin(models.TextChoices):
    MEASURED = "measured"  # computed by the model in this installation
    IMPORTED = "imported"  # predictions made elsewhere
    REPORTED = "reported"  # scores printed in a source


class Run(models.Model):
    """One model's results on a benchmark, at one time."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="runs")
    origin = models.CharField(max_length=10, choices=RunOrigin)
    kind = models.CharField(max_length=20)  # kind of evaluation: benchmarks.predictions.kinds
    title = models.CharField(max_length=300)  # the model's name in tables
    model = models.ForeignKey(ScoringModel, null=True, on_delete=models.PROTECT, related_name="runs")
    source = models.CharField(max_length=500, blank=True)  # a file, a paper's table
    digest = models.CharField(max_length=64, blank=True)  # hash of what was measured, so that repeats do not need a run
    blind = models.BooleanField(default=False)  # the model saw no image
    # Each question was asked twice, with its options in both orders (scoring/ask.py)
    asked_in_both_orders = models.BooleanField(default=False, db_default=False)
    # The number of the study whose result was scored; None: the benchmark as imported.
    study = models.BigIntegerField(null=True, db_index=True)
    figures = models.JSONField(default=dict)  # only reported scores: such runs have no predictions
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
    """A model's answer about one item: a score under the name of what was scored, or a choice for a question."""

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
