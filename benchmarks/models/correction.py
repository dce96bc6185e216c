"""Corrections: every change to a stored item's texts and images, and its withdrawal, with the reason."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from benchmarks.models.benchmark import Image, Item

WHOLE = ""  # the place of a change to the whole item


class Action(models.TextChoices):
    CAPTION = "caption", "corrected"  # a text has been changed
    IMAGE = "image", "picture replaced"
    WITHDRAW = "withdraw", "withdrawn"
    RESTORE = "restore", "put back"


class Correction(models.Model):
    """One change by a manager. A trigger keeps the table append-only: a wrong correction gets another correction.

    `place` is an identity as in tasks (`caption-negative-0`, `candidate-2`), empty for the whole item. `old` and `new`
    are texts, or names of an image's files; `old_image` and `new_image` keep both images.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="corrections")
    action = models.CharField(max_length=8, choices=Action)
    place = models.CharField(max_length=40, blank=True)
    old = models.TextField(blank=True)
    new = models.TextField(blank=True)
    old_image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="+")
    new_image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(action__in=Action.values), name="correction_action_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="correction_has_reason"),
            models.CheckConstraint(
                condition=Q(action__in=[Action.WITHDRAW, Action.RESTORE], place=WHOLE, old="", new="")
                | (Q(action__in=[Action.CAPTION, Action.IMAGE]) & ~Q(place=WHOLE)),
                name="correction_of_a_place_or_the_whole",
            ),
            models.CheckConstraint(
                condition=Q(action=Action.IMAGE, old_image__isnull=False, new_image__isnull=False)
                | (~Q(action=Action.IMAGE) & Q(old_image__isnull=True, new_image__isnull=True)),
                name="correction_keeps_both_pictures",
            ),
        ]
