"""Splits frozen under a name and a version, for others to cite."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.study import Study
from benchmarks.models import Job


class Release(models.Model):
    """A split of a study, in one zip. If not frozen, its job is still running or has failed.

    A trigger prevents any change once it is frozen; it is deleted only with its whole study.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="releases")
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=20)
    plan = models.JSONField()  # releasing.plan.Plan
    content = models.CharField(max_length=64, blank=True)  # exports.files.content_hash of all files except the manifest
    summary = models.JSONField(default=dict)  # releases.build.summary
    file = models.CharField(max_length=300, blank=True)  # the zip, in the storage
    size = models.PositiveBigIntegerField(default=0)  # of the zip, in bytes
    sha256 = models.CharField(max_length=64, blank=True)  # of the zip
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
        """Return the name of its folder, inside the zip and when unpacked."""
        return f"{self.name}-{self.version}"
