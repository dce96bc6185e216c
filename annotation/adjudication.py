"""What a person decides about a task: an answer that stands, one judgment more, or the rule's word again.

An adjudicator decides on what they saw. `seen` is that, as a short text that the page sends back; where it is another
by now, because somebody judged or adjudicated meanwhile, nothing is done and they are told.
"""

import hashlib

from django.db import transaction
from django.utils import timezone

from annotation import flags, outcomes, promotion
from annotation.decisions import ADJUDICATOR, DROPPED, KEPT
from annotation.models import Kind, Outcome, Slot, Stage, Task
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.registry import PROTOCOLS
from annotation.retrying import anew
from annotation.rows import fetch
from annotation.states import MOST_JUDGMENTS
from annotation.words import as_reason
from benchmarks import events
from benchmarks.models import Event

FLAGGED = "flagged"  # why an item is dropped whose material is broken
DECIDED, SENT_BACK, WITHDREW = "adjudicated", "sent back", "withdrew adjudication"

STANDS = """
SELECT task.overlap, task.live,
       (SELECT array_agg(judgment_id ORDER BY judgment_id) FROM annotation_slot WHERE task_id = task.id),
       outcome.state, outcome.outcome, outcome.reason, outcome.by, outcome.note, outcome.decided_at
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.id = %(task)s
"""


class Refused(Exception):
    """Nothing was done; the message is for the adjudicator, `status` for HTTP."""

    status = 409


class Unfit(Refused):
    """What was sent is no decision on this task."""

    status = 422


class Changed(Refused):
    """Somebody judged or adjudicated the task since the adjudicator saw it."""


def seen(task: Task) -> str:
    """What there is to be decided on: another text as soon as a judgment or the outcome is another."""
    return hashlib.sha256(repr(fetch(STANDS, task=task.pk)).encode()).hexdigest()[:20]


def answers(task: Task, stage: Stage) -> list[str]:
    """What an adjudicator may answer: an option, a fixed answer of the protocol, or cannot judge."""
    return [*task.options, *(choice.identity for choice in PROTOCOLS[stage.protocol].fixed), CANNOT_JUDGE]


@anew
@transaction.atomic
def decide(
    *, task: Task, by: str, seen: str, note: str, answer: str = "", reason: str = "", adjudicator=None,
    settles: bool = False,
) -> Outcome | None:  # fmt: skip
    """The answer is the outcome from now on, or, with the reason `flagged`, the item is dropped as broken.

    It stands whatever is judged later. `settles`: so are the flags on it. Raises Refused.
    """
    stage, words = _stage(task), _words(note)
    if (reason != FLAGGED or answer) if reason else answer not in answers(task, stage):
        raise Unfit("Pick one of the answers, or drop the item.")
    if _begin(task, by, DECIDED, seen, answer=answer, reason=reason, note=words):
        return Outcome.objects.filter(task=task).first()
    why = reason or PROTOCOLS[stage.protocol].reason(answer)
    found, _ = Outcome.objects.update_or_create(
        task=task,
        defaults={
            "state": DROPPED if why else KEPT, "outcome": answer, "reason": why, "by": ADJUDICATOR,
            "adjudicator": adjudicator, "note": words, "decided_at": timezone.now(),
        },
    )  # fmt: skip
    for flag in flags.open_flags(task) if settles else []:
        flags.settle_flag(flag=flag, by=by, settled_by=adjudicator)
    promotion.follow(stage, task.item_id)
    return found


@anew
@transaction.atomic
def send_back(*, task: Task, by: str, seen: str, note: str) -> Task:
    """Ask for one judgment more. The task is open until it is there, also where an adjudicator had decided, and also
    in a closed stage; then the rule speaks. Raises Refused.
    """
    stage, words = _stage(task), _words(note)
    if _begin(task, by, SENT_BACK, seen, note=words):
        return task
    adjudicated = Outcome.objects.filter(task=task, by=ADJUDICATOR).exists()
    waits = Slot.objects.filter(task=task, judgment=None).exists()
    if waits and not adjudicated:
        raise Refused("This item waits for a judgment already.")
    if not waits and task.overlap >= MOST_JUDGMENTS:
        raise Refused(f"This item has {MOST_JUDGMENTS} judgments, which is the most that can be asked for.")
    if not waits:
        outcomes.add_slot(task, stage)
    Slot.objects.filter(task=task, judgment=None).update(live=True)
    Outcome.objects.filter(task=task).delete()
    outcomes.settle(task, stage)
    promotion.follow(stage, task.item_id)
    return task


@anew
@transaction.atomic
def withdraw(*, task: Task, by: str, seen: str) -> Task:
    """An adjudicator's decision is lifted; what the rule makes of the judgments stands again. Raises Refused."""
    stage = _stage(task)
    if _begin(task, by, WITHDREW, seen):
        return task
    if not Outcome.objects.filter(task=task, by=ADJUDICATOR).delete()[0]:
        raise Refused("Nobody has adjudicated this item.")
    outcomes.settle(task, stage)
    promotion.follow(stage, task.item_id)
    return task


def _begin(task: Task, by: str, verb: str, seen_then: str, **data: str) -> bool:
    """Lock the task and write the event; True where this very request was carried out before. Raises Refused."""
    fetch(outcomes.LOCK, task=task.pk)
    task.refresh_from_db()
    told = {**data, "seen": seen_then}
    if seen(task) != seen_then:
        before = Event.objects.filter(subject=events.named(task), by=by, verb=verb, data=told)
        if before.exists():
            return True
        raise Changed("Somebody judged or adjudicated this item meanwhile. Look at it again.")
    if not task.live or task.kind != Kind.JUDGE:
        raise Refused("This item is not in this stage any more.")
    events.record(by=by, verb=verb, subject=task, **told)
    return False


def _stage(task: Task) -> Stage:
    return Stage.objects.select_related("study").get(pk=task.stage_id)


def _words(note: str) -> str:
    words = as_reason(note)
    if not words:
        raise Unfit("Say in a few words why.")
    return words
