"""The message that a stage is done: every judgment that it asked for has been given, and no more items will come; or
that an audit has ended.
"""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.measures.audits.sentence import verdict
from annotation.models import Kind, Role, Slot, Stage, StageState, Strategy, StudyState, Task
from annotation.pipeline import audits
from annotation.studies.lifecycle import CLOSED
from benchmarks import audit
from benchmarks.models import Event, Notification
from benchmarks.notifications.kinds import Message, link, tells

KIND = "stage"
RUNS_IT = (Role.MANAGER, Role.OWNER)
# Undoing the last answer opens a stage for a moment; if it is open for longer after its message, it may be announced
# again.
FORGET = timedelta(hours=1)

OPEN = Slot.objects.filter(stage=OuterRef("pk"), task__kind=Kind.JUDGE).filter(
    Q(annotator=None, live=True) | Q(held_until__isnull=False)
)
JUDGED = Slot.objects.filter(stage=OuterRef("pk"), task__kind=Kind.JUDGE, judgment__isnull=False)


@tells(KIND, "A stage of a study that I manage is done")
def done(user: User, since: datetime, notified: Collection[str]) -> Iterator[Message]:
    """Return open stages in the user's open studies with nothing left to judge, and audits that have ended."""
    stages = run_by(user).annotate(is_open=Exists(OPEN), is_judged=Exists(JUDGED))
    finished: dict[int, bool] = {}  # by key; sources come before their takers
    for stage in stages.order_by("study_id", "position"):
        complete = finished.get(stage.source_id or 0, True) and stage.is_judged and not stage.is_open
        finished[stage.pk] = complete or stage.state == StageState.CLOSED
        if stage.state != StageState.OPEN:
            if audit.named(stage) not in notified and _has_ended(stage, since):
                yield _message(stage)
            continue
        if not complete:
            _forget(user, stage)
        elif audit.named(stage) not in notified:
            yield _message(stage)


def run_by(user: User) -> QuerySet[Stage]:
    """Return the stages, with their studies, of the open studies that the user manages."""
    mine = Stage.objects.filter(study__members__user=user, study__members__role__in=RUNS_IT)
    return mine.filter(study__state=StudyState.OPEN).select_related("study")


def _has_ended(stage: Stage, since: datetime) -> bool:
    """Return whether the stage is an audit that has closed itself since then."""
    if stage.strategy != Strategy.AUDIT:
        return False
    closed = Event.objects.filter(subject=audit.named(stage), verb=CLOSED).order_by("-pk").first()
    return closed is not None and closed.by == "app" and closed.at >= since


def _forget(user: User, stage: Stage) -> None:
    """Forget the message about a stage that is open again, so that a new one can be sent."""
    old = timezone.now() - FORGET
    Notification.objects.filter(user=user, kind=KIND, about=audit.named(stage), tried_at__lt=old).delete()


def _message(stage: Stage) -> Message:
    study, waiting = stage.study, Task.objects.filter(stage=stage, waits=True, live=True).count()
    address = link(reverse("study-stage", args=[study.pk, stage.position]))
    done = "has all the judgments that it needs" if stage.state == StageState.OPEN else "has ended"
    text = f"Stage {stage.position} ({stage.title}) of “{study.name}” {done}."
    if stage.strategy == Strategy.AUDIT:
        text += f" {verdict(audits.progress_of(stage), audits.target_of(stage))}"
    if waiting:
        text += f" {waiting:,} item{' waits' if waiting == 1 else 's wait'} for a decision by hand."
    return Message(audit.named(stage), f"Stage {stage.title} of {study.name} is done", f"{text}\n\n{address}")
