"""Annotators as participants: leaving and returning, exclusion and reinstatement, the link they came by.

When annotators leave or are excluded, what they hold goes to others. Judgments are never changed: exclusion frees the
slots on which they counted, and only a person excludes (law 7).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation import outbox
from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats as assignment_seats
from annotation.assignment.seats import stages_open_to
from annotation.models import Annotator, Judgment, Kind, Lease, LeaseState, Seat, Slot, Stage, StageState, Task
from annotation.models.choices import BATCHED
from annotation.pipeline import outcomes
from annotation.pipeline.exposure import had_leases
from annotation.wording import clean_reason
from benchmarks import audit
from benchmarks.models import Event
from benchmarks.transactions import retry_deadlocks

SAY_WHY = "Give a short reason. It is stored with the decision."
ARRIVED = "came by another link"  # the verb of the event that keeps the earlier submission
FINISHED, SCREENED_OUT, NO_CONSENT = "finished", "screened_out", "no_consent"  # kinds of completion codes
GIVEN = "was given a code"  # the verb of the event
EXCLUDED = "excluded"  # the verb of the event that lists the judgments that counted until then
REINSTATED, KEPT = "reinstated", "kept"  # verbs too


class NeedsReason(ValueError):
    """No reason was given for excluding or reinstating."""


# Consent, leaving and returning


@transaction.atomic
def agree(*, annotator: Annotator, by: str) -> bool:
    """Record consent to the manager's text. Return False if it was already given."""
    assignment_leases.lock(annotator)
    if not annotator.study.must_agree(annotator.consented_at):
        return False
    _store(annotator, consented_at=timezone.now())
    audit.record(by=by, verb="agreed", subject=annotator, study=annotator.study_id)
    return True


@retry_deadlocks
@transaction.atomic
def leave(*, annotator: Annotator, by: str) -> bool:
    """Let the annotator leave: what they held goes to others; judgments count. False if they had already left."""
    assignment_leases.lock(annotator)
    if annotator.left_at is not None:
        return False
    freed = _release(annotator)
    _store(annotator, left_at=timezone.now())
    audit.record(by=by, verb="left", subject=annotator, study=annotator.study_id, freed=freed)
    return True


@retry_deadlocks
@transaction.atomic
def come_back(*, annotator: Annotator, by: str) -> bool:
    """Seat the annotator again, with the rest of their old batch if that is still free. False if they had not left."""
    assignment_leases.lock(annotator)
    if annotator.left_at is None:
        return False
    _store(annotator, left_at=None)
    audit.record(by=by, verb="came back", subject=annotator, study=annotator.study_id)
    _seat_again(annotator)
    return True


def _store(annotator: Annotator, **fields: object) -> None:
    for name, value in fields.items():
        setattr(annotator, name, value)
    annotator.save(update_fields=list(fields))


def _release(annotator: Annotator, stages: Sequence[Stage] | None = None) -> int:
    """End leases and free places in batches, in these stages or in all. Return the number of slots freed.

    Slots assigned by name stay reserved until the manager assigns them to someone else.
    """
    there = {} if stages is None else {"stage__in": stages}
    seats = Seat.objects.filter(annotator=annotator, batch__isnull=False, **there)
    slots = Slot.objects.filter(judgment=None, **there)
    _lock_stages(seats.values_list("stage", flat=True))
    mine = slots.filter(annotator=annotator).order_by("pk").select_for_update(no_key=True, of=("self",))
    held = [slot.pk for slot in mine]  # in this order, as a claim does
    leases = Lease.objects.filter(annotator=annotator, state=LeaseState.HELD, slot__in=held)
    leases.update(state=LeaseState.LAPSED)
    Slot.objects.filter(pk__in=held).update(annotator=None, held_until=None)
    kept = slots.filter(reserved=annotator, annotator=None, stage__strategy__in=BATCHED, task__kind=Kind.JUDGE)
    kept.update(reserved=None)
    seats.update(batch=None, place=None)
    return len(held)


def _lock_stages(stages: Iterable[int]) -> None:
    """Lock the stages, so that no batch is given back while one grows or is being assigned."""
    list(Stage.objects.filter(pk__in=list(stages)).order_by("pk").select_for_update(no_key=True))


def _seat_again(annotator: Annotator) -> None:
    """Seat the annotator in their earlier stage, unless they have since come by a link to another."""
    if annotator.excluded_at or annotator.left_at:
        return
    reach = stages_open_to(annotator)
    before = [stage for stage in reach if stage.pk == annotator.stage_id]
    stage = before[0] if before else assignment_seats.next_stage(annotator, reach) or reach[0]
    if stage.strategy in BATCHED:
        _lock_stages([stage.pk])
        _old_place(annotator, stage)
    assignment_seats.sit(annotator=annotator, stage=stage)


def _old_place(annotator: Annotator, stage: Stage) -> None:
    """Give back the rest of the batch place at which they last worked, except what they skipped.

    Do nothing if someone else has since been given the place, or holds part of it.
    """
    seats = Seat.objects.filter(annotator=annotator, stage=stage, batch=None, screened_out_at=None)
    worked = Lease.objects.filter(annotator=annotator, slot__stage=stage, task__kind=Kind.JUDGE).order_by("-pk")
    last = worked.filter(task__batch__isnull=False).values_list("task__batch", "slot__number").first()
    if last is None or not seats.exists():
        return
    batch, place = last
    slots = Slot.objects.filter(stage=stage, task__batch=batch, number=place)
    for_others = Q(annotator__isnull=False) | Q(reserved__isnull=False) & ~Q(reserved=annotator)
    taken = slots.filter(for_others, judgment=None).exists()
    if taken or Seat.objects.filter(stage=stage, batch=batch, place=place).exists():
        return
    had = had_leases(annotator=annotator)
    left = slots.filter(annotator=None, task__kind=Kind.JUDGE).exclude(task__in=had.values("task"))
    if left.update(reserved=annotator):
        seats.update(batch=batch, place=place)


# Excluding, reinstating, keeping


@retry_deadlocks
@transaction.atomic
def exclude(*, annotator: Annotator, reason: str, by: str, excluded_by=None) -> int:
    """Exclude an annotator: their judgments stop counting, the slots become free for others, and affected outcomes are
    decided again. Everything stays on record. Return how many judgments counted until now.
    """
    words = _words(reason)
    assignment_leases.lock(annotator)
    if annotator.excluded_at is not None:
        return 0
    _store(annotator, excluded_at=timezone.now(), excluded_by=excluded_by, exclusion_reason=words)
    _release(annotator)
    judged = Slot.objects.filter(annotator=annotator, judgment__isnull=False).order_by("task")
    slots = list(judged.select_for_update(no_key=True, of=("self",)))
    judgments = [slot.judgment_id for slot in slots]
    audit.record(by=by, verb=EXCLUDED, subject=annotator, study=annotator.study_id, reason=words, judgments=judgments)
    ours = Slot.objects.filter(pk__in=[slot.pk for slot in slots])
    ours.exclude(task__kind=Kind.CHECK).update(reserved=None)
    ours.filter(task__kind=Kind.CHECK).update(reserved=annotator)  # checks are not given to anyone else
    ours.update(annotator=None, judgment=None, live=False)
    ours.filter(task__live=True, stage__state=StageState.OPEN).update(live=True)
    _settle([slot.task_id for slot in slots])
    return len(slots)


@retry_deadlocks
@transaction.atomic
def reinstate(*, annotator: Annotator, reason: str, by: str) -> int:
    """Let judgments count again if their slots are still free; return how many do."""
    words = _words(reason)
    assignment_leases.lock(annotator)
    if annotator.excluded_at is None:
        return 0
    _store(annotator, excluded_at=None, excluded_by=None, exclusion_reason="")
    back = [judgment for judgment in _counted_before(annotator) if _put_back(annotator, judgment)]
    _settle([judgment.lease.task_id for judgment in back])
    again = [judgment.pk for judgment in back]
    audit.record(by=by, verb=REINSTATED, subject=annotator, study=annotator.study_id, reason=words, judgments=again)
    _seat_again(annotator)
    return len(back)


@transaction.atomic
def keep(*, annotator: Annotator, reason: str, by: str) -> None:
    """Record that a manager has seen the warning signs and keeps the judgments. Nothing else changes; the current
    decision is read from the events.
    """
    audit.record(by=by, verb=KEPT, subject=annotator, study=annotator.study_id, reason=_words(reason))


def _words(reason: str) -> str:
    words = clean_reason(reason)
    if not words:
        raise NeedsReason(SAY_WHY)
    return words


def _settle(tasks: Iterable[int]) -> None:
    """Decide the outcomes of these tasks again. All are locked first, in one order, to avoid deadlocks."""
    wanted = sorted(set(tasks))
    list(Task.objects.filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    events: list[outbox.NewEvent] = []
    for pk in wanted:
        task = Task.objects.select_related("stage").get(pk=pk)  # settling the previous task may have changed it
        outcomes.settle(task, task.stage, events=events)
    if events:
        outbox.write(events, study=task.stage.study_id)


def _counted_before(annotator: Annotator) -> list[Judgment]:
    """Return the last judgment on each lease that the exclusion freed, unless the lease was undone since: an answer
    given while excluded is surplus, and undoing it leaves no answer.
    """
    exclusion = Event.objects.filter(subject=audit.named(annotator), verb=EXCLUDED).order_by("-pk").first()
    leases = Lease.objects.filter(judgments__in=exclusion.data["judgments"] if exclusion else [])
    last = Judgment.objects.filter(lease__in=leases).order_by("lease", "-revision").distinct("lease")
    taken_back = {one.lease_id for one in last if one.withdrawn}
    counted = last.filter(surplus=False).select_related("lease")
    return sorted((one for one in counted if one.lease_id not in taken_back), key=lambda one: one.lease.task_id)


def _put_back(annotator: Annotator, judgment: Judgment) -> bool:
    """Fill the slot if it is still free: not held, judged or reserved by anyone else. Return whether it was."""
    free = Slot.objects.filter(pk=judgment.lease.slot_id, annotator=None)
    free = free.filter(reserved=None) | free.filter(reserved=annotator)
    if not free.update(annotator=annotator, judgment=judgment):
        return False
    Lease.objects.filter(pk=judgment.lease_id).update(state=LeaseState.JUDGED)
    return True


@dataclass(frozen=True, slots=True)
class Decision:
    verb: str  # kept, excluded or reinstated
    reason: str
    by: str  # a user's name, or else the process that did it
    at: datetime


def decisions(people: Iterable[Annotator]) -> dict[int, list[Decision]]:
    """Return managers' decisions and reasons by annotator's number, newest first. Makes two queries in all."""
    names = {audit.named(one): one.number for one in people}
    events = list(Event.objects.filter(subject__in=names, verb__in=(KEPT, EXCLUDED, REINSTATED)).order_by("-pk"))
    parts = [event.by.partition(":") for event in events]
    wanted = {int(pk) for kind, _, pk in parts if kind == "user" and pk.isdecimal()}
    users = {audit.named(user): user.get_username() for user in get_user_model().objects.filter(pk__in=wanted)}
    found: dict[int, list[Decision]] = defaultdict(list)
    for event in events:
        by = users.get(event.by, event.by)
        found[names[event.subject]].append(Decision(event.verb, event.data.get("reason", ""), by, event.at))
    return found


# Which link they came by


@transaction.atomic
def choose_language(*, annotator: Annotator, language: str) -> None:
    """Set the language of the annotator's pages. Each judgment records its language, so there is no event."""
    _store(annotator, language=language)


@transaction.atomic
def arrive(*, annotator: Annotator, stage: Stage | None, by: str, prolific_study: str = "", prolific_session: str = ""):
    """Admit a known participant who comes by a link: to the study, or to one `stage`, where they will now work.

    Their newest submission replaces the previous one, which the event keeps.
    """
    assignment_leases.lock(annotator)
    annotator.refresh_from_db(fields=["invited_to", "prolific_study", "prolific_session", "stage", "erased_at"])
    if annotator.erased_at:  # erased between the query and the lock
        return
    before = {"prolific_study": annotator.prolific_study, "prolific_session": annotator.prolific_session}
    now = {
        "prolific_study": prolific_study or annotator.prolific_study,
        "prolific_session": prolific_session or annotator.prolific_session,
    }
    link, old_link = stage.pk if stage else None, annotator.invited_to_id
    if (link, now) == (old_link, before):
        return
    kept = {"invited_to": old_link, **before}
    audit.record(by=by, verb=ARRIVED, subject=annotator, study=annotator.study_id, before=kept)
    _store(annotator, invited_to=stage, **now)
    if link != old_link and not (annotator.left_at or annotator.excluded_at):
        reach = stages_open_to(annotator)  # they leave stages that the new link does not include
        others = Stage.objects.filter(study=annotator.study_id).exclude(pk__in=[one.pk for one in reach])
        _release(annotator, list(others))
        if stage is not None:
            assignment_seats.sit(annotator=annotator, stage=stage)
