"""Create a stage's tasks: each gets a rank in the random order, a batch if the stage has batches, and its slots.

All randomness is a hash of the stage's seed and the item's key: the same study set up again is identical, and stages
with the same seed draw the same sample and batches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from django.db.models import Max

from annotation.models import Stage, StageState, Strategy, Task
from annotation.models.choices import BATCHED
from annotation.pipeline import audit_order
from annotation.pipeline.exposure import met
from annotation.pipeline.ranks import random_rank
from annotation.protocols.base import TaskSpec
from annotation.sql import execute, fetch
from benchmarks import bulk

BATCH = 2000  # rows written at a time
FEW = 4  # up to this many tasks, row by row is faster
# A transaction that increases the overlap waits for this one, or vice versa.
OVERLAP = "SELECT overlap FROM annotation_stage WHERE id = %(stage)s FOR SHARE"
LOCK = "SELECT overlap FROM annotation_stage WHERE id = %(stage)s FOR NO KEY UPDATE"
EVERYTHING = 1  # the only batch if everyone judges every item

CREATE_SLOTS = f"""
INSERT INTO annotation_slot (task_id, number, stage_id, rank, live, reserved_id)
SELECT task.id, place.number, task.stage_id, task.rank, task.live AND %(open)s, seat.annotator_id
FROM annotation_task task CROSS JOIN generate_series(1, task.overlap) place(number)
LEFT JOIN (annotation_seat seat JOIN annotation_annotator holder
           ON holder.id = seat.annotator_id AND holder.left_at IS NULL AND holder.excluded_at IS NULL)
  ON seat.stage_id = task.stage_id AND seat.batch = task.batch AND seat.place = place.number
  AND NOT {met("task.item_id", "seat.annotator_id")}
WHERE task.id = ANY(%(tasks)s) ORDER BY task.rank, place.number
"""

FILLING = """
SELECT batch, count(DISTINCT item_id) FROM annotation_task task
WHERE stage_id = %(stage)s AND kind = 'judge' AND shared = %(shared)s AND batch = (
    SELECT max(batch) FROM annotation_task WHERE stage_id = %(stage)s AND kind = 'judge' AND shared = %(shared)s)
  AND NOT EXISTS (SELECT FROM annotation_seat seat WHERE seat.stage_id = %(stage)s AND seat.batch = task.batch)
GROUP BY batch
"""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to create: a question about an item, with what earlier stages chose for it."""

    item: int
    key: str
    ask: TaskSpec
    carried: dict[str, str] = field(default_factory=dict)
    round: int = 1


def create_tasks(stage: Stage, asked: Iterable[NewTask]) -> list[Task]:
    """Create the tasks and their slots; all tasks of an item are adjacent in `asked` or come in one call. An audit
    gets its tasks only in its first call.
    """
    asked = list(asked)
    if not asked:
        return []
    # One transaction at a time fills batches and the agreement sample, or draws an audit's order
    fills = stage.strategy in (*BATCHED, Strategy.AUDIT) or stage.agreement_items
    stage.overlap = overlap_of(stage, alone=bool(fills))
    tasks = [
        Task(
            stage=stage, item_id=one.item, question=one.ask.question, round=one.round, carried=one.carried,
            shows=list(one.ask.shows), options=list(one.ask.options), overlap=stage.overlap,
            rank=random_rank(stage.seed, one.key, one.ask.question, one.round),
        )
        for one in sorted(asked, key=lambda one: (random_rank("item", stage.seed, one.key), one.ask.question))
    ]  # fmt: skip
    if stage.strategy == Strategy.AUDIT:
        places = audit_order.draw_order(stage, {task.item_id for task in tasks})
        if not places:
            return []
        for rank, task in enumerate(sorted(tasks, key=lambda task: (places[task.item_id], task.question))):
            task.rank = rank
    _choose_shared(stage, tasks)
    _choose_batches(stage, tasks)
    if len(tasks) <= FEW:
        for task in tasks:
            task.save(force_insert=True)
    else:
        bulk.insert(tasks)
    create_slots(stage, tasks)
    if stage.strategy == Strategy.AUDIT and stage.state == StageState.OPEN:
        audit_order.give_out_as_planned(stage)
    return tasks


def overlap_of(stage: Stage, alone: bool = False) -> int:
    """Return the stage's overlap, which cannot grow until the transaction ends; `alone`: others wait to read it."""
    [[overlap]] = fetch(LOCK if alone else OVERLAP, stage=stage.pk)
    return overlap


def _choose_shared(stage: Stage, tasks: Sequence[Task]) -> None:
    """Put the first items in the drawn order into the agreement sample, until it is full."""
    if not stage.agreement_items or not stage.agreement_overlap:
        return
    has = stage.tasks.filter(shared=True).values("item").distinct().count()
    for _, of_item in groupby(tasks, key=lambda task: task.item_id):
        mine = list(of_item)
        if mine[0].round > 1 or has >= stage.agreement_items:
            continue
        has += 1
        for task in mine:
            task.shared, task.overlap = True, stage.agreement_overlap


def _choose_batches(stage: Stage, tasks: Sequence[Task]) -> None:
    """Fill the last unassigned batch of its kind, then start new ones; sizes are in items."""
    if stage.strategy == Strategy.EVERYONE:
        for task in tasks:
            task.batch = EVERYTHING
    if stage.strategy != Strategy.BATCHES or stage.batch_size is None:
        return
    fill = {shared: _last_batch(stage, shared) for shared in {task.shared for task in tasks}}
    last = stage.tasks.aggregate(last=Max("batch"))["last"] or 0
    for _, of_item in groupby(sorted(tasks, key=lambda task: not task.shared), key=lambda task: task.item_id):
        mine = list(of_item)
        number, size = fill[mine[0].shared]
        if number is None or size >= stage.batch_size:
            last += 1
            number, size = last, 0
        fill[mine[0].shared] = number, size + 1
        for task in mine:
            task.batch = number


def _last_batch(stage: Stage, shared: bool) -> tuple[int | None, int]:
    """Return the last batch's number and size in items; none if it has been assigned."""
    found = fetch(FILLING, stage=stage.pk, shared=shared)
    return found[0] if found else (None, 0)


def create_slots(stage: Stage, tasks: Sequence[Task]) -> None:
    """Create slots for tasks without any. In an assigned batch they are reserved for its holder, unless the holder saw
    the item in a stage that this one is kept apart from.
    """
    is_open = stage.state == StageState.OPEN
    execute(CREATE_SLOTS, tasks=[task.pk for task in tasks], open=is_open, apart=stage.apart_from)
    if len(tasks) >= BATCH:
        execute("ANALYZE annotation_task, annotation_slot")
