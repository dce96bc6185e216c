"""Screens for trying a stage: leases that are not in the database, so nothing about them can be stored or counted.

Everything about them follows from a seed, so the next request finds the same screens.
"""

from collections.abc import Iterable, Sequence
from random import Random
from uuid import UUID

from annotation.models import Kind, Lease, Stage, Task
from annotation.protocols.base import CAPTION_PREFIX, Carried, Protocol, UnsuitableItem
from annotation.protocols.registry import protocol_named
from benchmarks import queries
from benchmarks.models import Benchmark, Item

_RANK_BITS = 62  # bits of Task.rank


def trial_leases(stage: Stage, seed: int, wanted: int) -> list[Lease]:
    """Return leases of random tasks of the stage; or, if it has none, of tasks that random items would have."""
    start = Random(seed).getrandbits(_RANK_BITS)
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True).select_related("item").order_by("rank")
    found = {task.pk: task for task in (*tasks.filter(rank__gte=start)[:wanted], *tasks[:wanted])}
    there = list(found.values())
    if not there:
        items = random_items(stage.study.benchmark, seed, wanted)
        there = tasks_of_items(protocol_named(stage.protocol), items, carried_into(stage), seed)
        for task in there:
            task.stage_id = stage.pk
    return [lease_of(task, seed) for task in there[:wanted]]


def leases_under(protocol: Protocol, items: Iterable[Item], seed: int, wanted: int) -> list[Lease]:
    """Return leases of tasks that the items would have under a protocol without a stage; none for unsuitable items."""
    return [lease_of(task, seed) for task in tasks_of_items(protocol, items, {}, seed)[:wanted]]


def tasks_of_items(protocol: Protocol, items: Iterable[Item], carried: Carried, seed: int) -> list[Task]:
    """Return the tasks that the items would have, in random order, without a stage; none for unsuitable items.

    The items are those of `queries.with_material`; `carried` is what earlier stages would have brought along if an item
    has nothing itself.
    """
    tasks = []
    for item in items:
        record = queries.record_of(item)
        own = {f"{CAPTION_PREFIX}{caption.role}" for caption in record.captions}
        brings = {key: value for key, value in carried.items() if key not in own}
        try:
            specs = protocol.tasks_for(record, brings)
        except UnsuitableItem:
            continue
        for spec in specs:
            shows, options = list(spec.shows), list(spec.options)
            tasks.append(Task(item=item, question=spec.question, shows=shows, options=options, carried=brings))
    Random(seed).shuffle(tasks)
    return tasks


def carried_into(stage: Stage) -> dict[str, str]:
    """Return what an item would bring along from the stages before this one."""
    carried: dict[str, str] = {}
    while stage.source is not None:
        stage = stage.source
        carried |= protocol_named(stage.protocol).would_carry(stage.carries)
    return carried


def random_items(benchmark: Benchmark, seed: int, wanted: int) -> Sequence[Item]:
    """Return items of the benchmark with their material; the same for the same seed."""
    items = benchmark.present.order_by("position")
    count = items.count()
    places = Random(seed).sample(range(count), min(count, wanted))
    chosen = [pk for place in places for pk in items.values_list("pk", flat=True)[place : place + 1]]
    return list(queries.with_material(items.filter(pk__in=chosen).order_by("position")))


def lease_of(task: Task, seed: int) -> Lease:
    """Return a lease with its own token and order of options, as `assignment.leases` would draw them."""
    drawn = Random(f"{seed}/{task.item_id}/{task.question}")
    options = [*task.options, *task.proposals]
    token = UUID(int=drawn.getrandbits(128), version=4)
    return Lease(token=token, task=task, shown=drawn.sample(options, len(options)))
