"""From a stage's outcomes to the tasks of the stages after it, and back where an outcome goes.

An item is in a stage while it has live tasks there. What a source decides about an item is followed at once, or, where
the taking stage says so, when the source is closed. Where an outcome goes or changes, the tasks that rested on it are
no longer live: their judgments stay and do not count, and if the outcome comes back, so do they.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from annotation import placing
from annotation.decisions import DROPPED, KEPT, OPEN
from annotation.models import Kind, Promotion, Slot, Stage, StageState, Study, Task
from annotation.placing import Asked
from annotation.protocols.base import Ask, NotSuitable
from annotation.protocols.registry import PROTOCOLS
from annotation.rows import columns, fetch, instances
from benchmarks import events, queries
from benchmarks.models import Item

BATCH = 500  # items read at a time

# A row for each live task of the items: what was carried in and what came of it.
RESULTS = """
SELECT task.item_id, task.round, task.carried, outcome.state, outcome.outcome, outcome.reason
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
  AND (%(items)s::bigint[] IS NULL OR task.item_id = ANY(%(items)s))
ORDER BY task.item_id, task.question
"""

# Items of the benchmark that the stage has not met, and items that fell out for which newer candidates came.
NEW = """
SELECT item.id FROM benchmarks_item item
WHERE item.benchmark_id = %(benchmark)s AND NOT EXISTS (
  SELECT FROM annotation_task task WHERE task.stage_id = %(stage)s AND task.item_id = item.id)
"""
AGAIN = """
SELECT task.item_id FROM annotation_task task JOIN benchmarks_itemimage image ON image.item_id = task.item_id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
GROUP BY task.item_id HAVING max(image.round) > max(task.round)
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What a stage made of an item: kept, dropped (for `reason`) or open, and what it hands on."""

    state: str
    reason: str = ""
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.reason if self.state == DROPPED else self.state


def results(stage: Stage, items: Sequence[int] | None = None) -> dict[int, Result]:
    """Of the items that are in the stage; of all of them, or of those asked for."""
    rows: dict[int, list[tuple]] = {}
    for item, *row in fetch(RESULTS, stage=stage.pk, items=None if items is None else list(items)):
        rows.setdefault(item, []).append(row)
    return {item: _result(stage, of_item) for item, of_item in rows.items()}


def _result(stage: Stage, rows: Sequence[Sequence]) -> Result:
    """Dropped as soon as one of its tasks says so; kept when all do."""
    carried = json.loads(rows[0][1])  # text where the ORM does not ask for it
    for _, _, state, _, reason in rows:
        if state == DROPPED:
            return Result(DROPPED, reason, carried)
    if any(state is None for _, _, state, _, _ in rows):
        return Result(OPEN, "", carried)
    if stage.carries:
        carried[stage.carries] = rows[0][3]
    return Result(KEPT, "", carried)


TAKERS = f"SELECT {columns(Stage, 'taker')} FROM annotation_stage taker WHERE source_id = %(stage)s ORDER BY position"
THERE = f"""
SELECT {columns(Task, "task")} FROM annotation_task task
WHERE stage_id = %(stage)s AND item_id = %(item)s ORDER BY round
"""

# Two tasks of one item may settle at once: whoever comes second sees what the first made of its task.
LOCK_ITEM = "SELECT pg_advisory_xact_lock(%(stage)s::int, %(item)s::int)"


def follow(stage: Stage, item: int) -> None:
    """Bring the stages that take from this one in line with what it now says of the item."""
    takers = [taker for row in fetch(TAKERS, stage=stage.pk) for taker in instances(row, Stage)]
    if not takers:
        return
    fetch(LOCK_ITEM, stage=stage.pk, item=item)
    found = results(stage, [item]).get(item)
    for taker in takers:
        taker.source = stage
        wanted = found is not None and found.label in taker.takes
        if not wanted:
            offer(taker, item, "", [], {})
        elif _follows_now(taker, stage, item):
            offer(taker, item, *_asks(taker, item, found.carried), found.carried)


def _follows_now(taker: Stage, stage: Stage, item: int) -> bool:
    """A sample is drawn when the source closes; of an item that is in it, a changed outcome is followed at once."""
    if taker.sample is not None:
        return taker.tasks.filter(item=item).exists()
    return taker.promotion == Promotion.SETTLED or stage.state == StageState.CLOSED


def _asks(stage: Stage, item: int, carried: Mapping[str, str]) -> tuple[str, list[Ask]]:
    """The item's key, and what the stage asks of it."""
    record = queries.material_of(item)
    try:
        return record.key, PROTOCOLS[stage.protocol].asks(record, carried)
    except NotSuitable as reason:
        events.record(by="app", verb="could not ask", subject=stage, item=item, reason=str(reason))
        return record.key, []


def offer(stage: Stage, item: int, key: str, asks: Sequence[Ask], carried: Mapping[str, str]) -> None:
    """Make these, and no other, the live tasks of the item (by its id and key) in the stage; none where it is a check
    there, or for training.
    """
    found = [task for row in fetch(THERE, stage=stage.pk, item=item) for task in instances(row, Task)]
    there = [task for task in found if task.kind == Kind.JUDGE]
    asks = asks if len(there) == len(found) else []
    wanted = {(ask.question, ask.shows, ask.options): ask for ask in asks}
    changed, kept = False, set()
    for task in reversed(there):
        same = (task.question, tuple(task.shows), tuple(task.options))
        stays = same in wanted and same not in kept and task.carried == dict(carried)
        kept |= {same} if stays else set()
        changed |= _turn(task, stays, stage)
    new = [ask for key, ask in wanted.items() if key not in kept]
    if new:
        round = max((task.round for task in there), default=0) + 1
        placing.place(stage, [Asked(item, key, ask, dict(carried), round) for ask in new])
    if changed or (new and there):
        follow(stage, item)


def _turn(task: Task, live: bool, stage: Stage) -> bool:
    """Whether the task was turned on or off by this."""
    if task.live == live:
        return False
    Task.objects.filter(pk=task.pk).update(live=live)
    slots = Slot.objects.filter(task=task)
    slots.update(live=live and stage.state == StageState.OPEN)
    return True


# Whole stages


def take_in(study: Study, by: str = "app") -> int:
    """Tasks for items that came by a later import, in every stage that takes the benchmark's; returns how many.

    An item that fell out, and for which newer candidates came, is asked again: it alone, also in a closed stage.
    """
    return sum(_take_in(stage, by) for stage in study.stages.filter(source=None).select_related("study__benchmark"))


def locked(stage: Stage) -> Stage:
    """The stage as it is now, with its study and benchmark; others who want to change it wait."""
    return (
        Stage.objects.select_for_update(no_key=True, of=("self",)).select_related("study__benchmark").get(pk=stage.pk)
    )


def _take_in(stage: Stage, by: str) -> int:
    new = _new(stage)
    again = [item for (item,) in fetch(AGAIN, stage=stage.pk)]
    if not new and not again:
        return 0
    with transaction.atomic():
        stage = locked(stage)
        new = _new(stage)
        made = len(placing.place(stage, asked_of(stage, Item.objects.filter(pk__in=new))))
        out = fallen_out(stage.study)
        again = [item for (item,) in fetch(AGAIN, stage=stage.pk) if item in out]
        for item in again:
            made += _ask_again(stage, item)
        if made:
            events.record(by=by, verb="took in", subject=stage, items=len(new), again=len(again))
    return made


def _new(stage: Stage) -> list[int]:
    """Items that the stage is to take in; where it has a sample, only what that still lacks."""
    there = set() if stage.sample is None else set(stage.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    lacks = None if stage.sample is None else stage.sample - len(there)
    if lacks is not None and lacks <= 0:
        return []
    new = [item for (item,) in fetch(NEW, benchmark=stage.study.benchmark_id, stage=stage.pk)]
    drawn = new if lacks is None else draw_sample(stage, [*there, *new])
    return [item for item in drawn if item not in there][:lacks]


def _ask_again(stage: Stage, item: int) -> int:
    """A new round for one item; its slots are given out even where the stage is closed for the rest."""
    before = set(Task.objects.filter(stage=stage, item=item).values_list("pk", flat=True))
    offer(stage, item, *_asks(stage, item, {}), {})
    made = Task.objects.filter(stage=stage, item=item, live=True).exclude(pk__in=before)
    Slot.objects.filter(task__in=made).update(live=True)
    return made.count()


def asked_of(stage: Stage, items) -> Iterable[Asked]:
    """Every item asked for the first time, without anything carried. Raises NotSuitable."""
    protocol = PROTOCOLS[stage.protocol]
    for item in queries.with_material(items).iterator(chunk_size=BATCH):
        for ask in protocol.asks(queries.record_of(item), {}):
            yield Asked(item.pk, item.key, ask, {}, round_of(item))


def round_of(item: Item) -> int:
    """The last round of candidates that the item has. Reads only what `queries.with_material` fetched."""
    return max((use.round for use in item.item_images.all()), default=1)


def fallen_out(study: Study) -> set[int]:
    """Items that a stage dropped and that no stage after it took in."""
    dropped: set[int] = set()
    for stage in study.stages.all():
        found = results(stage)
        dropped -= {item for item, result in found.items() if result.state != DROPPED}
        dropped |= {item for item, result in found.items() if result.state == DROPPED}
    return dropped


def promote(stage: Stage) -> int:
    """What a closed stage settled goes to the stages that wait for its closing; returns how many items went."""
    went = 0
    for taker in stage.takers.select_related("study__benchmark"):
        taker.source = stage
        if taker.promotion == Promotion.CLOSING or taker.sample is not None:
            went += _promote_to(taker, stage)
    return went


def _promote_to(taker: Stage, stage: Stage) -> int:
    known = set(taker.tasks.exclude(kind=Kind.JUDGE).values_list("item", flat=True))
    found = {item: result for item, result in results(stage).items() if result.label in taker.takes}
    found = {item: result for item, result in found.items() if item not in known}
    items = queries.with_material(Item.objects.filter(pk__in=draw_sample(taker, found)))
    there = set(taker.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    asked = []
    for item in items.iterator(chunk_size=BATCH):
        carried = dict(found[item.pk].carried)
        asks = PROTOCOLS[taker.protocol].asks(queries.record_of(item), carried)
        if item.pk in there:
            offer(taker, item.pk, item.key, asks, carried)
        else:
            asked += [Asked(item.pk, item.key, ask, carried) for ask in asks]
    placing.place(taker, asked)
    return len({one.item for one in asked})


def draw_sample(taker: Stage, items: Iterable[int]) -> list[int]:
    """`taker.sample` of the items by its seed, or all; those that were drawn before stay in.

    Stratified, each type and subtype has its share, the largest remainders rounded up.
    """
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "key", "type", "subtype")
    there = set(taker.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    drawn = sorted(rows, key=lambda row: (row[0] not in there, placing.draw("sample", taker.seed, row[1])))
    if taker.sample is None or taker.sample >= len(drawn):
        return [row[0] for row in drawn]
    if not taker.stratify:
        return [row[0] for row in drawn[: taker.sample]]
    quota = apportion(Counter(row[2:] for row in drawn), taker.sample)
    chosen = []
    for row in drawn:
        if quota[row[2:]] > 0:
            quota[row[2:]] -= 1
            chosen.append(row[0])
    return chosen


def apportion(sizes: Mapping, total: int) -> dict:
    """Whole shares of `total` in proportion to `sizes`, by largest remainder (Hamilton); adds up to `total`."""
    whole = sum(sizes.values())
    exact = {name: total * size / whole for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(sizes, key=lambda name: (shares[name] - exact[name], str(name)))
    for name in by_rest[: total - sum(shares.values())]:
        shares[name] += 1
    return shares
