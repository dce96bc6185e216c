"""Figures that were computed once and are kept until what they describe has changed."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.study import Stage


class Reckoning(models.Model):
    """What was last computed of a stage: a kind of figures, and for which choices where there are any (`key`).

    `state` is what the figures describe (reckoning.state_of): they are current while it is the same.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="reckonings", db_index=False)
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=64)
    data = models.JSONField()
    seconds = models.FloatField()  # that it took
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "kind", "key"], name="reckoning_once")]
