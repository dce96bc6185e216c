"""Items whose right answer is known: what checks and training are made of, and how they leave the judging and return.

Such an item may be one of the study's own benchmark. Then its ordinary tasks turn into what is made of it, as long as
nobody has met them; from then on the stage does not judge it. Or it comes from another benchmark.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction

from annotation.checks.parsing import Known
from annotation.designs.plan import NO_CHECKS
from annotation.models import Attempt, AttemptKind, Kind, Lease, Outcome, Slot, Stage, Task
from annotation.pipeline import promotion, task_creation
from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from annotation.transactions import anew
from benchmarks import audit, queries
from benchmarks.models import Item

SHOWN_REASONS = 20
KnownAsk = tuple[TaskSpec, list[str], Task | None]  # what an item asks, its right answers, the ordinary task there is
WORDS = {Kind.CHECK: "a check", Kind.TRAINING: "for training"}


class CannotSet(ValueError):
    """Nothing was set; the message says why, a sentence a line."""

    def __init__(self, reasons: Sequence[str]):
        more = [f"… and {len(reasons) - SHOWN_REASONS} more."] if len(reasons) > SHOWN_REASONS else []
        super().__init__("\n".join([*reasons[:SHOWN_REASONS], *more]))


@anew
@transaction.atomic
def set_known(*, stage: Stage, kind: Kind, known: Mapping[Item, Known], by: str) -> list[Task]:
    """Tasks of that kind for these items, all or none. Raises CannotSet."""
    stage = promotion.lock_stage(stage)
    if PROTOCOLS[stage.protocol].form:
        raise CannotSet([NO_CHECKS])
    asked, reasons = _asked(stage, known)
    if reasons:
        raise CannotSet(reasons)
    made = [_make(stage, kind, item, known[item].note, *ask) for item, asks in asked for ask in asks]
    audit.record(by=by, verb=f"set {kind}", subject=stage, items=[item.pk for item, _ in asked])
    if stage.sample is not None:
        promotion.take_in_after_commit(stage.study_id)  # other items take their places in the sample
    return made


@transaction.atomic
def reasons_against(stage: Stage, known: Mapping[Item, Known]) -> list[str]:
    """A sentence for each of these items that `set_known` would refuse."""
    return _asked(stage, known)[1]


def _asked(stage: Stage, known: Mapping[Item, Known]) -> tuple[list[tuple[Item, list[KnownAsk]]], list[str]]:
    """What each item asks; and why others cannot be taken."""
    asked: list[tuple[Item, list[KnownAsk]]] = []
    reasons: list[str] = []
    for item in queries.with_material(Item.objects.filter(pk__in=[item.pk for item in known])).order_by("pk"):
        try:
            asked.append((item, _asks_with_answers(stage, item, known[item])))
        except UnsuitableItem as reason:
            reasons.append(f"{str(reason)[0].upper()}{str(reason)[1:]}.")
    return asked, reasons


def _asks_with_answers(stage: Stage, item: Item, known: Known) -> list[KnownAsk]:
    """Raises UnsuitableItem."""
    there = list(Task.objects.filter(stage=stage, item=item))
    other = next((task for task in there if task.kind != Kind.JUDGE), None)
    if other is not None:
        raise UnsuitableItem(
            f"item {item.key} is {WORDS[Kind(other.kind)]} here already{'' if other.live else ', retired'}"
        )
    # Who claims passes locked slots by, so nobody meets the item between this look and the end of the transaction.
    list(Slot.objects.select_for_update().filter(task__in=there).values_list("pk"))
    if Lease.objects.filter(task__in=there).exists() or Outcome.objects.filter(task__in=there).exists():
        raise UnsuitableItem(
            f"item {item.key} has been met by an annotator of this stage; take one that nobody has met"
        )
    live = [task for task in there if task.live]
    asks: list[tuple[TaskSpec, Task | None]]
    asks = [(TaskSpec(tuple(task.shows), tuple(task.options), task.question), task) for task in live]
    if not live:
        specs = PROTOCOLS[stage.protocol].tasks_for(queries.record_of(item), carried_to(stage, item))
        asks = [(spec, None) for spec in specs]
    if known.answers and len(asks) > 1:
        raise UnsuitableItem(f"item {item.key} makes {len(asks)} questions here: leave the answers out, they are known")
    return [(ask, _right_answers(stage, item, ask, known.answers), task) for ask, task in asks]


def _right_answers(stage: Stage, item: Item, ask: TaskSpec, given: Sequence[str]) -> list[str]:
    """The right answers: those given, else what the import brought, else the protocol's own. Raises UnsuitableItem."""
    protocol = PROTOCOLS[stage.protocol]
    allowed = [*ask.options, *(choice.identity for choice in protocol.fixed)]
    unknown = [answer for answer in given if answer not in allowed]
    if unknown:
        raise UnsuitableItem(f"item {item.key} has no answer {', '.join(unknown)}; it has: {', '.join(allowed)}")
    known = list(given) or [answer for answer in item.truth.get(protocol.name, []) if answer in allowed]
    known = known or list(filter(None, [protocol.right_answer(ask.question, ask.options)]))
    if not known:
        raise UnsuitableItem(f"item {item.key} came without a known answer; say one of: {', '.join(allowed)}")
    if set(known) >= set(allowed):
        raise UnsuitableItem(f"item {item.key} would have every answer right")
    return sorted(set(known), key=allowed.index)


def carried_to(stage: Stage, item: Item) -> dict[str, str]:
    """What the item brings into the stage: what the stages before it chose, or would rightly have chosen."""
    carried: dict[str, str] = {}
    if stage.source is not None:
        found = promotion.results(stage.source, [item.pk]).get(item.pk)
        if found is not None and found.label in stage.takes:
            return dict(found.carried)
    while stage.source is not None:
        stage = stage.source
        fixed = {choice.identity for choice in PROTOCOLS[stage.protocol].fixed}
        truth = [answer for answer in item.truth.get(stage.protocol, []) if answer not in fixed]
        if stage.carries and truth:
            carried.setdefault(stage.carries, truth[0])
    return carried


def _make(stage: Stage, kind: Kind, item: Item, note: str, ask: TaskSpec, gold: list[str], task: Task | None) -> Task:
    """The task; an ordinary one turns into it and loses its places in the overlap."""
    if task is None:
        task = Task(stage=stage, item=item, question=ask.question, shows=list(ask.shows), options=list(ask.options))
        task.rank = task_creation.random_rank(kind, stage.seed, item.pk, item.key, ask.question)
        task.carried = carried_to(stage, item)
        last = Task.objects.filter(stage=stage, item=item, question=ask.question).order_by("-round").first()
        task.round = last.round + 1 if last else 1
    else:
        Slot.objects.filter(task=task).delete()
    task.kind, task.gold, task.note, task.overlap = kind, gold, note, 0
    task.save()
    return task


@anew
@transaction.atomic
def remove(*, stage: Stage, tasks: Iterable[int], by: str) -> tuple[int, int]:
    """Take checks or training items away, with all questions of their items; returns how many went and were retired.

    One that somebody has met is retired: it is not given out any more, and what was answered stays. Of the others, an
    item of the study's own benchmark is judged again.
    """
    stage = promotion.lock_stage(stage)
    gold = stage.tasks.exclude(kind=Kind.JUDGE)
    items = sorted(set(gold.filter(pk__in=list(tasks)).values_list("item", flat=True)))
    gone = retired = 0
    for item in items:
        of_item = list(gold.filter(item=item).select_related("item"))
        if _is_met(stage, of_item):
            Task.objects.filter(pk__in=[task.pk for task in of_item]).update(live=False)
            Slot.objects.filter(task__in=of_item).update(live=False)
            retired += 1
        else:
            _return(stage, of_item)
            gone += 1
    audit.record(by=by, verb="removed known items", subject=stage, items=items, retired=retired)
    return gone, retired


def _is_met(stage: Stage, tasks: Sequence[Task]) -> bool:
    """Whether an annotator has seen one of the tasks, as a screen or in training."""
    if Lease.objects.filter(task__in=tasks).exists():
        return True
    tries = Attempt.objects.filter(seat__stage=stage, kind=AttemptKind.TRAINING)
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
