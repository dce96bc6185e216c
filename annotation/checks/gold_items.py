"""Items with a known correct answer: turning them into checks or practice, and returning them to judging.

Such an item may come from the study's own benchmark. Its ordinary tasks then become checks or practice, provided that
nobody has seen them, and the stage no longer judges it. Or it comes from another benchmark.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction

from annotation.checks.parsing import Known
from annotation.designs.plan import NO_CHECKS
from annotation.models import Attempt, AttemptKind, Kind, Lease, Outcome, Slot, Stage, Strategy, Task
from annotation.pipeline import promotion, task_creation
from annotation.pipeline.ranks import random_rank
from annotation.protocols import item_data
from annotation.protocols.base import Carried, TaskSpec, UnsuitableItem, no_right_answer
from annotation.protocols.registry import protocol_named
from annotation.wording import as_lines
from benchmarks import audit, queries
from benchmarks.models import Item
from benchmarks.transactions import retry_deadlocks

KnownAsk = tuple[TaskSpec, list[str], Task | None]  # a question, its correct answers, the ordinary task if any
WORDS = {Kind.CHECK: "a check", Kind.PRACTICE: "practice"}


class CannotSet(ValueError):
    """Nothing was set; the message gives the reasons, one sentence per line."""

    def __init__(self, reasons: Sequence[str]):
        super().__init__(as_lines(reasons))


@retry_deadlocks
@transaction.atomic
def set_known(*, stage: Stage, kind: Kind, known: Mapping[Item, Known], by: str) -> list[Task]:
    """Create tasks of that kind for these items, all or none. Raises CannotSet."""
    stage = promotion.lock_stage(stage)
    if protocol_named(stage.protocol).form:
        raise CannotSet([NO_CHECKS])
    asked, reasons = _asked(stage, known)
    if reasons:
        raise CannotSet(reasons)
    made = [_make(stage, kind, item, known[item].note, *ask) for item, asks in asked for ask in asks]
    audit.record(by=by, verb=f"set {kind}", subject=stage, items=[item.pk for item, _ in asked])
    if stage.sample is not None:
        promotion.take_in_after_commit(stage.study_id)  # other items replace them in the sample
    return made


def _asked(stage: Stage, known: Mapping[Item, Known]) -> tuple[list[tuple[Item, list[KnownAsk]]], list[str]]:
    """Return the questions about each item, and why other items cannot be used."""
    asked: list[tuple[Item, list[KnownAsk]]] = []
    reasons: list[str] = []
    for item in queries.with_material(Item.objects.filter(pk__in=[item.pk for item in known])).order_by("pk"):
        try:
            asked.append((item, _asks_with_answers(stage, item, known[item])))
        except UnsuitableItem as reason:
            reasons.append(f"{str(reason)[0].upper()}{str(reason)[1:]}.")
    return asked, reasons


def _asks_with_answers(stage: Stage, item: Item, known: Known) -> list[KnownAsk]:
    """Return the item's questions with their answers. Raises UnsuitableItem."""
    if stage.strategy == Strategy.AUDIT and item.benchmark_id == stage.study.benchmark_id:
        raise UnsuitableItem(f"item {item.key} belongs to the audited benchmark; choose one of another benchmark")
    there = list(Task.objects.filter(stage=stage, item=item, corrected=None))  # corrected tasks showed other words
    other = next((task for task in there if task.kind != Kind.JUDGE), None)
    if other is not None:
        raise UnsuitableItem(
            f"item {item.key} is already {WORDS[Kind(other.kind)]} here{'' if other.live else ', retired'}"
        )
    _lock_slots(there)
    if Lease.objects.filter(task__in=there).exists() or Outcome.objects.filter(task__in=there).exists():
        raise UnsuitableItem(
            f"an annotator of this stage has already seen item {item.key}; choose one that nobody has seen"
        )
    asks = questions_of(stage, item, [task for task in there if task.live], carried_to(stage, [item])[item.pk])
    if known.answers and len(asks) > 1:
        knows = protocol_named(stage.protocol).right_answer is not no_right_answer
        what = "leave out the answers, which are known" if knows else "choose one that makes only one question"
        raise UnsuitableItem(f"item {item.key} makes {len(asks)} questions here; {what}")
    return [(ask, _right_answers(stage, item, ask, known.answers), task) for ask, task in asks]


def questions_of(
    stage: Stage, item: Item, live: Sequence[Task], carried: Carried
) -> list[tuple[TaskSpec, Task | None]]:
    """Return the item's questions in the stage: its live tasks, or those that it would have. Raises UnsuitableItem."""
    if live:
        return [(TaskSpec(tuple(task.shows), tuple(task.options), task.question), task) for task in live]
    specs = protocol_named(stage.protocol).tasks_for(queries.record_of(item), carried)
    return [(spec, None) for spec in specs]


def answers_to(stage: Stage, ask: TaskSpec) -> list[str]:
    """Return every answer that could be the right one."""
    return [*ask.options, *(choice.identity for choice in protocol_named(stage.protocol).fixed)]


def answers_known(stage: Stage, item: Item, ask: TaskSpec) -> list[str]:
    """Return the imported right answers, or else the protocol's."""
    protocol, allowed = protocol_named(stage.protocol), answers_to(stage, ask)
    imported = [answer for answer in item.truth.get(protocol.name, []) if answer in allowed]
    of_item = item_data.attributes_of(protocol.made_from, queries.record_of(item)) if protocol.made_from else {}
    return imported or list(filter(None, [protocol.right_answer(ask.question, ask.options, of_item)]))


def _right_answers(stage: Stage, item: Item, ask: TaskSpec, given: Sequence[str]) -> list[str]:
    """Return the correct answers: those given, or else those known. Raises UnsuitableItem."""
    allowed = answers_to(stage, ask)
    unknown = [answer for answer in given if answer not in allowed]
    if unknown:
        raise UnsuitableItem(f"item {item.key} has no answer {', '.join(unknown)}; use one of: {', '.join(allowed)}")
    known = list(given) or answers_known(stage, item, ask)
    if not known:
        raise UnsuitableItem(f"item {item.key} was imported without a known answer; give one of: {', '.join(allowed)}")
    if set(known) >= set(allowed):
        raise UnsuitableItem(f"every answer to item {item.key} would be correct")
    return sorted(set(known), key=allowed.index)


def carried_to(stage: Stage, items: Sequence[Item]) -> dict[int, Carried]:
    """Return what each item brings into the stage, which earlier stages chose or should have chosen."""
    found = {} if stage.source is None else promotion.results(stage.source, [item.pk for item in items])
    chosen = {item: result.carried for item, result in found.items() if result.label in stage.takes}
    return {item.pk: chosen[item.pk] if item.pk in chosen else _should_carry(stage, item) for item in items}


def _should_carry(stage: Stage, item: Item) -> Carried:
    carried: dict[str, str] = {}
    while stage.source is not None:
        stage = stage.source
        fixed = {choice.identity for choice in protocol_named(stage.protocol).fixed}
        truth = [answer for answer in item.truth.get(stage.protocol, []) if answer not in fixed]
        if stage.carries and truth:
            carried.setdefault(stage.carries, truth[0])
    return carried


def _make(stage: Stage, kind: Kind, item: Item, note: str, ask: TaskSpec, gold: list[str], task: Task | None) -> Task:
    """Return the new task; an existing ordinary task is converted and loses its slots in the overlap."""
    if task is None:
        task = Task(stage=stage, item=item, question=ask.question, shows=list(ask.shows), options=list(ask.options))
        task.rank = random_rank(kind, stage.seed, item.pk, item.key, ask.question)
        task.carried = dict(carried_to(stage, [item])[item.pk])
        last = Task.objects.filter(stage=stage, item=item, question=ask.question).order_by("-round").first()
        task.round = last.round + 1 if last else 1
    else:
        Slot.objects.filter(task=task).delete()
    task.kind, task.gold, task.note, task.overlap = kind, gold, note, 0
    task.save()
    return task


@retry_deadlocks
@transaction.atomic
def remove(*, stage: Stage, tasks: Iterable[int], by: str) -> tuple[int, int]:
    """Remove checks or practice items with all questions of their items; return the numbers removed and retired.

    An item that someone has seen is retired: it is no longer assigned, but its answers are kept. Otherwise, items of
    the study's own benchmark are judged again.
    """
    stage = promotion.lock_stage(stage)
    gold = stage.tasks.exclude(kind=Kind.JUDGE)
    items = sorted(set(gold.filter(pk__in=list(tasks)).values_list("item", flat=True)))
    gone = retired = 0
    for item in items:
        of_item = list(gold.filter(item=item).select_related("item"))
        _lock_slots(of_item)
        if _is_met(stage, of_item):
            Task.objects.filter(pk__in=[task.pk for task in of_item]).update(live=False)
            Slot.objects.filter(task__in=of_item).update(live=False)
            retired += 1
        else:
            _return(stage, of_item)
            gone += 1
    audit.record(by=by, verb="removed known items", subject=stage, items=items, retired=retired)
    return gone, retired


def _lock_slots(tasks: Sequence[Task]) -> None:
    """Lock the slots. Claims skip locked slots, so nobody gets these tasks before the transaction ends."""
    list(Slot.objects.select_for_update().filter(task__in=tasks).values_list("pk"))


def _is_met(stage: Stage, tasks: Sequence[Task]) -> bool:
    """Return whether an annotator has seen one of the tasks, as a screen or in practice."""
    if Lease.objects.filter(task__in=tasks).exists():
        return True
    tries = Attempt.objects.filter(seat__stage=stage, kind=AttemptKind.PRACTICE)
    return any(tries.filter(answers__contains=[{"task": task.pk}]).exists() for task in tasks)


def _return(stage: Stage, tasks: Sequence[Task]) -> None:
    item = tasks[0].item
    own = item.benchmark_id == stage.study.benchmark_id
    if own and stage.source is None:
        Slot.objects.filter(task__in=tasks).delete()
        for task in tasks:
            task.kind, task.gold, task.note = Kind.JUDGE, [], ""
            task.overlap = stage.agreement_overlap if task.shared and stage.agreement_overlap else stage.overlap
            task.save()
        task_creation.create_slots(stage, tasks)
        return
    Task.objects.filter(pk__in=[task.pk for task in tasks]).delete()
    if own and stage.source is not None:
        promotion.follow_outcome(stage.source, item.pk)
