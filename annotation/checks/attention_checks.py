"""Checks: items with a known answer mixed into an annotator's screens, with places of their own beside the overlap.

Nothing that reaches an annotator tells them apart (law 4): same page, same lease, same claim; only the place in the
order is drawn here. They raise signs, and a person decides (law 7).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.db import transaction
from django.db.models import F

from annotation.checks import gold_items
from annotation.checks.gold_items import Known, items_of
from annotation.measures import pass_rules
from annotation.measures.pass_rules import fails_checks
from annotation.models import (
    Annotator,
    Kind,
    Lease,
    LeaseState,
    Seat,
    Slot,
    Stage,
    StageState,
    Strategy,
    Task,
)
from annotation.pipeline.task_creation import random_rank
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
from benchmarks.metrics.base import wilson
from benchmarks.models import Item

__all__ = ["fails_checks", "is_due", "items_of", "remove_checks", "reserve", "results", "set_checks", "top_up"]

SPAN = 1 << 62  # of ranks: pipeline.task_creation.random_rank

GIVEN = """
SELECT count(*) FROM annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id
WHERE lease.annotator_id = %(annotator)s AND task.stage_id = %(stage)s
"""
# The last word on each check that was given out, also of annotators who have been excluded since.
LAST_ANSWERS = """
SELECT DISTINCT ON (lease.id) {by}, task.gold, cardinality(task.options), judgment.answer, judgment.withdrawn
FROM annotation_task task JOIN annotation_lease lease ON lease.task_id = task.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
WHERE task.stage_id = %(stage)s AND task.kind = 'check'
ORDER BY lease.id, judgment.revision DESC
"""


# When


def is_due(annotator: Annotator, stage: Stage) -> bool:
    """Whether the annotator's next screen, in a pool, is to be a check: one in each block of 1 / rate screens.

    Where the blocks begin is drawn for each annotator, and where in each block the check stands: over all annotators,
    and whatever somebody knows of their own count, every screen is a check with probability `rate`.
    """
    given = fetch(GIVEN, annotator=annotator.pk, stage=stage.pk)[0][0]
    rate = Fraction(stage.check_rate).limit_denominator(1000)
    phase = Fraction(random_rank("phase", stage.seed, annotator.number), SPAN)
    block = math.floor(given * rate + phase)
    start, end = math.ceil((block - phase) / rate), math.ceil((block + 1 - phase) / rate)
    return given == start + random_rank("check", stage.seed, annotator.number, block) % (end - start)


# Places


@transaction.atomic
def set_checks(*, stage: Stage, answers: Mapping[Item, Sequence[str]], by: str) -> list[Task]:
    """Checks for these items with these right answers (none: those that are known); all or none. Raises CannotSet."""
    known = {item: Known(tuple(right)) for item, right in answers.items()}
    made = gold_items.set_known(stage=stage, kind=Kind.CHECK, known=known, by=by)
    top_up(stage=stage)
    return made


@transaction.atomic
def remove_checks(*, stage: Stage, tasks: Sequence[int], by: str) -> tuple[int, int]:
    """How many went, and how many were retired because somebody has met them."""
    found = gold_items.remove(stage=stage, tasks=tasks, by=by)
    top_up(stage=stage)
    return found


def top_up(*, stage: Stage) -> int:
    """What everybody who works in the stage is to meet, after its checks, their rate or the work has changed."""
    if not stage.tasks.filter(kind=Kind.CHECK).exists():
        return 0
    seats = Seat.objects.filter(stage=stage, screened_out_at=None, annotator__left_at=None, annotator__excluded_at=None)
    return sum(reserve(annotator=seat.annotator, stage=stage, seat=seat) for seat in seats.select_related("annotator"))


def reserve(*, annotator: Annotator, stage: Stage, seat: Seat) -> int:
    """A place on each check that the annotator is to meet with the screens that are theirs; returns how many came new.

    It may run again at any time: after another batch, another rate, other checks.
    """
    mine = Slot.objects.filter(stage=stage, reserved=annotator, task__kind=Kind.CHECK)
    has, wanted = mine.filter(live=True).count(), _wanted(annotator, stage)
    if has > wanted:
        free = mine.filter(live=True, annotator=None, leases=None).values_list("pk", flat=True)
        Slot.objects.filter(pk__in=list(free[: has - wanted])).delete()
    if has >= wanted:
        return 0
    tasks = _to_meet(annotator, stage)[: wanted - has]
    ranks = _places(annotator, stage, len(tasks))
    slots = [
        Slot(
            task=task, number=annotator.number, stage=stage, rank=rank, reserved=annotator,
            live=stage.state == StageState.OPEN,
        )
        for task, rank in zip(tasks, ranks, strict=True)
    ]  # fmt: skip
    return len(Slot.objects.bulk_create(slots))


def _wanted(annotator: Annotator, stage: Stage) -> int:
    if stage.strategy == Strategy.POOL:
        return expected(stage, stage.tasks.filter(kind=Kind.JUDGE, live=True).count())
    ordinary = Slot.objects.filter(stage=stage, reserved=annotator, task__kind=Kind.JUDGE, task__live=True)
    return expected(stage, ordinary.count())


def expected(stage: Stage, screens: int) -> int:
    """How many checks go with so many other screens, as far as there are any; a quota counts both."""
    if not stage.check_rate:
        return 0
    wanted = pass_rules.number_of_checks(screens, stage.check_rate)
    if stage.quota is not None:
        wanted = min(wanted, math.floor(stage.quota * stage.check_rate + 0.5))
    return min(wanted, stage.tasks.filter(kind=Kind.CHECK, live=True).count())


def _to_meet(annotator: Annotator, stage: Stage) -> list[Task]:
    """Checks that the annotator has no place on, in an order of their own; none of an item met where it matters."""
    had = Lease.objects.filter(annotator=annotator).exclude(state=LeaseState.LAPSED)
    met = set(had.filter(task__stage__study=stage.study_id, task__stage__position__in=stage.apart_from).values_list(
        "task__item", flat=True
    ))  # fmt: skip
    once = stage.position in stage.apart_from  # an item's questions go to different annotators
    mine = Slot.objects.filter(stage=stage, reserved=annotator, task__kind=Kind.CHECK)
    met |= set(mine.values_list("task__item", flat=True)) if once else set()
    there = stage.tasks.filter(kind=Kind.CHECK, live=True).exclude(pk__in=mine.values("task"))
    found = []
    for task in sorted(there, key=lambda task: random_rank("which", stage.seed, annotator.number, task.rank)):
        if task.item_id not in met:
            found.append(task)
            met |= {task.item_id} if once else set()
    return found


def _places(annotator: Annotator, stage: Stage, count: int) -> list[int]:
    """Ranks that put so many new places at random among the annotator's screens to come: every mixture is as likely.

    In a pool `is_due` says when, so that any rank will do.
    """
    rest = Slot.objects.filter(stage=stage, reserved=annotator, annotator=None, live=True)
    ranks = sorted(rest.values_list("rank", flat=True)) if stage.strategy != Strategy.POOL else []
    seed = ("place", stage.seed, annotator.number, len(ranks), ranks[:1])
    order = sorted(range(len(ranks) + count), key=lambda place: random_rank(*seed, place))
    chosen, found = sorted(order[:count]), []
    for number, place in enumerate(chosen):
        before = place - number  # so many of the others come first
        low = ranks[before - 1] if before else 0
        high = ranks[before] if before < len(ranks) else SPAN
        found.append(low + random_rank(*seed, "rank", place) % max(1, high - low))
    return found


# How they went


@dataclass(frozen=True, slots=True)
class Result:
    """An annotator's checks, or a check's annotators. `guess_rate` is what picking at random would have got right."""

    n: int
    right: int
    guess_rate: float

    @property
    def share(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.right, self.n) if self.n else None

    @property
    def failed(self) -> bool:
        return fails_checks(self.n, self.right, self.guess_rate)


def results(stage: Stage) -> dict[int, Result]:
    """Of each annotator (by number) who has answered a check. Cannot judge is an answer, and not a right one."""
    return _tally(stage, "annotator.number")


def by_check(stage: Stage) -> dict[int, Result]:
    """Of each check (by its task's id) that was answered: a bad one shows."""
    return _tally(stage, "task.id")


def _tally(stage: Stage, by: str) -> dict[int, Result]:
    """Results by `annotator.number` or `task.id`."""
    fixed = len(PROTOCOLS[stage.protocol].fixed)
    rows: dict[int, list[tuple[bool, float]]] = {}
    for key, right, options, answer, withdrawn in fetch(LAST_ANSWERS.format(by=by), stage=stage.pk):
        if not withdrawn:
            rows.setdefault(key, []).append((answer in right, pass_rules.guess_rate(right, options + fixed)))
    return {
        key: Result(len(found), sum(ok for ok, _ in found), sum(guess for _, guess in found) / len(found))
        for key, found in sorted(rows.items())
    }


def table(stage: Stage) -> list[Task]:
    """The stage's checks with their items, each with its `result` (or None), the ones that went worst first."""
    found = by_check(stage)
    tasks = list(stage.tasks.filter(kind=Kind.CHECK).select_related("item__benchmark").order_by(F("live").desc(), "pk"))
    for task in tasks:
        task.result = found.get(task.pk)
    return sorted(tasks, key=lambda task: (not task.live, task.result.share if task.result else 2, task.pk))
