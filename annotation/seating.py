"""Annotators take their place in a stage, and go on to the next one that has work for them."""

from collections.abc import Sequence

from django.db import connection, transaction
from django.utils import timezone

from annotation import checks, training
from annotation.models import Annotator, Instructions, Seat, Slot, Stage, StageState, Strategy
from annotation.rows import fetch
from benchmarks import events

BATCHED = (Strategy.BATCHES, Strategy.EVERYONE)

# Places of batches that nobody holds and that have something to judge, full batches or such as will not grow; never one
# with an item that the annotator has had here or met in a stage that this one keeps apart from. `like` comes first.
FREE_PLACES = """
SELECT task.batch, slot.number
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
WHERE slot.stage_id = %(stage)s AND task.batch IS NOT NULL AND task.kind = 'judge' AND slot.live
  AND (%(any)s OR task.batch IN (
    SELECT batch FROM annotation_task WHERE stage_id = %(stage)s AND batch IS NOT NULL
    GROUP BY batch HAVING count(DISTINCT item_id) >= %(size)s))
GROUP BY task.batch, slot.number
HAVING bool_or(slot.annotator_id IS NULL) AND bool_and(slot.reserved_id IS NULL OR slot.judgment_id IS NOT NULL)
  AND NOT EXISTS (SELECT FROM annotation_seat seat WHERE seat.stage_id = %(stage)s
                  AND seat.batch = task.batch AND seat.place = slot.number)
  AND NOT bool_or(EXISTS (
    SELECT FROM annotation_lease had JOIN annotation_task met ON met.id = had.task_id
    JOIN annotation_stage there ON there.id = met.stage_id
    WHERE had.annotator_id = %(annotator)s AND had.state <> 'lapsed' AND met.item_id = task.item_id
      AND (met.id = task.id OR there.position = ANY(%(apart)s))))
ORDER BY (task.batch, slot.number) <> (%(like_batch)s, %(like_place)s), task.batch, slot.number LIMIT 1
"""
RESERVE = """
UPDATE annotation_slot slot SET reserved_id = %(annotator)s FROM annotation_task task
WHERE task.id = slot.task_id AND slot.stage_id = %(stage)s AND task.batch = %(batch)s AND slot.number = %(place)s
  AND task.kind = 'judge' AND slot.judgment_id IS NULL
"""
CLAIMABLE = """
SELECT EXISTS (
  SELECT FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
  WHERE slot.stage_id = %(stage)s AND slot.live AND slot.judgment_id IS NULL AND task.kind = 'judge'
    AND (slot.annotator_id IS NULL OR slot.held_until < now() OR slot.annotator_id = %(annotator)s)
    AND (slot.reserved_id = %(annotator)s OR (%(pool)s AND slot.reserved_id IS NULL))
    AND NOT EXISTS (SELECT FROM annotation_lease had WHERE had.task_id = slot.task_id
                    AND had.annotator_id = %(annotator)s AND had.state NOT IN ('lapsed', 'held'))
    AND NOT EXISTS (
      SELECT FROM annotation_lease had JOIN annotation_task met ON met.id = had.task_id
      JOIN annotation_stage there ON there.id = met.stage_id
      WHERE had.annotator_id = %(annotator)s AND had.state <> 'lapsed' AND met.item_id = task.item_id
        AND met.id <> task.id AND there.position = ANY(%(apart)s)))
"""


@transaction.atomic
def sit(*, annotator: Annotator, stage: Stage) -> Seat:
    """The annotator is in that stage from now on; where it has batches, they are given one, or after it the next."""
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    seat, new = Seat.objects.get_or_create(annotator=annotator, stage=stage)
    if stage.strategy in BATCHED and not claimable(annotator, stage):
        _give_batch(annotator, stage, seat)
    checks.reserve(annotator=annotator, stage=stage, seat=seat)
    if new:
        events.record(by=events.named(annotator), verb="sat down", subject=stage, batch=seat.batch, place=seat.place)
    Annotator.objects.filter(pk=annotator.pk).update(stage=stage)
    annotator.stage = stage
    return seat


def _give_batch(annotator: Annotator, stage: Stage, seat: Seat) -> None:
    place = free_place(annotator, stage)
    if place is None:
        return
    seat.batch, seat.place = place
    seat.save(update_fields=["batch", "place"])
    with connection.cursor() as cursor:
        values = {"annotator": annotator.pk, "stage": stage.pk, "batch": seat.batch, "place": seat.place}
        cursor.execute(RESERVE, values)


def free_place(annotator: Annotator, stage: Stage) -> tuple[int, int] | None:
    """The batch and place that the annotator would be given, the same as in the stage before where it is free."""
    before = Seat.objects.filter(annotator=annotator, stage=stage.after_id).first() if stage.after_id else None
    found = fetch(
        FREE_PLACES, stage=stage.pk, annotator=annotator.pk, apart=stage.apart_from,
        like_batch=before.batch if before else None, like_place=before.place if before else None,
        any=stage.strategy == Strategy.EVERYONE or will_not_grow(stage), size=stage.batch_size or 1,
    )  # fmt: skip
    return found[0] if found else None


def will_not_grow(stage: Stage) -> bool:
    """Whether a batch that is not full has to be given out as it is: the stage before it has nothing more to send."""
    source = stage.source
    if source is None or source.state == StageState.CLOSED:
        return True
    return not source.tasks.filter(kind="judge", live=True, decided=None).exists()


def stages_of(annotator: Annotator) -> list[Stage]:
    """The stages that the annotator may work in, in order: all, or the one of their link and what follows it."""
    stages = list(Stage.objects.filter(study=annotator.study_id).select_related("study", "source").order_by("position"))
    if annotator.invited_to_id is None:
        return stages
    reached = {annotator.invited_to_id}
    for stage in stages:
        reached |= {stage.pk} if stage.after_id in reached else set()
    return [stage for stage in stages if stage.pk in reached]


def has_work(annotator: Annotator, stage: Stage) -> bool:
    """Whether a claim would find something for the annotator, once they sit there."""
    if stage.state != StageState.OPEN or _is_over(annotator, stage):
        return False
    more = stage.strategy in BATCHED and free_place(annotator, stage) is not None
    return more or claimable(annotator, stage)


def claimable(annotator: Annotator, stage: Stage) -> bool:
    """Whether there is a slot that the annotator could claim as things stand."""
    pool = stage.strategy == Strategy.POOL
    values = {"stage": stage.pk, "annotator": annotator.pk, "pool": pool, "apart": stage.apart_from}
    return fetch(CLAIMABLE, **values)[0][0]


def _is_over(annotator: Annotator, stage: Stage) -> bool:
    """Screened out there, or their quota is full."""
    if Seat.objects.filter(annotator=annotator, stage=stage, screened_out_at__isnull=False).exists():
        return True
    mine = Slot.objects.filter(stage=stage, annotator=annotator, judgment__isnull=False)
    return stage.quota is not None and mine.count() >= stage.quota


def next_stage(annotator: Annotator, stages: Sequence[Stage] | None = None) -> Stage | None:
    """The first of their stages, but the one that they are in, that has work for the annotator."""
    others = [stage for stage in stages or stages_of(annotator) if stage.pk != annotator.stage_id]
    return next((stage for stage in others if has_work(annotator, stage)), None)


@transaction.atomic
def accept_instructions(*, annotator: Annotator, stage: Stage, version: int) -> Instructions:
    """The annotator has read this version. An older one than the newest does not open the gate."""
    read = Instructions.objects.get(stage=stage, version=version)
    seat = Seat.objects.select_for_update(no_key=True).get(annotator=annotator, stage=stage)
    seat.read = read
    if seat.ready_at is None and not training.wanted(stage):
        seat.ready_at = timezone.now()
    seat.save(update_fields=["read", "ready_at"])
    events.record(by=events.named(annotator), verb="accepted instructions", subject=read)
    return read
