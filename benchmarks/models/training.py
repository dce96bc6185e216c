"""Models trained in this installation."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from benchmarks.models.benchmark import Benchmark
from benchmarks.models.job import Job


class TrainedModel(models.Model):
    """A model's provenance. Its files are in the folder of models, under `path`, which has the hash of the weights."""

    name = models.CharField(max_length=80, unique=True)
    key = models.CharField(max_length=64, unique=True)  # workers.models.training_task.Task.key
    preset = models.CharField(max_length=20)  # workers.models.presets
    base = models.CharField(max_length=300)  # the model trained further, and its weights
    base_weights = models.CharField(max_length=300, blank=True)
    hyperparameters = models.JSONField(default=dict)  # workers.models.presets.Settings, with the seed
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.SET_NULL, related_name="trained_models")
    source = models.CharField(max_length=300)  # the benchmark's name, or the release's name and version
    counts = models.JSONField(default=dict)  # numbers of items for training, for validation, and left out
    accuracy = models.FloatField()  # on the validation side
    epoch = models.PositiveIntegerField()  # the epoch with the best weights
    curve = models.JSONField(default=dict)  # workers.models.training_task.Curve
    facts = models.JSONField(default=dict)  # device, precision, versions, fingerprint of the base, notes
    weights = models.CharField(max_length=64)  # SHA-256 of the file with the trained weights
    path = models.CharField(max_length=120, unique=True)
    seconds = models.FloatField()
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-made_at", "-id"]

    def __str__(self):
        return self.name

    @property
    def asked(self) -> str:
        """Return the model name for scoring with it."""
        return f"{'detector' if self.preset == 'detector' else 'local-dir'}:{self.path}"
