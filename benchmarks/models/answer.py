"""Answers of generative models."""

from django.db import models
from django.db.models.functions import Now

from benchmarks.models.job import Job


class ModelAnswer(models.Model):
    """A model's answer to one question, kept so that nothing is asked and paid for twice."""

    key = models.CharField(max_length=64, unique=True)  # workers.models.chat.key_of: model, messages and settings
    model = models.CharField(max_length=300)  # its name
    text = models.TextField()
    finish = models.CharField(max_length=20)  # why it stopped: stop, length, content_filter, refusal
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    facts = models.JSONField(default=dict)  # other information that it returned about itself
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="answers")  # the job that paid
    answered_at = models.DateTimeField(db_default=Now())
