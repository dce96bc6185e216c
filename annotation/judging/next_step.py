"""Determine an annotator's next step: the instructions, questions, screens, a wait, or the end.

`claim_next` leases screens, also for a GET: this and the practice screens (checks/qualification.py) are the only
exceptions to the rule that a GET writes nothing. An annotator opens a plain link from Prolific or an e-mail, perhaps
without script, and must find a screen that nobody else gets; the lease ensures that, and a reload finds the same
leases.
After an answer, the next screens are leased in the POST's own transaction (`submissions.submit_and_hold`).
"""

from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from django.db.models import Avg, Q

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.checks import attention_checks
from annotation.models import Annotator, Judgment, Lease, LeaseState, Slot, Stage, StudyState
from annotation.models.choices import POOLED
from annotation.permissions import Desk
from annotation.protocols.base import Answer
from annotation.screens.read_answer import screen_fields

ENOUGH, SAMPLED = 5, 500  # others' answers needed to estimate the pace, and the most answers read for it


@dataclass(frozen=True)
class NextStep:
    """`state`: consent, rules, before (comprehension or practice), screen, waiting, done, paused, closed, screened_out,
    left or excluded; `leases` (for a screen): those held, oldest first.
    """

    state: str
    leases: list[Lease] = field(default_factory=list)
    waiting: assignment_leases.Waiting | None = None


def stopped_by(here: Desk) -> str:
    """Return the state that keeps this annotator from judging now, or ""."""
    if here.annotator.excluded_at or here.annotator.left_at:
        return "excluded" if here.annotator.excluded_at else "left"
    if here.stage.study.state != StudyState.OPEN:
        return here.stage.study.state
    if here.stage.study.must_agree(here.annotator.consented_at):
        return "consent"  # they have a personal link, or have not agreed to this text
    if here.seat.screened_out_at:
        return "screened_out"
    if here.seat.read_id != here.newest:
        return "rules"
    return "" if here.seat.ready_at else "before"


def claim_next(here: Desk, wanted: int = assignment_leases.HELD) -> NextStep:
    """Lease up to `wanted` screens; if this stage has nothing more, move the annotator to the
    next one.
    """
    stopped = stopped_by(here)
    if stopped == "rules" and not seats.has_work(here.annotator, here.stage):
        return after_claim(here, [])  # nobody should read rules for nothing
    if stopped:
        return NextStep(stopped)
    return after_claim(here, assignment_leases.hold(annotator=here.annotator, stage=here.stage, wanted=wanted))


def after_claim(here: Desk, leases: list[Lease]) -> NextStep:
    """Return the step of an annotator who may judge and holds these leases; `moved`: now in another stage."""
    if not leases and not here.seat.screened_out_at:
        leases = _look_again(here)
    if leases:
        return NextStep("screen", leases)
    onward = seats.next_stage(here.annotator)
    if onward is not None:
        seats.sit(annotator=here.annotator, stage=onward)
        return NextStep("moved")
    waiting = assignment_leases.waiting(annotator=here.annotator, stage=here.stage)
    full = here.stage.quota and assignment_leases.judged(here.annotator, here.stage) >= here.stage.quota
    return NextStep("waiting", waiting=waiting) if waiting.others and not full else NextStep("done")


def _look_again(here: Desk) -> list[Lease]:
    """Return the annotator's next batch, or tasks that have come into the stage since the first look."""
    if here.seat.ready_at is None or not seats.has_work(here.annotator, here.stage):
        return []
    seats.sit(annotator=here.annotator, stage=here.stage)
    return assignment_leases.hold(annotator=here.annotator, stage=here.stage)


def total(annotator: Annotator | None, stage: Stage) -> int:
    """Return how many screens an annotator can get, including checks: those reserved for them, their quota, or every
    task in the stage.
    """
    tasks = stage.tasks.filter(kind="judge", live=True).count()
    if stage.strategy not in POOLED and annotator is None:
        return _a_batch(stage, tasks)
    if stage.strategy not in POOLED:
        skipped = Lease.objects.filter(annotator=annotator, state=LeaseState.SKIPPED)  # a check too: law 4
        theirs = Q(reserved=annotator) | Q(annotator=annotator)
        return Slot.objects.filter(theirs, stage=stage, live=True).exclude(task__in=skipped.values("task")).count()
    checks = attention_checks.count_of(annotator, stage) if annotator else attention_checks.expected(stage, tasks)
    everything = tasks + checks
    return min(stage.quota, everything) if stage.quota else everything


def _a_batch(stage: Stage, tasks: int) -> int:
    """Return the number of screens in a whole batch, which contains every question about its items."""
    items = stage.tasks.filter(kind="judge", live=True).values("item").distinct().count()
    screens = min(round(stage.batch_size * tasks / items), tasks) if stage.batch_size and items else tasks
    screens += attention_checks.expected(stage, screens)
    return min(stage.quota, screens) if stage.quota else screens


def pace(annotator: Annotator | None, stage: Stage) -> int:
    """Return the mean active milliseconds per screen in the stage: for this annotator's answers, or for others' until
    they have answered. 0 if too few were measured.
    """
    measured = Judgment.objects.filter(withdrawn=False, revision=1, active_ms__gt=0, lease__task__stage=stage)
    mine = measured.filter(lease__annotator=annotator).aggregate(mean=Avg("active_ms"))["mean"] if annotator else None
    if mine is not None:
        return round(mine)
    known = Slot.objects.filter(stage=stage, judgment__active_ms__gt=0).values_list("judgment__active_ms", flat=True)
    some = known[:SAMPLED]  # enough for an estimate, and a page waits for it
    return round(fmean(some)) if len(some) >= ENOUGH else 0


def minutes(screens: int, pace: int) -> int:
    """Return how long this many screens take; 0 if that is not known."""
    return ceil(screens * pace / 60_000)


def with_previous_answers(leases: list[Lease], protocol: str) -> list[Lease]:
    """Mark the withdrawn answer on screens that had one, also after a reload. Makes one query."""
    given = Judgment.objects.filter(lease__in=leases, withdrawn=False).order_by("revision")
    answers = {lease: Answer(*answer) for lease, *answer in given.values_list("lease", "answer", "content")}
    for lease in leases:
        lease.previous = screen_fields(lease, protocol, answers[lease.pk]) if lease.pk in answers else {}
    return leases
