"""Errors that readers of a release report: the address for them, and what was done."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.study import Study, secret_token
from benchmarks.models import Item


class ReportDoor(models.Model):
    """The address for reporting errors in a study's releases, if there is one. Once in a release, it never changes."""

    study = models.OneToOneField(Study, primary_key=True, on_delete=models.CASCADE, related_name="report_door")
    token = models.CharField(max_length=32, unique=True, default=secret_token)
    open = models.BooleanField(default=True)  # for everybody; otherwise only for users who are logged in


class Answered(models.TextChoices):
    CORRECTED = "corrected"
    WITHDRAWN = "withdrawn"
    DISMISSED = "dismissed"


class ReaderReport(models.Model):
    """A reader's report about an item. Nothing about the reader is kept. `item` is null if no item has that id."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reader_reports")
    key = models.CharField(max_length=200)  # as in the address
    item = models.ForeignKey(Item, null=True, on_delete=models.CASCADE, related_name="reader_reports")
    text = models.CharField(max_length=1000)
    created_at = models.DateTimeField(db_default=Now())
    answer = models.CharField(max_length=9, choices=Answered, blank=True)  # empty: nobody has answered it
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="reader_report_has_text"),
            models.CheckConstraint(
                condition=Q(answer="", answered_at=None)
                | (Q(answer__in=Answered.values) & Q(answered_at__isnull=False)),
                name="reader_report_answered_or_open",
            ),
        ]
