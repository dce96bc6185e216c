"""The strategy *named*: a manager assigns items to annotators, who each get slots reserved for them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from annotation.assignment.seats import stages_open_to
from annotation.checks import attention_checks
from annotation.models import Annotator, Kind, Lease, LeaseState, Slot, Stage, StageState, Strategy, Task
from annotation.models.choices import MOST_JUDGMENTS
from annotation.pipeline import outcomes, task_creation
from annotation.pipeline.exposure import had_leases
from annotation.wording import as_lines
from benchmarks import audit
from benchmarks.models import Event, Item
from benchmarks.transactions import retry_deadlocks

VERB = "assigned"


class CannotAssign(ValueError):
    """Nothing was assigned; the message gives the reasons, one sentence per line."""


@dataclass(slots=True)
class Places:
    """The slots of one task, and who should get one."""

    task: Task
    free: list[Slot] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)  # annotators who already have a slot
    last: int = 0
    wanted: list[Slot] = field(default_factory=list)  # slots to reserve, including new ones


@retry_deadlocks
@transaction.atomic
def assign(*, stage: Stage, annotators: Sequence[Annotator], keys: Iterable[str], by: str) -> int:
    """Reserve a slot of each task of these items for each annotator; return how many are newly reserved.

    Uses a free slot if there is one, otherwise adds a judgment to the task. All or nothing: raises CannotAssign.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if stage.strategy != Strategy.NAMED:
        raise CannotAssign(f"Stage {stage.title} assigns its items automatically; its strategy is {stage.strategy}.")
    tasks = _tasks(stage, list(dict.fromkeys(keys)))
    _check_people(stage, annotators, tasks)
    places = _places(tasks)
    for annotator in annotators:
        for place in places:
            _reserve(stage, place, annotator)
    full = [place.task.item.key for place in places if place.last > MOST_JUDGMENTS]
    _refuse([f"Item {key} would need more than {MOST_JUDGMENTS} judgments." for key in dict.fromkeys(full)])
    written = _write(stage, places, annotators, by)
    attention_checks.top_up(stage=stage)
    return written


def _tasks(stage: Stage, keys: Sequence[str]) -> list[Task]:
    """Return the live tasks of the items."""
    asked = Task.objects.filter(stage=stage, kind=Kind.JUDGE, live=True)
    tasks = list(asked.filter(item__key__in=keys).select_related("item").order_by("pk"))
    there = {task.item.key for task in tasks}
    unknown = [key for key in keys if key not in there]
    if unknown:
        known = set(
            Item.objects.filter(benchmark__studies=stage.study_id, key__in=unknown).values_list("key", flat=True)
        )
        _refuse(
            [
                f"Item {key} is not in this stage." if key in known else f"There is no item {key} in the benchmark."
                for key in unknown
            ]
        )
    if not tasks:
        raise CannotAssign("Name at least one item.")
    return tasks


def _refuse(reasons: Sequence[str]) -> None:
    if reasons:
        raise CannotAssign(as_lines(reasons))


def _check_people(stage: Stage, annotators: Sequence[Annotator], tasks: Sequence[Task]) -> None:
    """Check that all annotators are active in this study and may see all of the items."""
    if not annotators:
        raise CannotAssign("Choose at least one annotator.")
    gone = [one for one in annotators if one.study_id != stage.study_id or one.left_at or one.excluded_at]
    _refuse([f"{one.pseudonym} is not an active annotator of this study." for one in gone])
    lost = [one for one in annotators if one.invited_to_id and stage not in stages_open_to(one)]
    _refuse([f"{one.pseudonym} joined by a link that doesn’t include this stage." for one in lost])
    if not stage.apart_from:
        return
    who, keys = {one.pk: one.pseudonym for one in annotators}, {task.item_id: task.item.key for task in tasks}
    had = had_leases(annotator__in=who, task__item__in=keys)
    apart = stage.study.stages.filter(position__in=stage.apart_from).exclude(pk=stage.pk)
    met = had.filter(task__stage__in=apart).values_list("annotator", "task__item").distinct()
    _refuse(
        [
            f"{who[annotator]} has already seen item {keys[item]} in a stage that this one is kept apart from."
            for annotator, item in sorted(met)
        ]
    )


def _places(tasks: Sequence[Task]) -> list[Places]:
    """Return the slots per task. Slots and tasks are locked, in the order in which a judgment locks them."""
    places = {task.pk: Places(task) for task in tasks}
    slots = Slot.objects.filter(task__in=tasks).select_for_update(no_key=True).order_by("pk")
    for slot in sorted(slots, key=lambda slot: slot.number):
        place = places[slot.task_id]
        place.taken |= {pk for pk in (slot.annotator_id, slot.reserved_id) if pk is not None}
        if slot.annotator_id is None and slot.reserved_id is None:
            place.free.append(slot)
    locked = Task.objects.filter(pk__in=places).select_for_update(no_key=True).order_by("pk")
    for task, overlap in locked.values_list("pk", "overlap"):
        places[task].task.overlap = places[task].last = overlap
    return list(places.values())


def _reserve(stage: Stage, place: Places, annotator: Annotator) -> None:
    if annotator.pk in place.taken:
        return
    if place.free:
        slot = place.free.pop(0)
    else:
        place.last += 1
        live = stage.state == StageState.OPEN
        slot = Slot(task=place.task, stage=stage, number=place.last, rank=place.task.rank, live=live)
    slot.reserved = annotator
    place.taken.add(annotator.pk)
    place.wanted.append(slot)


def _write(stage: Stage, places: Sequence[Places], annotators: Sequence[Annotator], by: str) -> int:
    wanted = [slot for place in places for slot in place.wanted]
    new = [slot for slot in wanted if slot.pk is None]
    Slot.objects.bulk_update([slot for slot in wanted if slot.pk], ["reserved"], batch_size=task_creation.BATCH)
    Slot.objects.bulk_create(new, batch_size=task_creation.BATCH)
    grown = [place for place in places if place.last > place.task.overlap]
    for place in grown:
        place.task.overlap = place.last
    Task.objects.bulk_update([place.task for place in grown], ["overlap"], batch_size=task_creation.BATCH)
    for place in grown:
        outcomes.settle(place.task, stage)  # another judgment is now expected, so settled tasks reopen
    if wanted:
        who = [annotator.pk for annotator in annotators]
        audit.record(by=by, verb=VERB, subject=stage, to=who, slots=len(wanted), added=[slot.pk for slot in new])
    return len(wanted)


@retry_deadlocks
@transaction.atomic
def unassign(*, stage: Stage, annotator: Annotator, by: str, keys: Iterable[str] | None = None) -> int:
    """Take back these items (or all) if the annotator has not started them; return the number of slots."""
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    theirs = Slot.objects.filter(stage=stage, reserved=annotator, annotator=None, task__kind=Kind.JUDGE)
    if keys is not None:
        theirs = theirs.filter(task__item__key__in=list(keys))
    slots = list(theirs.select_for_update(no_key=True, of=("self",)).select_related("task").order_by("pk"))
    events = Event.objects.filter(subject=audit.named(stage), verb=VERB).values_list("data__added", flat=True)
    added = {slot for slots_added in events for slot in slots_added or []} if slots else set()
    for slot in slots:
        _give_back(slot, stage, added)
    if slots:
        audit.record(by=by, verb="took back", subject=stage, of=annotator.pk, tasks=[slot.task_id for slot in slots])
        attention_checks.top_up(stage=stage)
    return len(slots)


def _give_back(slot: Slot, stage: Stage, added: set[int]) -> None:
    """Free the slot for others; if an assignment added it, the task needs one judgment less again."""
    Slot.objects.filter(pk=slot.pk).update(reserved=None)
    if slot.pk not in added:
        return
    task = Task.objects.select_for_update(no_key=True).get(pk=slot.task_id)
    last = Slot.objects.select_for_update(no_key=True).get(task=task, number=task.overlap)
    if last.annotator_id or Lease.objects.filter(slot=last).exists():
        return  # someone has held it, so it stays for someone else
    if last.pk != slot.pk:
        Slot.objects.filter(pk=slot.pk).update(reserved=last.reserved_id)
    last.delete()
    task.overlap -= 1
    task.save(update_fields=["overlap"])
    outcomes.settle(task, stage)


@dataclass(frozen=True, slots=True)
class AnnotatorShare:
    """One annotator's items in a stage. They skipped `skipped` of them and will not get those again."""

    annotator: Annotator
    assigned: int = 0
    done: int = 0
    skipped: int = 0
    left: tuple[str, ...] = ()  # keys of items not yet started

    @property
    def gone(self) -> bool:
        return bool(self.annotator.left_at or self.annotator.excluded_at)


def assignments(stage: Stage) -> list[AnnotatorShare]:
    """Return every annotator in the study with their items in the stage; those who have left only if items remain."""
    slots = Slot.objects.filter(stage=stage, task__live=True, task__kind=Kind.JUDGE).exclude(reserved=None)
    skipped = Lease.objects.filter(task__stage=stage, state=LeaseState.SKIPPED).values_list("annotator", "task")
    passed = set(skipped)
    mine: dict[int | None, list[tuple]] = defaultdict(list)
    rows = slots.order_by("task__rank").values_list("reserved", "annotator", "judgment", "task", "task__item__key")
    for reserved, *row in rows:
        mine[reserved].append(tuple(row))
    found = []
    for person in stage.study.annotators.all():
        kept = mine[person.pk]
        free = {task: key for holder, _, task, key in kept if holder is None}
        done = sum(judgment is not None for _, judgment, _, _ in kept)
        skips = sum((person.pk, task) in passed for task in free)
        found.append(AnnotatorShare(person, len(kept), done, skips, tuple(dict.fromkeys(free.values()))))
    return [one for one in found if one.left or not one.gone]


def unassigned(stage: Stage) -> Counter[str]:
    """Return keys of items with unassigned slots: all items in a new stage, and items imported later.

    Judgments requested beyond the overlap may go automatically to annotators with items here (assignment.leases.ADDED).
    """
    free = Slot.objects.filter(stage=stage, task__live=True, task__kind=Kind.JUDGE, reserved=None, annotator=None)
    return Counter(free.order_by("task__rank").values_list("task__item__key", flat=True))
