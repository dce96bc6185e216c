"""Stages with the strategy *audit*: the estimate so far, and the end.

The estimate uses the items in order up to the first that is still open; otherwise slow items, which are often the
doubtful ones, would be missing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from celery import shared_task
from django.db import transaction
from django.db.models import Count, Q

from annotation.measures.audits.figures import stratum, to_come
from annotation.measures.audits.judges import Corrected, can_correct, corrected
from annotation.measures.audits.plan import Target
from annotation.measures.audits.running import Progress, progress
from annotation.measures.audits.sentence import Change
from annotation.models import Kind, OutcomeState, Slot, Stage, StageState, Strategy
from annotation.pipeline import promotion
from annotation.pipeline.audit_order import is_stratified
from annotation.protocols.registry import protocol_named
from annotation.wording import counted
from benchmarks import audit
from benchmarks.jobs import jobs
from benchmarks.models import Event
from benchmarks.transactions import retry_deadlocks

SETTINGS = ("target_half_width", "target_bound", "any_look", "wrong_reasons")
CHANGED = "changed the audit's target"  # verbs of events
FUTILITY = "set whether the audit stops if its bound is out of reach"


def target_of(stage: Stage) -> Target:
    futile = stage.target_bound is not None and stops_if_futile(stage)
    return Target(stage.target_half_width, stage.target_bound, stage.any_look, futile)


def settings_of(stage: Stage) -> dict[str, Any]:
    """Return an audit's target, as in exports, and any changes to it."""
    futile = {"stops_if_futile": True} if target_of(stage).stops_if_futile else {}
    changes = {"changes": [asdict(one) for one in changes_of(stage)]}
    return {**{name: getattr(stage, name) for name in SETTINGS}, **futile, **(changes if changes["changes"] else {})}


def stops_if_futile(stage: Stage) -> bool:
    """Return whether a manager has chosen this."""
    last = Event.objects.filter(subject=audit.named(stage), verb=FUTILITY).order_by("-pk").first()
    return last is not None and bool(last.data["stops"])


def changes_of(stage: Stage) -> list[Change]:
    """Return the changes of the target since the first item counted, oldest first."""
    events = Event.objects.filter(subject=audit.named(stage), verb=CHANGED).order_by("pk")
    found = [Change(one.data["before"], one.data["after"], one.data.get("judged")) for one in events]
    return [one for one in found if one.judged != 0]


@dataclass(frozen=True, slots=True)
class Audited:
    """An item in the order: `wrong` or not, None while it is open; `undecided` if it was dropped for a reason that
    is not wrong. `score`: a model's, if the audit uses one.
    """

    item: int
    stratum: str
    wrong: bool | None
    score: float | None
    undecided: bool = False


def audited(stage: Stage) -> list[Audited]:
    """Return all items in the order. An item is wrong as soon as one of its tasks is, and right once all are."""
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True).order_by("rank", "pk")
    rows = tasks.values_list("item", "item__type", "item__subtype", "score", "decided__state", "decided__reason")
    found = []
    for _, of_item in groupby(rows, key=lambda row: row[0]):
        mine = list(of_item)
        wrong = [_is_wrong(stage, state, reason) for *_, state, reason in mine]
        settled = True if True in wrong else None if None in wrong else False
        item, kind, subtype, score, *_ = mine[0]
        undecided = settled is False and any(state == OutcomeState.DROPPED for *_, state, _ in mine)
        found.append(Audited(item, stratum(kind, subtype), settled, score, undecided))
    return found


def judged(stage: Stage) -> dict[int, bool]:
    """Return the items behind the audit's result, by id in order: whether each is wrong."""
    rows = audited(stage)
    return {row.item: bool(row.wrong) for row in rows[: progress_of(stage, rows).n]}


def _is_wrong(stage: Stage, state: str | None, reason: str | None) -> bool | None:
    if state is None:
        return None
    return state == OutcomeState.DROPPED and (not stage.wrong_reasons or reason in stage.wrong_reasons)


def progress_of(stage: Stage, rows: Sequence[Audited] | None = None) -> Progress:
    rows = audited(stage) if rows is None else rows
    strata = [row.stratum for row in rows] if is_stratified(stage) else None
    return progress([row.wrong for row in rows], target_of(stage), strata, scores=scores_in(stage, rows))


def corrected_of(stage: Stage, rows: Sequence[Audited], n: int) -> Corrected | None:
    """Return the result for the first n items, corrected for annotators' errors; None if items have several questions
    each, or single judgments do not show whether an item is wrong.
    """
    protocol, tasks = protocol_named(stage.protocol), stage.tasks.filter(kind=Kind.JUDGE, live=True).count()
    if not can_correct(protocol) or tasks != len(rows):
        return None
    given: dict[int, list[str]] = {row.item: [] for row in rows[:n]}
    slots = Slot.objects.filter(stage=stage, judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE)
    for item, answer in slots.values_list("task__item", "judgment__answer"):
        if item in given:
            given[item].append(answer)
    checks = Slot.objects.filter(stage=stage, judgment__isnull=False, task__kind=Kind.CHECK)
    known = checks.values_list("task__gold", "judgment__answer")
    return corrected(given.values(), known, protocol.reason, stage.wrong_reasons, len(rows))


def scores_in(stage: Stage, rows: Sequence[Audited]) -> list[float] | None:
    """Return the scores of all items in the order; None for an audit that uses none."""
    return [row.score or 0.0 for row in rows] if stage.scores_sha256 else None


@dataclass(frozen=True, slots=True)
class Needs:
    """The remaining needs of an audit: the judgments that each remaining item lacks, as expected and at most.
    `expected` is None before the first item is settled.
    """

    progress: Progress
    settled: int  # items
    counted: int  # judgments
    expected: list[int] | None
    most: list[int]

    @property
    def to_come(self) -> list[int]:
        return self.most if self.expected is None else self.expected

    @property
    def items(self) -> int:
        """Return all items, including settled ones."""
        return self.settled + len(self.to_come)

    @property
    def so_far(self) -> str:
        """Describe how many items are settled, and how many it needs in all."""
        how = "at most" if self.expected is None else "about"
        of = "" if self.progress.ended else f"{self.settled:,} of {how} "
        return of + counted(self.items, "item")

    @property
    def judgments(self) -> int:
        return self.counted + sum(self.to_come)


def needs(stage: Stage, rows: Sequence[Audited] | None = None) -> Needs:
    found = progress_of(stage, rows)
    slots = Slot.objects.filter(stage=stage, task__kind=Kind.JUDGE, task__live=True)
    items = slots.filter(task__decided=None).order_by().values("task__item")
    missing = list(items.annotate(lacks=Count("pk", filter=Q(judgment=None))).values_list("lacks", flat=True))
    settled, plan = found.items - len(missing), found.plan
    holding = found.ahead.open if found.ahead else 0
    return Needs(
        found,
        settled,
        slots.filter(judgment__isnull=False).count(),
        None if plan.expected is None else to_come(missing, settled, plan.expected, holding, found.ended),
        to_come(missing, settled, plan.most, holding, found.ended),
    )


def with_needs(stage: Stage) -> tuple[list[Audited], Needs]:
    """Return the items in order with what the audit needs, from one read."""
    rows = audited(stage)
    return rows, needs(stage, rows)


# The end


def after_outcome(stage: Stage) -> None:
    """Let the worker check whether the audit can stop, after an outcome has changed."""
    if stage.strategy == Strategy.AUDIT and stage.state == StageState.OPEN:
        jobs.publish_after_commit(check_target, stage.pk)


@shared_task
def check_target(stage: int) -> None:
    """Close the audit if its target is met, looking before locking so that nobody waits for the statistics."""
    found = Stage.objects.get(pk=stage)
    if found.state == StageState.OPEN and progress_of(found).ended:
        stop_if_over(found)


def check_all() -> None:
    """Check every open audit: a request to check may be lost with Redis."""
    for stage in Stage.objects.filter(strategy=Strategy.AUDIT, state=StageState.OPEN).values_list("pk", flat=True):
        check_target(stage)


@retry_deadlocks
@transaction.atomic
def stop_if_over(stage: Stage) -> bool:
    """Close the stage if its target is met or all items are judged. Answers to screens that annotators still hold
    count, as in any closed stage.
    """
    stage = promotion.lock_stage(stage)
    if stage.strategy != Strategy.AUDIT or stage.state != StageState.OPEN:
        return False
    found = progress_of(stage)
    if not found.ended:
        return False
    promotion.set_state(stage, StageState.CLOSED)
    went = sum(promotion.promote(stage).values())
    result = {"judged": found.n, "wrong": found.wrong, "met": found.met}
    data = {"promoted": went, "last_task": promotion.last_task(stage), **result}
    audit.record(by="app", verb=f"moved to {StageState.CLOSED}", subject=stage, **data)
    return True
