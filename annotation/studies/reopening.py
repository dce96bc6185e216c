"""A closed stage, opened again for those items alone that came open after it was closed.

Somebody was excluded, and nobody gives the judgments that theirs leave missing; or an item came in since, because a
stage before decided it anew. The stage stays closed: what was open when it closed is not given out, and what is judged
now goes on as from any closed stage.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Kind, Lease, LeaseState, Slot, Stage, StageState, Task
from annotation.pipeline import promotion
from annotation.studies.lifecycle import CLOSED, CannotMove
from benchmarks import audit
from benchmarks.models import Event
from benchmarks.transactions import anew

REOPENED = "reopened"  # the verb of the event that lists the tasks


def last_task(stage: Stage) -> int | None:
    """The newest task when the stage was closed last; none where nobody wrote it down."""
    closed = Event.objects.filter(subject=audit.named(stage), verb=CLOSED).order_by("-pk").first()
    return closed.data.get("last_task") if closed else None


def came_open(stage: Stage) -> QuerySet[Task]:
    """The closed stage's tasks without an outcome that lack judgments only because somebody was excluded, or that came
    after the stage was closed; none of a task's places is given out yet.
    """
    free = Slot.objects.filter(task=OuterRef("pk"), judgment=None)
    lost = Lease.objects.filter(slot=OuterRef("pk"), state=LeaseState.JUDGED, annotator__excluded_at__isnull=False)
    newest = last_task(stage)
    why = ~Exists(free.filter(~Exists(lost))) | Q(pk__gt=newest) if newest else ~Exists(free.filter(~Exists(lost)))
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True, decided=None)
    return tasks.filter(Exists(free), ~Exists(free.filter(live=True)), why)


@anew
@transaction.atomic
def reopen(*, stage: Stage, by: str) -> int:
    """Give out the missing judgments of these tasks; returns how many items they are of. Raises CannotMove where the
    stage is open, or nothing of it came open.
    """
    stage = promotion.lock_stage(stage)
    if stage.state == StageState.OPEN:
        raise CannotMove("This stage is open; everything that is not judged is given out.")
    tasks = dict(came_open(stage).values_list("pk", "item"))
    if not tasks:
        raise CannotMove("No item came open after this stage was closed, or they are given out already.")
    Slot.objects.filter(task__in=tasks, judgment=None).update(live=True)
    items = len(set(tasks.values()))
    audit.record(by=by, verb=REOPENED, subject=stage, tasks=sorted(tasks), items=items)
    return items


@dataclass(frozen=True)
class Reopened:
    """What became of the last time: `items` were given out `at`, and `left` of them have no outcome yet."""

    items: int
    left: int
    at: datetime

    @property
    def decided(self) -> int:
        return self.items - self.left


def reopened(stage: Stage) -> Reopened | None:
    """The last time that the stage was opened for some items, since it was closed; none where it never was."""
    verbs = Event.objects.filter(subject=audit.named(stage), verb__in=[REOPENED, CLOSED]).order_by("-pk")
    event = verbs.first() if stage.state == StageState.CLOSED else None
    if event is None or event.verb != REOPENED:
        return None
    tasks = Task.objects.filter(pk__in=event.data["tasks"])
    items = tasks.values("item").distinct()
    return Reopened(items.count(), items.filter(decided=None, live=True).count(), event.at)
