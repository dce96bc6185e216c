"""Leases: an annotator claims slots, keeps them alive while the page is open, gives them back.

An annotator holds at most two at a time: the screen in front and the one prefetched behind it. Claims of one annotator
are serialised by a lock on their row, claims of different annotators pass each other by (`SKIP LOCKED`).
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Annotator, Lease, LeaseState, Slot, Stage, StudyState
from benchmarks import events

# One statement: a slot whose lease ran out, else the first free one of the pool's order; never of a task that the
# annotator has had (a lease that lapsed does not count as had). The order of options is drawn here, by the database.
CLAIM = """
WITH expired AS (
  SELECT slot.id, slot.task_id FROM annotation_slot slot
  WHERE slot.stage_id = %(stage)s AND slot.held_until < now() AND slot.annotator_id <> %(annotator)s
    AND NOT EXISTS (SELECT FROM annotation_lease had WHERE had.task_id = slot.task_id
                    AND had.annotator_id = %(annotator)s AND had.state <> 'lapsed')
  ORDER BY slot.held_until LIMIT 1 FOR NO KEY UPDATE OF slot SKIP LOCKED
), free AS (
  SELECT slot.id, slot.task_id FROM annotation_slot slot
  WHERE slot.stage_id = %(stage)s AND slot.annotator_id IS NULL AND NOT EXISTS (SELECT FROM expired)
    AND NOT EXISTS (SELECT FROM annotation_lease had WHERE had.task_id = slot.task_id
                    AND had.annotator_id = %(annotator)s AND had.state <> 'lapsed')
  ORDER BY slot.rank, slot.number LIMIT 1 FOR NO KEY UPDATE OF slot SKIP LOCKED
), chosen AS (
  SELECT id, task_id FROM expired UNION ALL SELECT id, task_id FROM free
), lapsed AS (
  UPDATE annotation_lease lease SET state = 'lapsed' FROM chosen
  WHERE lease.slot_id = chosen.id AND lease.state = 'held'
), taken AS (
  UPDATE annotation_slot slot
  SET annotator_id = %(annotator)s, held_until = now() + make_interval(secs => %(seconds)s)
  FROM chosen WHERE slot.id = chosen.id RETURNING slot.id, slot.task_id
)
INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
SELECT taken.id, taken.task_id, %(annotator)s, 'held',
       ARRAY(SELECT option FROM unnest(task.options) option ORDER BY random())
FROM taken JOIN annotation_task task ON task.id = taken.task_id
RETURNING id
"""

RENEW = """
UPDATE annotation_slot slot SET held_until = now() + make_interval(secs => stage.lease_seconds)
FROM annotation_stage stage
WHERE stage.id = slot.stage_id AND slot.annotator_id = %(annotator)s AND slot.held_until IS NOT NULL
"""


def lock(annotator: Annotator) -> None:
    """One write at a time for an annotator: two tabs, a double click and a retry queue up behind each other."""
    Annotator.objects.select_for_update(no_key=True).values_list("pk").get(pk=annotator.pk)


def held(annotator: Annotator) -> QuerySet[Lease]:
    """Leases that still have their slot, oldest first; one that ran out is among them until it is given on."""
    mine = Lease.objects.filter(annotator=annotator, state=LeaseState.HELD, slot__annotator_id=annotator.pk)
    return mine.select_related("slot", "task").order_by("granted_at", "pk")


@transaction.atomic
def hold(*, annotator: Annotator, stage: Stage, wanted: int = 2) -> list[Lease]:
    """Renew what is held and claim until `wanted` are held; fewer where the quota, the pool or the study says so."""
    lock(annotator)
    leases = list(held(annotator).filter(task__stage=stage))
    renew(annotator=annotator)
    if stage.study.state != StudyState.OPEN:
        return leases
    for _ in range(_room(annotator, stage, wanted - len(leases), len(leases))):
        lease = _claim(annotator, stage)
        if lease is None:
            break
        leases.append(lease)
    return leases


def _room(annotator: Annotator, stage: Stage, wanted: int, holding: int) -> int:
    if stage.quota is None:
        return wanted
    judged = judged_by(annotator, stage).count()
    return min(wanted, stage.quota - judged - holding)


def judged_by(annotator: Annotator, stage: Stage) -> QuerySet[Slot]:
    """The slots that carry this annotator's counted judgments."""
    return Slot.objects.filter(stage=stage, annotator=annotator, judgment__isnull=False)


def _claim(annotator: Annotator, stage: Stage) -> Lease | None:
    values = {"stage": stage.pk, "annotator": annotator.pk, "seconds": stage.lease_seconds}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, values)
        row = cursor.fetchone()
    return row and Lease.objects.select_related("slot", "task").get(pk=row[0])


def renew(*, annotator: Annotator) -> int:
    """Extend every lease that is still held; returns how many. The open page calls this."""
    with connection.cursor() as cursor:
        cursor.execute(RENEW, {"annotator": annotator.pk})
        return cursor.rowcount


@transaction.atomic
def skip(*, annotator: Annotator, token) -> Lease | None:
    """Free the slot for somebody else; it is not offered to this annotator again. Twice is the same as once."""
    lock(annotator)
    lease = held(annotator).filter(token=token).first()
    if lease is None:
        return None
    Slot.objects.filter(pk=lease.slot_id).update(annotator=None, held_until=None)
    Lease.objects.filter(pk=lease.pk).update(state=LeaseState.SKIPPED)
    events.record(by=events.named(annotator), verb="skipped", subject=lease.task)
    return lease


@dataclass(frozen=True)
class Waiting:
    """Slots that others hold and that could still come to this annotator."""

    others: int
    frees_at: datetime | None


def waiting(*, annotator: Annotator, stage: Stage) -> Waiting:
    had = Lease.objects.filter(task=OuterRef("task"), annotator=annotator).exclude(state=LeaseState.LAPSED)
    leased = Slot.objects.filter(stage=stage, held_until__isnull=False).exclude(annotator=annotator)
    times = sorted(leased.filter(~Exists(had)).values_list("held_until", flat=True))
    return Waiting(others=len(times), frees_at=times[0] if times else None)
