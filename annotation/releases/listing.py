"""A study's releases for lists, in any state."""

from django.db.models import QuerySet

from annotation.models import Kind, Release, Strategy, Study, Task
from annotation.releases.plan import SPLIT_NAMES
from benchmarks.jobs import jobs
from benchmarks.models import JobState

FROZEN = "frozen"


def releases_of(study: Study) -> QuerySet[Release]:
    """Return the releases, newest first, in any state."""
    return study.releases.select_related("job", "created_by").order_by("-created_at", "-pk")


def open_items(study: Study) -> int:
    """Return how many undecided items a release made now would leave out; an audit leaves most open."""
    tasks = Task.objects.filter(stage__study=study, kind=Kind.JUDGE, live=True, decided=None)
    return tasks.exclude(stage__strategy=Strategy.AUDIT).order_by().values("item").distinct().count()


def release_state(release: Release) -> str:
    """Return frozen, or the state of its job: queued, running, failed, cancelled."""
    if release.frozen_at:
        return FROZEN
    return release.job.state if release.job else JobState.FAILED


def list_row(release: Release) -> dict:
    """Return the data about a release for a list."""
    counted, state = release.summary.get("splits", {}), release_state(release)
    splits = [(name, counted[name]["items"]) for name in SPLIT_NAMES if name in counted]
    return {
        "release": release,
        "state": state,
        "making": state in (JobState.QUEUED, JobState.RUNNING),
        "pace": release.job and jobs.pace(release.job),
        "splits": splits,
        "items": sum(items for _, items in splits),
    }
