"""Tell a manager beforehand what closing a stage would leave open and pass on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef
from django.utils import timezone

from annotation.measures.audits.sentence import aim, reached, verdict
from annotation.models import DecisionRule, Kind, Slot, Stage, Strategy
from annotation.pipeline import audits, promotion
from annotation.pipeline.sampling import draw_sample


@dataclass(frozen=True, slots=True)
class Passing:
    """The `items` that a waiting stage would get. `short`: whether its sample would still be too small."""

    to: Stage
    items: int
    short: bool


@dataclass(frozen=True, slots=True)
class Outlook:
    """Among an open stage's `items`, `unjudged` lack judgments, and `undecided` have them all but no outcome.

    `held`: tasks on annotators' screens, until `held_until` at the latest. With an estimate that decides, nothing is
    undecided, and `passing` is empty because the estimate comes first. An audit has only the items that it is expected
    to need; `missed` has the target, the width or bound reached, and the verdict, unless the audit is over.
    """

    items: int
    unjudged: int
    undecided: int
    held: int
    held_until: datetime | None
    passing: Sequence[Passing]
    missed: tuple[str, str, str] | None = None

    @property
    def open(self) -> int:
        return self.unjudged + self.undecided

    @property
    def needs_asking(self) -> bool:
        return bool(self.open or self.missed) or any(one.short for one in self.passing)


def outlook(stage: Stage) -> Outlook:
    """Return the current outlook, without locking."""
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True)
    lacks = Exists(Slot.objects.filter(task=OuterRef("pk"), judgment=None))
    estimated = stage.rule == DecisionRule.DAWID_SKENE
    undecided_tasks = tasks.filter(decided=None)
    unjudged = set(undecided_tasks.filter(lacks).values_list("item", flat=True))
    undecided = set() if estimated else set(undecided_tasks.exclude(lacks).values_list("item", flat=True))
    slots = Slot.objects.filter(stage=stage, held_until__gt=timezone.now())
    held = slots.aggregate(tasks=Count("task", distinct=True), until=Max("held_until"))
    items, lacking, missed = tasks.values("item").distinct().count(), len(unjudged), None
    if stage.strategy == Strategy.AUDIT:
        needs, target = audits.needs(stage), audits.target_of(stage)
        items, lacking = needs.items, sum(n > 0 for n in needs.to_come)
        if not needs.progress.ended:
            missed = aim(target), reached(needs.progress, target), verdict(needs.progress, target)
    return Outlook(
        items, lacking, len(undecided - unjudged), held["tasks"], held["until"],
        [] if estimated else [_passing(taker, stage) for taker in promotion.waiting_takers(stage)], missed,
    )  # fmt: skip


def _passing(taker: Stage, stage: Stage) -> Passing:
    drawn = draw_sample(taker, promotion.ready_for(taker, stage))
    there = set(taker.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    short = taker.sample is not None and not taker.sample_each and len(drawn) < taker.sample
    return Passing(taker, len(set(drawn) - there), short)


def open_items(stage: Stage) -> int:
    """Return the stage's items that have no outcome yet; for an audit, those that it is expected to need."""
    if stage.strategy == Strategy.AUDIT:
        return len(audits.needs(stage).to_come)
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True, decided=None)
    return tasks.values("item").distinct().count()
