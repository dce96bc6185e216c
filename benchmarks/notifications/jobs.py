"""The message that a job has ended, for the person who requested it."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from benchmarks import audit, permissions
from benchmarks.models import Job, JobState
from benchmarks.notifications.kinds import Message, link, tells

# Kinds of jobs that people request and wait for
WANTED = ("import", "predictions", "score", "ask", "generate", "images", "export", "release")
OLD = timedelta(days=7)  # there are no messages about jobs that ended longer ago


@tells("job", "An import, export, release or run of a model that I requested has ended")
def ended(user: User, since: datetime, notified: Collection[str]) -> Iterator[Message]:
    """Yield messages on the user's jobs that have ended since, unless they may no longer see them."""
    since = max(since, timezone.now() - OLD)
    states = (JobState.DONE, JobState.FAILED)
    found = Job.objects.filter(created_by=user, kind__in=WANTED, state__in=states, finished_at__gte=since)
    for job in found.order_by("finished_at"):
        if audit.named(job) not in notified and _may_see(user, job):
            yield _message(job)


def _may_see(user: User, job: Job) -> bool:
    try:
        permissions.check_job(user, job, change=False)
    except (Http404, PermissionDenied):
        return False
    return True


def _message(job: Job) -> Message:
    address = link(reverse("job-detail", args=[job.pk]))
    if job.state == JobState.DONE:
        return Message(audit.named(job), f"Done: {job.title}", f"“{job.title}” is done.\n\n{address}")
    text = f"“{job.title}” has failed. Its page explains why and what to do.\n\n{address}"
    return Message(audit.named(job), f"Failed: {job.title}", text)
