"""The daily message: unreviewed flags and blocked items in the studies that a user manages."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.figures import blocked_items
from annotation.models import Flag, Stage
from annotation.notifications.stages import run_by
from annotation.wording import counted
from benchmarks.notifications.kinds import Message, link, tells

HOUR = 6  # UTC, so that it arrives when the day begins in Europe


@tells("daily", "Once a day: flags to review and blocked items in the studies that I manage")
def today(user: User, since: datetime, notified: Collection[str]) -> Iterator[Message]:
    """Return today's message, from `HOUR` on; without text if there is nothing to do."""
    now = timezone.now().astimezone(UTC)
    about = now.date().isoformat()
    if now.hour < HOUR or about in notified:
        return
    stages = run_by(user).select_related("study__benchmark", "source").order_by("study__name", "position")
    parts = [part for stage in stages if (part := _of_stage(stage))]
    yield Message(about, "Flags and blocked items" if parts else "", "\n\n".join(parts))


def _of_stage(stage: Stage) -> str:
    """Describe what waits in the stage; empty if nothing does."""
    flags = Flag.objects.filter(lease__task__stage=stage, settled_at=None).count()
    blocked = blocked_items.counts(stage)
    if not flags and not blocked:
        return ""
    name = f"{stage.study.name}, stage {stage.position} ({stage.title})"
    lines = [f"- {counted(flags, 'flag')} to review"] if flags else []
    lines += [
        f"- {counted(count, 'blocked item')}: {blocked_items.REASONS[reason][0]}" for reason, count in blocked.items()
    ]
    page = "study-blocked" if blocked else "study-detail"
    return "\n".join([name, *lines, link(f"{reverse(page, args=[stage.study_id])}?stage={stage.position}")])
