"""The audit trail."""

from django.db import models
from django.db.models.functions import Now


class Event(models.Model):
    """The audit trail: one row for each change by a person or the app, written in the same transaction."""

    at = models.DateTimeField(db_default=Now())
    by = models.CharField(max_length=200)  # "user:3", "annotator:17", "command", "worker"
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=60)  # "study:4"
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject", "at"])]
