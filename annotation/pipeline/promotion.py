"""Turn a stage's outcomes into tasks of the stages after it, and undo this if an outcome is withdrawn.

An item is in a stage while it has live tasks there. A stage follows the source's outcomes at once or, depending on its
settings, when the source closes. If an outcome is withdrawn or changes, the tasks based on it are no longer live: their
judgments are kept but do not count, unless the outcome returns.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import Max, QuerySet

from annotation.models import Kind, Promotion, Slot, Stage, StageState, Strategy, Study, Task
from annotation.pipeline import audit_order, task_creation
from annotation.pipeline.item_results import Result, fallen_out, results
from annotation.pipeline.part import items_of
from annotation.pipeline.sampling import draw_sample
from annotation.pipeline.task_creation import NewTask
from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import protocol_named
from annotation.sql import columns, fetch, instances
from benchmarks import audit, locks, queries
from benchmarks.models import Benchmark, Item
from benchmarks.records import ItemRecord
from benchmarks.transactions import retry_deadlocks

# Items found unsuitable for a stage are not tried again until their images change.
UNSUITED = """EXISTS (
  SELECT FROM benchmarks_event event
  WHERE event.subject = %(subject)s AND event.verb = 'could not ask' AND event.data->>'item' = item.id::text
    AND event.data->>'images' = (SELECT count(*) FROM benchmarks_itemimage WHERE item_id = item.id)::text)"""

# Items of the benchmark that have never been in the stage.
NEW = f"""
SELECT item.id FROM benchmarks_item item
WHERE item.benchmark_id = %(benchmark)s AND NOT item.withdrawn AND NOT EXISTS (
  SELECT FROM annotation_task task WHERE task.stage_id = %(stage)s AND task.item_id = item.id) AND NOT {UNSUITED}
"""

# Whether an item has ever received new candidates.
HAS_ROUNDS = """
SELECT EXISTS (SELECT FROM benchmarks_itemimage WHERE item_id = %(item)s AND role = 'candidate' AND round > 1)
"""

# Items with newer candidates than those shown.
NEWER = f"""
SELECT item.id FROM benchmarks_item item
JOIN (SELECT item_id, max(round) AS round FROM benchmarks_itemimage WHERE role = 'candidate' AND round > 1
      GROUP BY item_id) newest ON newest.item_id = item.id
JOIN annotation_task task ON task.item_id = item.id AND task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
JOIN benchmarks_itemimage shown ON shown.item_id = item.id AND shown.role = 'candidate'
  AND 'candidate-' || shown.position = ANY(task.options)
WHERE item.benchmark_id = %(benchmark)s AND NOT item.withdrawn
GROUP BY item.id, newest.round HAVING newest.round > max(shown.round) AND NOT {UNSUITED}
"""

TAKERS = f"SELECT {columns(Stage, 'taker')} FROM annotation_stage taker WHERE source_id = %(stage)s ORDER BY position"
THERE = f"""
SELECT {columns(Task, "task")} FROM annotation_task task
WHERE stage_id = %(stage)s AND item_id = %(item)s ORDER BY round
"""


def follow_outcome(stage: Stage, item: int) -> None:
    """Bring the stages that take from this one in line with its current result for the item."""
    takers = [taker for row in fetch(TAKERS, stage=stage.pk) for taker in instances(row, Stage)]
    if not takers:
        return
    # Two tasks of one item may settle at once: the second transaction must see the first one's outcome.
    locks.wait_for(f"stage {stage.pk}, item {item}")
    found = results(stage, [item]).get(item)
    for taker in takers:
        taker.source = stage
        if found is None or found.label not in taker.takes:
            offer(taker, item, "", [], {})
        elif _follows_now(taker, stage, item):
            record = queries.material_of(item)
            offer(taker, item, record.key, asks_of(taker, item, record, found.carried), found.carried)


def _follows_now(taker: Stage, stage: Stage, item: int) -> bool:
    """Return whether to follow at once: samples wait for the source to close, but sampled items do not."""
    if taker.sample is not None:
        return taker.tasks.filter(item=item).exists()
    if taker.promotion == Promotion.SETTLED:
        return True
    return Stage.objects.filter(pk=stage.pk, state=StageState.CLOSED).exists()  # it may have closed just now


def asks_of(stage: Stage, item: int, record: ItemRecord, carried: Mapping[str, str]) -> list[TaskSpec]:
    """Return what the stage asks about the item; empty, with an event that explains it, if the item is unsuitable."""
    try:
        return protocol_named(stage.protocol).tasks_for(record, carried)
    except UnsuitableItem as reason:
        data = {"item": item, "images": len(record.images), "reason": str(reason)}
        audit.record(by="app", verb="could not ask", subject=stage, **data)
        return []


def offer(stage: Stage, item: int, key: str, asks: Sequence[TaskSpec], carried: Mapping[str, str]) -> None:
    """Make exactly these the item's live tasks in the stage; none if it is a check or practice there."""
    found = [task for row in fetch(THERE, stage=stage.pk, item=item) for task in instances(row, Task)]
    there = [task for task in found if task.kind == Kind.JUDGE]
    asks = asks if len(there) == len(found) else []
    wanted = {(ask.question, ask.shows, ask.options): ask for ask in asks}
    changed, kept = False, set()
    for task in reversed(there):
        same = (task.question, tuple(task.shows), tuple(task.options))
        stays = same in wanted and same not in kept and task.carried == dict(carried)
        stays &= task.corrected_id is None  # its judgments are about a different text
        kept |= {same} if stays else set()
        changed |= _set_live(task, stays, stage)
    new = [ask for key, ask in wanted.items() if key not in kept]
    if new:
        round = max((task.round for task in there), default=0) + 1
        task_creation.create_tasks(stage, [NewTask(item, key, ask, dict(carried), round) for ask in new])
    if changed or (new and there):
        follow_outcome(stage, item)


def _set_live(task: Task, live: bool, stage: Stage) -> bool:
    """Set whether the task is live; return whether that changed. Locks slots first, then the task, as answers do."""
    if task.live == live:
        return False
    slots = Slot.objects.filter(task=task)
    slots.update(live=live and stage.state == StageState.OPEN)
    Task.objects.filter(pk=task.pk).update(live=live)
    return True


# Whole stages


def take_in(study: Study, by: str = "app") -> int:
    """Create tasks for items from a later import, in every stage that takes the benchmark's items; returns the number.

    Dropped items with newer candidates are asked about again, even in a closed stage; other items are not.
    Safe to repeat at any time: if nothing is new, nothing is written.
    """
    stages = study.stages.filter(source=None).exclude(strategy=Strategy.AUDIT)  # its items are fixed at the start
    return sum(_take_in(stage, by) for stage in stages.select_related("study__benchmark"))


def take_in_benchmark(benchmark: Benchmark) -> None:
    """Call `take_in` for every study of the benchmark; after an import."""
    for study in benchmark.studies.order_by("pk"):
        take_in(study)


def take_in_after_commit(study: int) -> None:
    """Call `take_in` for the study (by its id), in its own transaction after the current one."""
    transaction.on_commit(lambda: take_in(Study.objects.get(pk=study)), robust=True)


def ask_again_if_newer(stage: Stage, item: int) -> None:
    """Ask again, after the commit, about an item that the stage dropped if newer candidates exist."""
    if fetch(HAS_ROUNDS, item=item)[0][0]:
        take_in_after_commit(stage.study_id)


def lock_stage(stage: Stage) -> Stage:
    """Lock the stage and read its present state, with its study and benchmark."""
    return (
        Stage.objects.select_for_update(no_key=True, of=("self",)).select_related("study__benchmark").get(pk=stage.pk)
    )


@retry_deadlocks
def _take_in(stage: Stage, by: str) -> int:
    if not _new(stage) and not _newer(stage):
        return 0
    with transaction.atomic():
        stage = lock_stage(stage)
        new = _new(stage)
        made = len(task_creation.create_tasks(stage, new_tasks(stage, Item.objects.filter(pk__in=new))))
        again = _ask_again(stage, _newer(stage))
        if made or again:
            audit.record(by=by, verb="took in", subject=stage, items=len(new), again=len(again))
    return made + len(again)


def _new(stage: Stage) -> list[int]:
    """Return items that the stage must take in; with a sample, only as many as it still lacks."""
    new = _item_ids(NEW, stage)
    if new and stage.study.part:
        new = list(items_of(stage.study).filter(pk__in=new).values_list("pk", flat=True))
    if stage.sample is None:
        return new
    there = set(stage.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    lacks = None if stage.sample_each else stage.sample - len(there)
    if lacks is not None and lacks <= 0:
        return []
    drawn = draw_sample(stage, [*there, *new])
    return [item for item in drawn if item not in there][:lacks]


def _item_ids(statement: str, stage: Stage) -> list[int]:
    benchmark, subject = stage.study.benchmark_id, audit.named(stage)
    return [item for (item,) in fetch(statement, stage=stage.pk, benchmark=benchmark, subject=subject)]


def _newer(stage: Stage) -> list[int]:
    """Return dropped items with newer candidates than those with which they were dropped."""
    newer = _item_ids(NEWER, stage)
    return sorted(fallen_out(stage.study, newer, root=stage)) if newer else []


def _ask_again(stage: Stage, items: Sequence[int]) -> list[Task]:
    """Start a new round for these items; its slots are assigned even if the stage is closed for the rest."""
    tasks = Task.objects.filter(stage__study=stage.study_id, item__in=items, kind=Kind.JUDGE)
    _lock(tasks.order_by("stage__position", "pk"))  # outcomes may change, since a judgment in progress may restore one
    items = [item for item in _newer(stage) if item in set(items)]
    asked = list(new_tasks(stage, Item.objects.filter(pk__in=items), again=True))
    items = sorted({one.item for one in asked})
    Task.objects.filter(stage=stage, item__in=items, kind=Kind.JUDGE).update(live=False)
    Slot.objects.filter(stage=stage, task__item__in=items, task__kind=Kind.JUDGE).update(live=False)
    made = task_creation.create_tasks(stage, asked)
    Slot.objects.filter(task__in=made).update(live=True)
    taken = Task.objects.filter(stage__source=stage, item__in=items, kind=Kind.JUDGE, live=True)
    for item in taken.values_list("item", flat=True).distinct():
        follow_outcome(stage, item)
    return made


def _lock(tasks: QuerySet[Task]) -> None:
    """Lock the tasks so that they cannot be settled or changed."""
    list(tasks.select_for_update(no_key=True, of=("self",)).values_list("pk"))


def new_tasks(stage: Stage, items, again: bool = False) -> Iterable[NewTask]:
    """Yield the questions about suitable items, with nothing carried over; `again`: in a later round than before."""
    rounds = dict(stage.tasks.filter(item__in=items).values_list("item").annotate(Max("round"))) if again else {}
    for item, record in queries.materials(items):
        round = max(round_of(record), rounds.get(item, 0) + 1)
        for ask in asks_of(stage, item, record, {}):
            yield NewTask(item, record.key, ask, {}, round)


def round_of(item: ItemRecord) -> int:
    """Return the item's last round of candidates."""
    return max((image.round for image in item.images), default=1)


def waiting_takers(stage: Stage) -> list[Stage]:
    """Return the stages that get items from this one when it closes."""
    takers = list(stage.takers.select_related("study__benchmark").order_by("position"))
    for taker in takers:
        taker.source = stage
    return [taker for taker in takers if taker.promotion == Promotion.CLOSING or taker.sample is not None]


def ready_for(taker: Stage, stage: Stage) -> dict[int, Result]:
    """Return, by id, the settled items that the taker wants, except those that are checks there."""
    known = set(taker.tasks.exclude(kind=Kind.JUDGE).values_list("item", flat=True))
    found = {item: result for item, result in results(stage).items() if result.label in taker.takes}
    return {item: result for item, result in found.items() if item not in known}


def set_state(stage: Stage, to: str) -> None:
    """Close the locked stage, so that nothing more is given out, or open it again."""
    stage.state = to
    stage.save(update_fields=["state"])
    slots = Slot.objects.filter(stage=stage, judgment=None)
    slots.update(live=False) if to == StageState.CLOSED else slots.filter(task__live=True).update(live=True)
    if stage.strategy == Strategy.AUDIT and to == StageState.OPEN:
        audit_order.give_out_as_planned(stage)


def last_task(stage: Stage) -> int | None:
    """Return the newest task, for recognising later ones."""
    return stage.tasks.aggregate(last=Max("pk"))["last"]


def promote(stage: Stage) -> dict[Stage, int]:
    """Promote a closed stage's items to the stages that wait for it to close; returns how many went to each."""
    # A concurrent answer commits before items are counted, or sees the closed stage and promotes its own item.
    _lock(stage.tasks.filter(kind=Kind.JUDGE).order_by("pk"))
    return {taker: _promote_to(taker, stage) for taker in waiting_takers(stage)}


def _promote_to(taker: Stage, stage: Stage) -> int:
    found = ready_for(taker, stage)
    items = Item.objects.filter(pk__in=draw_sample(taker, found))
    there = set(taker.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    asked = []
    for item, record in queries.materials(items):
        carried = dict(found[item].carried)
        asks = asks_of(taker, item, record, carried)
        if item in there:
            offer(taker, item, record.key, asks, carried)
        else:
            asked += [NewTask(item, record.key, ask, carried) for ask in asks]
    task_creation.create_tasks(taker, asked)
    return len({one.item for one in asked})
