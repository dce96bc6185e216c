"""Annotators join a study, take a seat in a stage, and move to the next stage that has work for them."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.assignment import leases
from annotation.checks import attention_checks, qualification
from annotation.models import Annotator, Instructions, Seat, Stage, StageState, Strategy, Study
from annotation.models.choices import BATCHED, POOLED
from annotation.pipeline.exposure import APART, had, met
from annotation.sql import execute, fetch
from benchmarks import audit
from benchmarks.transactions import retry_deadlocks

# Free places of batches with unjudged items, in batches that are full or will not grow. Excluded are places with an
# unjudged item that the annotator has had here or seen in a stage that this one is kept apart from, and places with
# more items than the quota allows. If a stage follows another, a place is kept for whoever had most of its items there,
# until they arrive. First come items the annotator had in that stage, then places with most to judge; leftovers
# and judgments requested beyond the overlap, which form a separate place, come last.
FREE_PLACES = f"""
SELECT task.batch, slot.number
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
WHERE slot.stage_id = %(stage)s AND task.batch IS NOT NULL AND task.kind = 'judge' AND slot.live
  AND (%(any)s OR task.batch IN (
    SELECT batch FROM annotation_task WHERE stage_id = %(stage)s AND batch IS NOT NULL
    GROUP BY batch HAVING count(DISTINCT item_id) >= %(size)s))
GROUP BY task.batch, slot.number
HAVING bool_or(slot.annotator_id IS NULL) AND bool_and(slot.reserved_id IS NULL OR slot.judgment_id IS NOT NULL)
  AND (%(room)s::int IS NULL OR count(*) FILTER (WHERE slot.judgment_id IS NULL) <= %(room)s::int)
  AND NOT bool_or(slot.judgment_id IS NULL AND {met("task.item_id", where=f"(met.id = task.id OR {APART})")})
  AND (%(after)s::bigint IS NULL OR 2 * count(*) FILTER (WHERE EXISTS (
    SELECT FROM annotation_task asked JOIN annotation_slot before ON before.task_id = asked.id
    JOIN annotation_annotator holder ON holder.id = before.reserved_id
    WHERE asked.stage_id = %(after)s AND asked.item_id = task.item_id AND before.number = slot.number
      AND holder.id <> %(annotator)s AND holder.left_at IS NULL AND holder.excluded_at IS NULL
      AND NOT {had("task.id", "holder.id")})) <= count(*))
ORDER BY count(*) FILTER (WHERE %(after)s::bigint IS NOT NULL AND EXISTS (
    SELECT FROM annotation_task asked JOIN annotation_slot before ON before.task_id = asked.id
    WHERE asked.stage_id = %(after)s AND asked.item_id = task.item_id AND before.reserved_id = %(annotator)s)) DESC,
  count(*) FILTER (WHERE slot.judgment_id IS NULL) DESC, task.batch, slot.number LIMIT 1
"""
RESERVE = """
UPDATE annotation_slot slot SET reserved_id = %(annotator)s FROM annotation_task task
WHERE task.id = slot.task_id AND slot.stage_id = %(stage)s AND task.batch = %(batch)s AND slot.number = %(place)s
  AND task.kind = 'judge' AND slot.judgment_id IS NULL
"""
CLAIMABLE = f"""
SELECT EXISTS (
  SELECT FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
  WHERE slot.stage_id = %(stage)s AND slot.live AND slot.judgment_id IS NULL AND task.kind = 'judge'
    AND (slot.annotator_id IS NULL OR slot.held_until < now() OR slot.annotator_id = %(annotator)s)
    AND (slot.reserved_id = %(annotator)s OR (%(pool)s AND slot.reserved_id IS NULL)
         OR (%(named)s AND {leases.ADDED}))
    AND NOT EXISTS (SELECT FROM annotation_lease had WHERE had.task_id = slot.task_id
                    AND had.annotator_id = %(annotator)s AND had.state NOT IN ('lapsed', 'held'))
    AND NOT {met("task.item_id", where=f"met.id <> task.id AND {APART}")})
"""


@retry_deadlocks
@transaction.atomic
def sit(*, annotator: Annotator, stage: Stage) -> Seat:
    """Seat the annotator in the stage; if it has batches, assign the next one."""
    leases.lock(annotator)
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    seat, new = Seat.objects.get_or_create(annotator=annotator, stage=stage)
    here = annotator.left_at is None and annotator.excluded_at is None
    if here and stage.strategy in BATCHED and not claimable(annotator, stage):
        _give_batch(annotator, stage, seat)
    if here:
        attention_checks.reserve(annotator=annotator, stage=stage, seat=seat)
    if new:
        audit.record(by=audit.named(annotator), verb="sat down", subject=stage, batch=seat.batch, place=seat.place)
    Annotator.objects.filter(pk=annotator.pk).update(stage=stage)
    annotator.stage = stage
    return seat


def _give_batch(annotator: Annotator, stage: Stage, seat: Seat) -> None:
    """Reserve the place. Its previous holder has finished with it, so the rest of it is free."""
    place = free_place(annotator, stage)
    if place is None:
        return
    Seat.objects.filter(stage=stage, batch=place[0], place=place[1]).update(batch=None, place=None)
    seat.batch, seat.place = place
    seat.save(update_fields=["batch", "place"])
    execute(RESERVE, annotator=annotator.pk, stage=stage.pk, batch=seat.batch, place=seat.place)


def free_place(annotator: Annotator, stage: Stage) -> tuple[int, int] | None:
    """Return the batch and place that the annotator would get, preferring the items they had in the stage before."""
    judged = leases.judged(annotator, stage) if stage.quota else 0
    found = fetch(
        FREE_PLACES, stage=stage.pk, annotator=annotator.pk, apart=stage.apart_from, after=stage.after_id,
        room=stage.quota - judged if stage.quota and judged else None,
        any=stage.strategy == Strategy.EVERYONE or will_not_grow(stage), size=stage.batch_size or 1,
    )  # fmt: skip
    return found[0] if found else None


def will_not_grow(stage: Stage) -> bool:
    """Return whether an incomplete batch has to be assigned as it is, because no earlier stage will send more items."""
    source = stage.source
    if source is None or source.state == StageState.CLOSED:
        return True
    return not source.tasks.filter(kind="judge", live=True, decided=None).exists() and will_not_grow(source)


def has_work(annotator: Annotator, stage: Stage) -> bool:
    """Return whether the annotator could claim something if seated in the stage. A quota never cuts a batch short.

    A closed stage still gives out judgments requested after it closed.
    """
    if Seat.objects.filter(annotator=annotator, stage=stage, screened_out_at__isnull=False).exists():
        return False
    if stage.strategy in BATCHED:
        return claimable(annotator, stage) or free_place(annotator, stage) is not None
    full = stage.quota is not None and leases.judged(annotator, stage) >= stage.quota
    return not full and claimable(annotator, stage)


def claimable(annotator: Annotator, stage: Stage) -> bool:
    """Return whether there is a slot that the annotator could claim now."""
    pool, named = stage.strategy in POOLED, stage.strategy == Strategy.NAMED
    values = {"stage": stage.pk, "annotator": annotator.pk, "pool": pool, "named": named, "apart": stage.apart_from}
    return fetch(CLAIMABLE, **values)[0][0]


def next_stage(annotator: Annotator, stages: Sequence[Stage] | None = None) -> Stage | None:
    """Return the first other stage that has work for the annotator."""
    others = [stage for stage in stages or stages_open_to(annotator) if stage.pk != annotator.stage_id]
    return next((stage for stage in others if has_work(annotator, stage)), None)


@transaction.atomic
def accept_instructions(*, annotator: Annotator, stage: Stage, version: int) -> Instructions:
    """Record that the annotator has read this version. Only the newest version opens the gate."""
    read = Instructions.objects.get(stage=stage, version=version)
    seat = Seat.objects.select_for_update(no_key=True).get(annotator=annotator, stage=stage)
    seat.read = read
    if seat.ready_at is None and not qualification.wanted(stage):
        seat.ready_at = timezone.now()
    seat.save(update_fields=["read", "ready_at"])
    audit.record(by=audit.named(annotator), verb="accepted instructions", subject=read)
    return read


def stages_open_to(annotator: Annotator) -> list[Stage]:
    """Return the stages the annotator may work in, in order: all, or their link's stage and those that follow it."""
    stages = list(Stage.objects.filter(study=annotator.study_id).select_related("study", "source").order_by("position"))
    if annotator.invited_to_id is None:
        return stages
    reached = {annotator.invited_to_id}
    for stage in stages:
        reached |= {stage.pk} if stage.after_id in reached else set()
    return [stage for stage in stages if stage.pk in reached]


class AlreadyJoined(Exception):
    """The study already has an annotator with this Prolific id: `annotator`."""

    def __init__(self, annotator: Annotator):
        self.annotator = annotator
        super().__init__(annotator.pseudonym)


@transaction.atomic
def join(*, study: Study, by: str, stage: Stage | None = None, prolific_pid: str = "", **who) -> Annotator:
    """Create an annotator. `stage` is the only one that their link invites to, if any.

    `who`: name, language, prolific_study, prolific_session, simulated, consented_at; a token, so that a form sent twice
    creates only one annotator. Raises AlreadyJoined if another form brought the Prolific id.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if known := study.annotators.filter(token=who.get("token", "")).first():
        return known
    if prolific_pid and (taken := study.annotators.filter(prolific_pid=prolific_pid).first()):
        raise AlreadyJoined(taken)
    last = study.annotators.aggregate(last=Max("number"))["last"] or 0
    annotator = Annotator.objects.create(
        study=study, number=last + 1, prolific_pid=prolific_pid, invited_to=stage, **who
    )
    audit.record(by=by, verb="joined", subject=study, annotator=annotator.pk)
    stages = stages_open_to(annotator)
    sit(annotator=annotator, stage=next_stage(annotator, stages) or stages[0])
    return annotator
