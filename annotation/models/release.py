"""Splits that were frozen under a name and a version: what others cite."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.study import Study
from benchmarks.models import Job


class Release(models.Model):
    """A split of a study, in one zip. Not frozen: its job is still making it, or could not.

    Once it is frozen a trigger lets nothing of it change; it goes only with its whole study.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="releases")
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=20)
    plan = models.JSONField()  # releasing.plan.Plan
    content = models.CharField(max_length=64, blank=True)  # exports.files.content_hash of all files but the manifest
    summary = models.JSONField(default=dict)  # releases.build.summary
    file = models.CharField(max_length=300, blank=True)  # the zip, in the storage
    size = models.PositiveBigIntegerField(default=0)  # of it, in bytes
    sha256 = models.CharField(max_length=64, blank=True)  # of it
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="releases")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    frozen_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="release_version_once"),
            models.CheckConstraint(
                condition=Q(frozen_at=None, content="", file="", sha256="")
                | (Q(frozen_at__isnull=False) & ~Q(content="") & ~Q(file="") & ~Q(sha256="")),
                name="release_frozen_whole",
            ),
        ]

    def __str__(self):
        return f"{self.name} {self.version}"

    @property
    def folder(self) -> str:
        """What its folder is called: the zip's own, and of whoever unpacks it."""
        return f"{self.name}-{self.version}"
