"""Attention checks: items with a known answer mixed into an annotator's screens, in slots outside the overlap.

Nothing that reaches an annotator distinguishes them (law 4): same page, same lease, same claim. Only their position in
the order is drawn here. They only raise warning signs; a person decides (law 7).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.measures import pass_rules
from annotation.models import Annotator, Kind, Lease, Seat, Slot, Stage, StageState, Task
from annotation.models.choices import POOLED
from annotation.pipeline.exposure import had_leases
from annotation.pipeline.promotion import lock_stage
from annotation.pipeline.ranks import SPAN, random_rank
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from benchmarks.metrics.base import wilson
from benchmarks.models import Item

# How many screens the annotator has had in the stage, and how many since the last check.
GIVEN = """
WITH given AS (
  SELECT lease.id, task.kind FROM annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id
  WHERE lease.annotator_id = %(annotator)s AND task.stage_id = %(stage)s
)
SELECT count(*), count(*) FILTER (WHERE id > (SELECT coalesce(max(id), 0) FROM given WHERE kind = 'check')) FROM given
"""
# The last answer to each assigned check, including by annotators excluded since.
LAST_ANSWERS = """
SELECT DISTINCT ON (lease.id) {by}, task.gold, cardinality(task.options), judgment.answer, judgment.withdrawn
FROM annotation_task task JOIN annotation_lease lease ON lease.task_id = task.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
WHERE task.stage_id = %(stage)s AND task.kind = 'check'
ORDER BY lease.id, judgment.revision DESC
"""


# Timing


def is_due(annotator: Annotator, stage: Stage) -> bool:
    """Return whether the annotator's next screen in a pool is a check: one per block of 1 / rate screens.

    The start of the blocks is drawn per annotator, and the check's position per block. Over all annotators, every
    screen is a check with probability `rate`, whatever an annotator knows about their own count. A check that cannot
    come at its position, because others hold all that are left, comes later in the block.
    """
    given, since = fetch(GIVEN, annotator=annotator.pk, stage=stage.pk)[0]
    rate = Fraction(stage.check_rate).limit_denominator(1000)
    phase = Fraction(random_rank("phase", stage.seed, annotator.number), SPAN)
    block = math.floor(given * rate + phase)
    start, end = math.ceil((block - phase) / rate), math.ceil((block + 1 - phase) / rate)
    position = start + random_rank("check", stage.seed, annotator.number, block) % (end - start)
    none_yet = since >= given - max(start, 0)  # the first block may begin before the first screen
    return given >= position >= 0 and none_yet


# Slots


@transaction.atomic
def set_checks(*, stage: Stage, answers: Mapping[Item, Sequence[str]], by: str) -> list[Task]:
    """Make these items checks with these correct answers (empty: the known ones), all or none. Raises CannotSet."""
    known = {item: Known(tuple(right)) for item, right in answers.items()}
    stage = lock_stage(stage)  # the rate may have changed since it was read
    made = gold_items.set_known(stage=stage, kind=Kind.CHECK, known=known, by=by)
    top_up(stage=stage)
    return made


@transaction.atomic
def remove_checks(*, stage: Stage, tasks: Sequence[int], by: str) -> tuple[int, int]:
    """Remove checks or practice; return how many were removed, and how many were retired because someone saw them."""
    stage = lock_stage(stage)
    found = gold_items.remove(stage=stage, tasks=tasks, by=by)
    top_up(stage=stage)
    return found


def top_up(*, stage: Stage) -> int:
    """Update everyone's checks in the stage after its checks, their rate or the work has changed."""
    if not stage.tasks.filter(kind=Kind.CHECK).exists():
        return 0
    seats = Seat.objects.filter(stage=stage, screened_out_at=None, annotator__left_at=None, annotator__excluded_at=None)
    return sum(reserve(annotator=seat.annotator, stage=stage, seat=seat) for seat in seats.select_related("annotator"))


def reserve(*, annotator: Annotator, stage: Stage, seat: Seat) -> int:
    """Give the annotator a slot on each check due among their screens; return the number of new slots.

    Safe to repeat at any time: after a new batch, a new rate or new checks.
    """
    mine = slots_of(annotator, stage)
    has = count_of(annotator, stage)
    if not stage.check_rate:
        screens = 0
    elif stage.strategy in POOLED:
        screens = stage.tasks.filter(kind=Kind.JUDGE, live=True).count()
    else:
        ordinary = Slot.objects.filter(stage=stage, reserved=annotator, task__kind=Kind.JUDGE, task__live=True)
        screens = ordinary.count()
    wanted = expected(stage, screens)
    if has > wanted:
        free = mine.filter(live=True, annotator=None, reserved=annotator, leases=None).values_list("pk", flat=True)
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


def slots_of(annotator: Annotator, stage: Stage) -> QuerySet[Slot]:
    """Return the annotator's checks: those reserved for them and, in a pool, those they were given."""
    given = Exists(Lease.objects.filter(slot=OuterRef("pk"), annotator=annotator))
    return Slot.objects.filter(Q(reserved=annotator) | given, stage=stage, task__kind=Kind.CHECK)


def count_of(annotator: Annotator, stage: Stage) -> int:
    """Return how many checks the annotator will get in all."""
    return slots_of(annotator, stage).filter(live=True).values("task").distinct().count()


def expected(stage: Stage, screens: int) -> int:
    """Return how many checks go with this many other screens, at most the number available; a quota counts both."""
    if not stage.check_rate:
        return 0
    wanted = pass_rules.number_of_checks(screens, stage.check_rate)
    if stage.quota is not None:
        wanted = min(wanted, math.floor(stage.quota * stage.check_rate + 0.5))
    return min(wanted, stage.tasks.filter(kind=Kind.CHECK, live=True).count())


def _to_meet(annotator: Annotator, stage: Stage) -> list[Task]:
    """Return checks for which the annotator has no slot, except items they have seen: first those that the fewest
    others have, in an order drawn for them, so that two people who join in succession see different checks.
    """
    had = had_leases(annotator=annotator, task__stage__study=stage.study_id, task__stage__position__in=stage.apart_from)
    met = set(had.values_list("task__item", flat=True))
    once = stage.position in stage.apart_from  # an item's questions go to different annotators
    mine = slots_of(annotator, stage)
    if once:
        met.update(mine.values_list("task__item", flat=True))
    there = stage.tasks.filter(kind=Kind.CHECK, live=True).exclude(pk__in=mine.values("task"))
    there = there.annotate(others=Count("slots"))
    found: list[Task] = []
    for task in sorted(
        there, key=lambda task: (task.others, random_rank("which", stage.seed, annotator.number, task.rank))
    ):
        if task.item_id not in met:
            found.append(task)
            if once:
                met.add(task.item_id)
    return found


def _places(annotator: Annotator, stage: Stage, count: int) -> list[int]:
    """Return ranks that place this many new slots at random among the annotator's coming screens, every mixture equally
    likely.

    In a pool `is_due` decides the time, so any rank will do.
    """
    rest = Slot.objects.filter(stage=stage, reserved=annotator, annotator=None, live=True)
    ranks = sorted(rest.values_list("rank", flat=True)) if stage.strategy not in POOLED else []
    seed = ("place", stage.seed, annotator.number, len(ranks), ranks[:1])
    order = sorted(range(len(ranks) + count), key=lambda place: random_rank(*seed, place))
    chosen, found = sorted(order[:count]), []
    for number, place in enumerate(chosen):
        before = place - number  # this many other screens come first
        low = ranks[before - 1] if before else 0
        high = ranks[before] if before < len(ranks) else SPAN
        found.append(low + random_rank(*seed, "rank", place) % max(1, high - low))
    return found


# Results


@dataclass(frozen=True, slots=True)
class Result:
    """Results for an annotator's checks, or for one check. `guess_rate` is the share correct expected from guessing."""

    n: int
    right: int
    guess_rate: float

    @property
    def share(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float | None, float | None] | None:
        return wilson(self.right, self.n) if self.n else None

    @property
    def failed(self) -> bool:
        return pass_rules.fails_checks(self.n, self.right, self.guess_rate)


def results(stage: Stage, by: str = "annotator.number") -> dict[int, Result]:
    """Return results by annotator's number, or by `task.id` for each answered check.

    The last answer to each check counts. "Cannot judge" counts as an incorrect answer.
    """
    fixed = len(protocol_named(stage.protocol).fixed)
    rows: dict[int, list[tuple[bool, float]]] = {}
    for key, right, options, answer, withdrawn in fetch(LAST_ANSWERS.format(by=by), stage=stage.pk):
        if not withdrawn:
            rows.setdefault(key, []).append((answer in right, pass_rules.guess_rate(right, options + fixed)))
    return {
        key: Result(len(found), sum(ok for ok, _ in found), sum(guess for _, guess in found) / len(found))
        for key, found in sorted(rows.items())
    }


def table(stage: Stage) -> list[tuple[Task, Result | None]]:
    """Return the stage's checks with their items and results, worst first, so that a faulty check stands out."""
    found = results(stage, by="task.id")
    tasks = stage.tasks.filter(kind=Kind.CHECK).select_related("item__benchmark").order_by(F("live").desc(), "pk")
    rows = [(task, found.get(task.pk)) for task in tasks]
    return sorted(rows, key=lambda row: (not row[0].live, row[1].share if row[1] else 2, row[0].pk))
