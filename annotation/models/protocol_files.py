"""Protocol files: published versions, which never change, and drafts."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from benchmarks.models import Benchmark


class ProtocolVersion(models.Model):
    """A published file. Stages name it as `NAME@NUMBER`; a trigger prevents any change."""

    name = models.CharField(max_length=32)  # the protocol's name in the file
    number = models.PositiveIntegerField()  # counts the versions of the name, from 1
    title = models.CharField(max_length=60)
    text = models.TextField()  # the file as it was written
    sha256 = models.CharField(max_length=64, unique=True)  # SHA-256 of the text, in UTF-8
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["name", "number"], name="protocol_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="protocol_version_from_one"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="protocol_version_has_hash"),
        ]

    def __str__(self):
        return f"{self.name}@{self.number}"


class ProtocolDraft(models.Model):
    """A file that is being written; only its author and superusers see it. It may have mistakes."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="protocol_drafts")
    # Its items are used for trying the draft
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField(blank=True)
    started_from = models.CharField(max_length=40, blank=True)  # a library protocol, or a version
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed_at"]


def text_of_version(name: str, number: int) -> str:
    """Return the text of a published file. KeyError if there is none."""
    found = ProtocolVersion.objects.filter(name=name, number=number).values_list("text", flat=True).first()
    if found is None:
        raise KeyError(f"{name}@{number}")
    return found
