"""Statistics cached until the data they describe changes."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.study import Stage


class CachedFigures(models.Model):
    """A stage's last computed statistics: their kind, and the options used, if any (`key`).

    `state` identifies the data described (cache.state_of): the statistics are current while it is unchanged.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="cached_figures", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=64)
    data = models.JSONField()
    seconds = models.FloatField()  # processor time taken
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "kind", "key"], name="cached_figures_once")]
