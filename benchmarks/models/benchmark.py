"""Benchmarks, their items, captions and images."""

import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from benchmarks import records


class Benchmark(models.Model):
    """A set of items of one kind, from one or more imports."""

    name = models.CharField(max_length=120, unique=True)
    source = models.CharField(max_length=60)  # the format of its first import
    mapping = models.JSONField(null=True)  # mapping of columns, from the last import of a user's own file
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(db_default=Now())
    archived = models.BooleanField(default=False, db_default=False)  # lists omit it

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.name

    @property
    def present(self) -> "models.QuerySet[Item]":
        """Return its items that are not withdrawn."""
        return self.items.filter(withdrawn=False)


def opaque_name() -> str:
    """Return 128 random bits: the name under which an image is served reveals nothing about it (law 4)."""
    return secrets.token_hex(16)


def original_path(sha256: str) -> str:
    """Return the path of an image's original bytes."""
    return f"originals/{sha256[:2]}/{sha256}"


def video_path(opaque: str) -> str:
    """Return the path of the video served under this name."""
    return f"videos/{opaque[:2]}/{opaque}"


def small_path(opaque: str) -> str:
    """Return the path of the smaller copy, for phones, of the image served under this name, framed or not."""
    return f"small/{opaque[:2]}/{opaque}.jpg"


class Image(models.Model):
    """One image or short video, stored once by the SHA-256 of its original bytes.

    The original is kept for export; annotators get a copy without metadata, under an opaque name: re-encoded, or a
    repackaged video. A video is an image, its poster, with an additional file.
    """

    sha256 = models.CharField(max_length=64, unique=True)
    format = models.CharField(max_length=8)  # JPEG, PNG, WEBP, AVIF, GIF; MP4, WEBM
    width = models.PositiveIntegerField()  # of the original with its orientation applied
    height = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField()  # bytes of the original
    opaque = models.CharField(max_length=32, unique=True, default=opaque_name)

    @property
    def original_path(self) -> str:
        return original_path(self.sha256)

    @property
    def served_path(self) -> str:
        return f"served/{self.opaque[:2]}/{self.opaque}.jpg"

    @property
    def video_path(self) -> str:
        """Return the path of a video; an image has none."""
        return video_path(self.opaque)

    @property
    def is_video(self) -> bool:
        return self.format in records.VIDEOS

    @property
    def address(self) -> str:
        """Return the URL of the whole image, or of the video."""
        if self.is_video:
            return reverse("video", args=[self.opaque, records.VIDEOS[self.format]])
        return reverse("image", args=[self.opaque])

    @property
    def small_path(self) -> str:
        return small_path(self.opaque)

    @property
    def thumbnail_path(self) -> str:
        return f"thumbnails/{self.opaque[:2]}/{self.opaque}.jpg"


class Item(models.Model):
    """One instance of a benchmark: captions and images with roles."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=200)  # the source's own id
    position = models.PositiveIntegerField()  # the source's order
    type = models.CharField(max_length=60, blank=True)
    subtype = models.CharField(max_length=60, blank=True)
    meta = models.JSONField(default=dict)
    truth = models.JSONField(default=dict)  # records.ItemRecord.truth
    withdrawn = models.BooleanField(default=False, db_default=False)  # set by withdrawals and restorations

    class Meta:
        ordering = ["benchmark_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="item_key_once"),
            models.UniqueConstraint(fields=["benchmark", "position"], name="item_position_once"),
        ]


NAMED = rf"^[a-z][a-z0-9_]{{0,{records.MAX_ROLE - 1}}}$"  # records.NAME in PostgreSQL's syntax


class Role(models.TextChoices):
    """Meaningful roles; items may have others, with user-defined names."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    SECOND_POSITIVE = "second_positive"
    CANDIDATE = "candidate"


class Caption(models.Model):
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="captions")
    role = models.CharField(max_length=records.MAX_ROLE)
    position = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()
    attributes = models.JSONField(default=dict, db_default={})  # records.Attributes

    class Meta:
        ordering = ["item_id", "role", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "role", "position"], name="caption_place_once"),
            models.CheckConstraint(condition=Q(role__regex=NAMED), name="caption_role_named"),
        ]


class ItemImage(models.Model):
    """An image of an item; answers refer to it by `key`: `candidate-2`.

    If its size would reveal what it is, annotators get it in the item's frame, under the name `opaque`
    (imports/frames.py).
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="item_images")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="uses")
    role = models.CharField(max_length=records.MAX_ROLE)
    position = models.PositiveSmallIntegerField(default=0)
    round = models.PositiveSmallIntegerField(default=1)  # for candidates: later rounds are for items that were dropped
    source_name = models.CharField(max_length=400)
    crop = ArrayField(models.PositiveIntegerField(), size=4, null=True)  # `image` is this part of the file
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.CharField(max_length=500, blank=True)
    opaque = models.CharField(max_length=32, unique=True, default=opaque_name)
    attributes = models.JSONField(default=dict, db_default={})  # records.Attributes

    class Meta:
        ordering = ["item_id", "role", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "role", "position"], name="item_image_place_once"),
            models.CheckConstraint(condition=Q(role__regex=NAMED), name="item_image_role_named"),
            models.CheckConstraint(
                condition=Q(crop=None) | Q(crop__len=4, crop__0__gte=0, crop__1__gte=0, crop__2__gt=0, crop__3__gt=0),
                name="item_image_crop_whole",
            ),
        ]
        indexes = [  # the few images in later rounds, queried whenever an annotator has run out of work
            models.Index(fields=["item"], condition=Q(role="candidate", round__gt=1), name="item_image_later_round")
        ]

    @property
    def key(self) -> str:
        return f"{self.role}-{self.position}"

    @property
    def format(self) -> str:
        return self.image.format

    @property
    def framed_path(self) -> str:
        return f"framed/{self.opaque[:2]}/{self.opaque}.jpg"

    @property
    def small_path(self) -> str:
        """Return the path of the framed variant's smaller copy."""
        return small_path(self.opaque)
