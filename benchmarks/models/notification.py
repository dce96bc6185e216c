"""Messages by e-mail: which kinds a user wants, and which have been sent."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Subscription(models.Model):
    """A user's wish for messages of this kind."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="subscriptions")
    kind = models.CharField(max_length=20)  # notifications.kinds.KINDS
    since = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="subscription_once")]


class Notification(models.Model):
    """A message that was sent, or could not be. One row for each thing reported to a user, so never twice."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=20)
    about = models.CharField(max_length=60)  # "job:7", "stage:3", "2026-11-22"
    tried_at = models.DateTimeField(db_default=Now())  # last
    tries = models.PositiveSmallIntegerField(default=0)
    sent = models.BooleanField(default=False)  # set before the mail server gets it, unset if the server refuses it

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind", "about"], name="notification_once")]
