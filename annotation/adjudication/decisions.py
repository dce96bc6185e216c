"""A person's decisions about a task: a final answer, one more judgment, the rule's outcome again, or settling a flag.

A decision applies only to what the adjudicator saw. `seen` is a digest of that state, which the page sends back; if
someone has judged or adjudicated since, the decision is refused with a message.
"""

import hashlib
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from django.db import transaction
from django.utils import timezone

from annotation.models import Flag, Kind, Outcome, Slot, Stage, Task
from annotation.models.choices import MOST_JUDGMENTS
from annotation.pipeline import audits, outcomes, promotion
from annotation.pipeline.stage_rules import rule_about
from annotation.protocols.answer_words import fixed_labels
from annotation.protocols.base import Answer, AnswerContent, InvalidAnswer, Protocol, TextsByIdentity, caption_identity
from annotation.protocols.decision_rule import ADJUDICATOR, DROPPED, EDITED, Decision
from annotation.protocols.registry import protocol_named
from annotation.screens.material import texts_of
from annotation.screens.read_answer import parse_form
from annotation.sql import fetch
from annotation.wording import clean_reason
from benchmarks import audit
from benchmarks.models import Event
from benchmarks.transactions import retry_deadlocks

FLAGGED = "flagged"  # the reason for dropping an item with broken material
DECIDED, SENT_BACK, WITHDREW = "adjudicated", "sent back", "withdrew adjudication"
NOTHING = AnswerContent()

STANDS = """
SELECT task.id, task.overlap, task.live,
       (SELECT array_agg(judgment_id ORDER BY judgment_id) FROM annotation_slot WHERE task_id = task.id),
       outcome.state, outcome.outcome, outcome.content, outcome.reason, outcome.by, outcome.note, outcome.decided_at
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.id = ANY(%(tasks)s)
"""


class Refused(Exception):
    """The request was refused; the message is for the adjudicator, `status` for HTTP."""

    status, field = 409, ""  # the id of the field to correct on the page


class Unfit(Refused):
    """The submitted form is not a valid decision on this task."""

    status, field = 422, "answers"


class Unexplained(Unfit):
    """The decision lacks a reason."""

    field = "note"


class Changed(Refused):
    """Someone has judged or adjudicated the task since the adjudicator saw it."""


def seen(task: Task) -> str:
    """Return a digest of the task's state, which changes with every judgment and outcome."""
    return seen_of([task.pk])[task.pk]


def seen_of(tasks: Sequence[int]) -> dict[int, str]:
    """Return the same digest for each of these tasks. Makes one query."""
    rows = fetch(STANDS, tasks=list(tasks))
    return {row[0]: hashlib.sha256(repr(row).encode()).hexdigest()[:20] for row in rows}


def allows(task: Task, stage: Stage, answer: Answer) -> bool:
    """Return whether an adjudicator may give this answer: an option, a fixed answer or cannot judge; if answers are
    more than a choice of option, an annotator's answer, or one that an annotator could have given.
    """
    protocol = protocol_named(stage.protocol)
    if not answer.content and answer.label in fixed_labels(protocol):
        return True
    if protocol.form is None:
        return not answer.content and answer.label in task.options
    if answer in outcomes.counted_answers(task).values():
        return True
    try:
        return _read(task, protocol, answer) == answer
    except (InvalidAnswer, LookupError, ValueError):
        return False


def _choices(task: Task, stage: Stage) -> str:
    """Return the allowed answers as a list for a message, unless answers are more than a choice of option."""
    protocol = protocol_named(stage.protocol)
    return "" if protocol.form else f" ({', '.join([*task.options, *fixed_labels(protocol)])})"


def offered(task: Task) -> list[str]:
    """Return the annotators' options, including earlier edits."""
    return [*task.options, *task.proposals]


def own_words(task: Task, stage: Stage, written: Mapping[str, str]) -> Answer:
    """Parse an adjudicator's text by role like an annotator's edit of the most similar sentence that follows every
    guideline. Raises Unfit.
    """
    protocol, shown = protocol_named(stage.protocol), offered(task)
    form = protocol.form
    if form is None or not form.edits:
        raise Unfit("This question does not accept text of your own. Pick one of the answers.")
    texts = texts_of(task, shown)
    content: AnswerContent = {
        "texts": dict(written),
        "from": {role: _nearest(role, words, shown, texts) for role, words in written.items()},
        "guidelines": {guideline.code: True for guideline in form.guidelines},
    }
    try:
        return _read(task, protocol, Answer(EDITED, content))
    except InvalidAnswer as lacks:
        raise Unfit(str(lacks)) from None


def _read(task: Task, protocol: Protocol, answer: Answer) -> Answer:
    """Parse the answer like the annotators' form, with all its checks. Raises InvalidAnswer."""
    assert protocol.form is not None
    shown = offered(task)
    return parse_form(task, shown, protocol, protocol.form.fill(answer, shown))


def _nearest(role: str, words: str, shown: Sequence[str], texts: TextsByIdentity) -> str:
    """Return the identity of the most similar sentence among the options and the role's current one."""
    there = [identity for identity in (caption_identity(role), *shown) if identity in texts]
    return max(there, key=lambda identity: SequenceMatcher(None, words, texts[identity]).ratio(), default="")


@retry_deadlocks
@transaction.atomic
def decide(
    *, task: Task, by: str, seen: str, note: str, answer: str = "", content: AnswerContent = NOTHING,
    reason: str = "", adjudicator=None, settles: bool = False, blind: bool = False,
) -> Outcome | None:  # fmt: skip
    """Make the answer, with its content, the outcome; or, with the reason `flagged`, drop the item as broken.

    Later judgments do not change it. `settles`: also settle the task's flags. `blind`: the page hid how annotators
    answered; the event records it. Raises Refused.
    """
    stage, words, given = _stage(task), _words(note), Answer(answer, content)
    more = ({"content": given.content} if content else {}) | _blindness(blind)
    if _begin(task, by, DECIDED, seen, answer=answer, reason=reason, note=words, **more):
        return Outcome.objects.filter(task=task).first()
    if (reason != FLAGGED or answer or content) if reason else not allows(task, stage, given):
        raise Unfit(f"Pick one of the answers{_choices(task, stage)}, or drop the item.")
    decision = Decision(DROPPED, "", reason) if reason else rule_about(stage, task.item_id).adjudicated(given)
    found, _ = Outcome.objects.update_or_create(
        task=task,
        defaults={
            "state": decision.state, "outcome": decision.outcome, "content": decision.content,
            "reason": decision.reason, "posterior": None, "by": ADJUDICATOR, "adjudicator": adjudicator, "note": words,
            "decided_at": timezone.now(),
        },
    )  # fmt: skip
    for flag in open_flags(task) if settles else []:
        settle_flag(flag=flag, by=by, settled_by=adjudicator)
    audits.after_outcome(stage)
    promotion.follow_outcome(stage, task.item_id)
    if decision.state == DROPPED:
        promotion.ask_again_if_newer(stage, task.item_id)
    return found


@retry_deadlocks
@transaction.atomic
def send_back(*, task: Task, by: str, seen: str, note: str, blind: bool = False) -> Task:
    """Request one more judgment. The task is open until it arrives, even if an adjudicator had decided or the stage is
    closed; then the rule decides. `blind` as in `decide`. Raises Refused.
    """
    stage, words = _stage(task), _words(note)
    if _begin(task, by, SENT_BACK, seen, note=words, **_blindness(blind)):
        return task
    adjudicated = Outcome.objects.filter(task=task, by=ADJUDICATOR).exists()
    waits = Slot.objects.filter(task=task, judgment=None).exists()
    if waits and not adjudicated:
        raise Refused("This item is already waiting for a judgment.")
    if not waits and task.overlap >= MOST_JUDGMENTS:
        raise Refused(f"This item has {MOST_JUDGMENTS} judgments, which is the maximum. Decide it yourself.")
    if not waits:
        outcomes.add_slot(task, stage)
    Slot.objects.filter(task=task, judgment=None).update(live=True)
    Outcome.objects.filter(task=task).delete()
    outcomes.settle(task, stage, asked=True)
    promotion.follow_outcome(stage, task.item_id)
    return task


@retry_deadlocks
@transaction.atomic
def withdraw(*, task: Task, by: str, seen: str) -> Task:
    """Withdraw an adjudicator's decision, so that the rule's outcome applies again. Raises Refused."""
    stage = _stage(task)
    if _begin(task, by, WITHDREW, seen):
        return task
    if not Outcome.objects.filter(task=task, by=ADJUDICATOR).delete()[0]:
        raise Refused("This item has no adjudication to withdraw.")
    outcomes.settle(task, stage)
    promotion.follow_outcome(stage, task.item_id)
    return task


def open_flags(task: Task) -> list[Flag]:
    """Return annotators' reports about the task that nobody has settled."""
    return list(Flag.objects.filter(lease__task=task, settled_at=None).order_by("pk"))


@transaction.atomic
def settle_flag(*, flag: Flag, by: str, settled_by=None) -> Flag:
    """Record that somebody has looked at the flag; the task and its judgments do not change. Idempotent."""
    flag = Flag.objects.select_for_update(no_key=True).get(pk=flag.pk)
    if flag.settled_at is None:
        flag.settled_at, flag.settled_by = timezone.now(), settled_by
        flag.save(update_fields=["settled_at", "settled_by"])
        audit.record(by=by, verb="settled", subject=flag)
    return flag


def _blindness(blind: bool) -> dict[str, bool]:
    return {"blind": True} if blind else {}


def _begin(task: Task, by: str, verb: str, seen_then: str, **data: object) -> bool:
    """Lock the task and write the event; return True if the same request was carried out before. Raises Refused."""
    fetch(outcomes.LOCK, task=task.pk)
    task.refresh_from_db()
    data |= {"seen": seen_then}
    if seen(task) != seen_then:
        before = Event.objects.filter(subject=audit.named(task), by=by, verb=verb, data=data)
        if before.exists():
            return True
        raise Changed("Someone has judged or adjudicated this item in the meantime. Review it again.")
    if not task.live or task.kind != Kind.JUDGE:
        raise Refused("This item is no longer in this stage.")
    audit.record(by=by, verb=verb, subject=task, **data)
    return False


def _stage(task: Task) -> Stage:
    return Stage.objects.select_related("study").get(pk=task.stage_id)


def _words(note: str) -> str:
    words = clean_reason(note)
    if not words or (len(words) == 1 and words.isascii()):  # a shortcut key pressed in the field
        raise Unexplained("Give a reason of at least two characters.")
    return words
