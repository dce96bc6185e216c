"""Follow corrections in studies: an item's words or pictures are corrected, or it is withdrawn or put back.

A task shown to somebody with the old text ends, as if its item had got new candidates: its judgments stay, are marked
(`Task.corrected`) and do not count, and no later outcome brings it back. A task in the next round replaces it, so the
item is asked again if its stage is open; outcomes and later stages follow. Tasks that nobody has seen,
or that do not show what was corrected, stay.

Screens that annotators hold are taken back: their answers are kept as surplus, and a new screen comes next. A closed
audit keeps its judgments, marked: its result is about the material as audited.
"""

from collections.abc import Iterable, Mapping, Sequence

from annotation import outbox
from annotation.models import Kind, Lease, LeaseState, Slot, Stage, StageState, Strategy, Task
from annotation.pipeline import audit_order, promotion, task_creation
from annotation.pipeline.ranks import random_rank
from annotation.protocols.base import carried_captions
from annotation.sql import execute, fetch
from benchmarks.models import Action, Correction, Item

SLOTS = """
SELECT slot.id FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
WHERE task.item_id = %(item)s ORDER BY slot.stage_id, slot.id FOR NO KEY UPDATE OF slot
"""
TASKS = "SELECT id FROM annotation_task WHERE item_id = %(item)s ORDER BY stage_id, id FOR NO KEY UPDATE"
ITEM = "SELECT id FROM benchmarks_item WHERE id = %(item)s FOR UPDATE"
GIVE_BACK = """
WITH held AS (
  UPDATE annotation_slot SET annotator_id = NULL, held_until = NULL
  WHERE task_id = ANY(%(tasks)s) AND held_until IS NOT NULL RETURNING id
)
UPDATE annotation_lease SET state = %(lapsed)s
WHERE slot_id IN (SELECT id FROM held) AND state = %(held)s
"""


def lock(item: int) -> None:
    """Lock the item: until the transaction ends nobody is given its tasks, and every lease so far can be seen.

    Slots first and then tasks, stage by stage, as answers lock them. A task that another transaction has made and not
    committed cannot be seen: its foreign key waits, at the end of that transaction, for the lock on the item, which
    therefore comes before the tasks are read a second time. Whoever gets such a task later reads the new words.
    """
    for _ in range(2):
        fetch(SLOTS, item=item)
        fetch(TASKS, item=item)
        fetch(SLOTS, item=item)  # including slots added meanwhile, for which the task must be locked
        fetch(ITEM, item=item)


def follow(item: Item, corrections: Sequence[Correction], by: str) -> None:
    """Bring every study's tasks for the item in line with the corrections, whose transaction has locked it."""
    tasks = list(
        Task.objects.filter(item=item).select_related("stage__study").order_by("stage__study", "stage__position", "pk")
    )
    actions = {one.action for one in corrections}
    changed = {one.place: one for one in corrections if one.place}
    if changed:
        _correct(item, tasks, changed)
    if Action.WITHDRAW in actions:
        _withdraw(item, tasks)
    if Action.RESTORE in actions:
        _put_back(item, tasks)
    for stage in {task.stage_id: task.stage for task in tasks}.values():
        if stage.strategy == Strategy.AUDIT and stage.state == StageState.OPEN:
            audit_order.give_out_as_planned(stage)  # the plan now has one item fewer, or more
    kind = "item.withdrawn" if Action.WITHDRAW in actions else "item.corrected"
    data = {"item": item.key, "corrections": [one.pk for one in corrections]}
    for study in dict.fromkeys(task.stage.study_id for task in tasks):
        outbox.write([(kind, {"study": study, **data})], study=study)


def _correct(item: Item, tasks: Sequence[Task], changed: Mapping[str, Correction]) -> None:
    seen = set(Lease.objects.filter(task__in=tasks).values_list("task", flat=True))
    ended = []
    for task in tasks:
        found = [changed[place] for place in _shown(task) if place in changed]
        if task.corrected_id is None and found and (task.pk in seen or task.kind != Kind.JUDGE):
            ended.append((task, min(found, key=lambda one: one.pk)))
    again = [task for task, _ in ended if task.live and task.kind == Kind.JUDGE and not _stands(task.stage)]
    for task, correction in ended:
        task.live = task.live and _stands(task.stage) and task.kind == Kind.JUDGE
        Task.objects.filter(pk=task.pk).update(corrected=correction, live=task.live)
    _take_back([task for task, _ in ended])
    for task in again:
        _ask_again(item, task)
    _follow(item, again)


def _stands(stage: Stage) -> bool:
    return stage.strategy == Strategy.AUDIT and stage.state == StageState.CLOSED


def _shown(task: Task) -> list[str]:
    """Return what the task shows of the item itself, not the words that replaced a caption in an earlier stage."""
    written = carried_captions(task.carried)
    return [place for place in (*task.shows, *task.options) if place not in written]


def _take_back(tasks: Iterable[Task]) -> None:
    """Free annotators' slots on these tasks, which will no longer be given out."""
    ended = [task.pk for task in tasks]
    Slot.objects.filter(task__in=ended).update(live=False)
    execute(GIVE_BACK, tasks=ended, lapsed=LeaseState.LAPSED, held=LeaseState.HELD)


def _ask_again(item: Item, task: Task) -> None:
    """Ask it again in the next round, at its place in an audit's order, and of the people it was assigned to."""
    stage, audited = task.stage, task.stage.strategy == Strategy.AUDIT
    stage.overlap = task_creation.overlap_of(stage)  # it may have grown since the stage was read
    base = stage.agreement_overlap if task.shared and stage.agreement_overlap else stage.overlap
    new = Task(
        stage=stage, item=item, question=task.question, round=task.round + 1, shows=task.shows, options=task.options,
        carried=task.carried, shared=task.shared, batch=task.batch, score=task.score,
        overlap=task.overlap if stage.strategy == Strategy.NAMED else base,
        rank=task.rank if audited else random_rank(stage.seed, item.key, task.question, task.round + 1),
    )  # fmt: skip
    if audited:
        Task.objects.filter(pk=task.pk).update(rank=-task.pk)
    new.save(force_insert=True)
    task_creation.create_slots(stage, [new])
    if stage.strategy == Strategy.NAMED:
        for number, reserved in Slot.objects.filter(task=task).values_list("number", "reserved"):
            Slot.objects.filter(task=new, number=number).update(reserved=reserved)


def _withdraw(item: Item, tasks: Sequence[Task]) -> None:
    """Take the item out of every stage, except finished audits. Its text is unchanged, so its judgments count again if
    it is put back.
    """
    ended = [task for task in tasks if not _stands(task.stage)]
    was_live = [task for task in ended if task.live and task.kind == Kind.JUDGE]
    Task.objects.filter(pk__in=[task.pk for task in ended]).update(live=False)
    _take_back(ended)
    _follow(item, was_live)


def _put_back(item: Item, tasks: Sequence[Task]) -> None:
    """Put the item back into the stages that take the benchmark's items, with its judgments on its current text.
    Checks and practice items are not put back: a manager adds them again.
    """
    last = {(task.stage_id, task.question): task for task in tasks if task.kind == Kind.JUDGE}
    known = {task.stage_id for task in tasks if task.kind != Kind.JUDGE}
    back = [task for task in last.values() if task.stage.source_id is None and task.stage_id not in known]
    again = [task for task in back if task.corrected_id is not None and not _stands(task.stage)]
    for task in back:
        if task not in again:
            Task.objects.filter(pk=task.pk).update(live=True)
            Slot.objects.filter(task=task).update(live=task.stage.state == StageState.OPEN)
    for task in again:
        _ask_again(item, task)
    _follow(item, back)
    for study in dict.fromkeys(task.stage.study_id for task in tasks):
        promotion.take_in_after_commit(study)


def _follow(item: Item, tasks: Iterable[Task]) -> None:
    """Return the stages after those of the tasks, in order."""
    for stage in {task.stage_id: task.stage for task in tasks}.values():
        promotion.follow_outcome(stage, item.pk)
