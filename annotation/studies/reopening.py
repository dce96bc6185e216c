"""Reopen a closed stage only for items that came open after it was closed.

Either somebody was excluded, and nobody will replace their judgments; or an item came in later because an earlier stage
decided it again. The stage stays closed: items that were open when it closed are not given out, and new judgments are
treated as in any closed stage.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Slot, Stage, StageState, Task
from annotation.pipeline import promotion
from annotation.sql import fetch
from annotation.studies.lifecycle import CLOSED, CannotMove
from benchmarks import audit
from benchmarks.models import Event
from benchmarks.transactions import retry_deadlocks

REOPENED = "reopened"  # the verb of the event that lists the tasks


# The newest task when the stage was last closed, from the event; null if not recorded.
NEWEST = """
SELECT (data->>'last_task')::bigint AS newest FROM benchmarks_event
WHERE subject = {subject} AND verb = 'moved to closed' ORDER BY id DESC LIMIT 1"""


def came_open_since(newest: str) -> str:
    """Return SQL for whether an undecided `task` in a closed stage lacks judgments only because somebody was excluded,
    or is newer than the `newest` task at closing; and none of its slots is given out yet.
    """
    return f"""coalesce((
      SELECT NOT bool_or(free.live) AND (coalesce(task.id > {newest}, false) OR bool_and(EXISTS (
        SELECT FROM annotation_lease lease JOIN annotation_annotator gone ON gone.id = lease.annotator_id
        WHERE lease.slot_id = free.id AND lease.state = 'judged' AND gone.excluded_at IS NOT NULL)))
      FROM annotation_slot free WHERE free.task_id = task.id AND free.judgment_id IS NULL), false)"""


CAME_OPEN = f"""
SELECT task.id FROM annotation_task task
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
  AND NOT EXISTS (SELECT FROM annotation_outcome outcome WHERE outcome.task_id = task.id)
  AND {came_open_since("%(newest)s::bigint")}
"""


def last_task(stage: Stage) -> int | None:
    """Return the newest task when the stage was last closed; None if that was not recorded."""
    found = fetch(NEWEST.format(subject="%(subject)s"), subject=audit.named(stage))
    return found[0][0] if found else None


def came_open(stage: Stage) -> QuerySet[Task]:
    """Return the closed stage's tasks for which `came_open_since` holds."""
    found = fetch(CAME_OPEN, stage=stage.pk, newest=last_task(stage))
    return Task.objects.filter(pk__in=[pk for (pk,) in found])


@retry_deadlocks
@transaction.atomic
def reopen(*, stage: Stage, by: str) -> int:
    """Give out the missing judgments of these tasks; return the number of their items. Raises CannotMove if the stage
    is open, or no task came open.
    """
    stage = promotion.lock_stage(stage)
    if stage.state == StageState.OPEN:
        raise CannotMove("This stage is open, so all items still to be judged are already given out.")
    tasks = dict(came_open(stage).values_list("pk", "item"))
    if not tasks:
        raise CannotMove("No items came open after this stage closed, or they have already been given out.")
    Slot.objects.filter(task__in=tasks, judgment=None).update(live=True)
    items = len(set(tasks.values()))
    audit.record(by=by, verb=REOPENED, subject=stage, tasks=sorted(tasks), items=items)
    return items


@dataclass(frozen=True)
class Reopened:
    """The result of the last reopening: `items` were given out `at` a time, and `left` have no outcome yet."""

    items: int
    left: int
    at: datetime

    @property
    def decided(self) -> int:
        return self.items - self.left


def reopened(stage: Stage) -> Reopened | None:
    """Return the last reopening for some items since the stage closed; None if there was none."""
    verbs = Event.objects.filter(subject=audit.named(stage), verb__in=[REOPENED, CLOSED]).order_by("-pk")
    event = verbs.first() if stage.state == StageState.CLOSED else None
    if event is None or event.verb != REOPENED:
        return None
    tasks = Task.objects.filter(pk__in=event.data["tasks"])
    items = tasks.values("item").distinct()
    return Reopened(items.count(), items.filter(decided=None, live=True).count(), event.at)
