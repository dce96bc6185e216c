"""Submit, withdraw and change answers (judgments), and flag tasks.

Everything here is acknowledged after COMMIT (law 1) and safe to send again (law 3). A judgment is a row that never
changes; its effect on its slot and lease happens in the same transaction.
"""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import get_language, gettext

from annotation import outbox
from annotation.assignment import leases as assignment_leases
from annotation.assignment.seats import stages_open_to
from annotation.models import Annotator, Flag, Judgment, Lease, LeaseState, Slot, Stage, StudyState, Task
from annotation.pipeline import outcomes
from annotation.protocols.base import CANNOT_JUDGE, Answer, SubmittedFields
from annotation.screens.errors import AnsweredElsewhere, BadAnswer, KeyReused, NothingToUndo, NotOpen, UnknownLease
from annotation.screens.read_answer import parse_answer, screen_fields
from annotation.sql import columns, fetch, instances
from annotation.wording import clean_reason, pseudonym
from benchmarks import audit
from benchmarks.transactions import retry_deadlocks

HISTORY = 20  # screens that an annotator can go back
CLOSED = StudyState.CLOSED  # a stage uses the same word
LONGEST_MS = 24 * 3600 * 1000  # a browser's clock is not trusted beyond a day


WRITTEN = ["lease_id", "revision", "key", "digest", "instructions_id", "answer", "content", "reason", "withdrawn"]
WRITTEN += ["language", "surplus", "active_ms", "elapsed_ms"]

# Write a judgment and, unless it is surplus, update its slot and lease. Returns it with the task's other counted
# judgments, in the order given; `decided`: whether the task has an outcome. `others` is materialized, or PostgreSQL
# may read the index of all judged slots, which look few to it while a study is young.
WRITE = f"""
WITH judgment AS (
  INSERT INTO annotation_judgment ({", ".join(WRITTEN)}) VALUES ({", ".join(f"%({name})s" for name in WRITTEN)})
  RETURNING id, answer, content, created_at
), others AS MATERIALIZED (
  SELECT judgment_id FROM annotation_slot WHERE task_id = %(task)s AND id <> %(slot)s
), taken AS (
  UPDATE annotation_slot SET annotator_id = %(annotator)s, held_until = NULL, judgment_id = (SELECT id FROM judgment)
  WHERE id = %(slot)s AND NOT %(surplus)s
), moved AS (
  UPDATE annotation_lease SET state = %(state)s WHERE id = %(lease_id)s AND state <> %(state)s
)
SELECT id, answer, content, created_at, true AS new,
       EXISTS (SELECT FROM annotation_outcome WHERE task_id = %(task)s) AS decided FROM judgment
UNION ALL
SELECT other.id, other.answer, other.content, other.created_at, false, false
FROM others JOIN annotation_judgment other ON other.id = others.judgment_id
ORDER BY created_at, id
"""

FOUND = ["holder", "given_out", "study_state", "feeds", "read", "webhooks", "revisions", "earlier"]

# The lease with its task and stage; the slot is locked, and the task, whose outcome may change.
FIND = f"""
SELECT {columns(Lease, "lease")}, {columns(Task, "task")}, {columns(Stage, "stage")},
       slot.annotator_id, slot.live, study.state, EXISTS (SELECT FROM annotation_stage WHERE source_id = stage.id),
       (SELECT read_id FROM annotation_seat WHERE annotator_id = lease.annotator_id AND stage_id = stage.id),
       EXISTS (SELECT FROM annotation_webhook WHERE study_id = study.id),
       (SELECT coalesce(max(revision), 0) FROM annotation_judgment WHERE lease_id = lease.id),
       EXISTS (SELECT FROM annotation_judgment WHERE key = %(key)s)
FROM annotation_lease lease
JOIN annotation_slot slot ON slot.id = lease.slot_id
JOIN annotation_task task ON task.id = lease.task_id
JOIN annotation_stage stage ON stage.id = slot.stage_id
JOIN annotation_study study ON study.id = stage.study_id
WHERE lease.token = %(token)s AND lease.annotator_id = %(annotator)s
FOR NO KEY UPDATE OF slot, task
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A page's submission: the lease's `token`; a unique `key`, by which it is stored once however often it is sent;
    the answer by its place on the screen; `more`, the screen's other fields; and the browser's times.

    `seen` is the key of the answer that the page showed as stored.
    """

    token: UUID
    key: UUID
    shown_answer: str
    reason: str = ""
    more: SubmittedFields = field(default_factory=dict)
    seen: UUID | None = None
    active_ms: int = 0
    elapsed_ms: int = 0

    @property
    def fields(self) -> SubmittedFields:
        return {**self.more, "answer": self.shown_answer, "reason": self.reason}

    @property
    def digest(self) -> str:
        """Return a digest that distinguishes two answers with the same key."""
        return _digest(self.token, self.shown_answer, self.reason, *sorted(self.more.items()))

    @property
    def times(self) -> dict[str, int]:
        """Return the times within bounds; the active time is at most the elapsed time."""
        elapsed = max(0, min(self.elapsed_ms, LONGEST_MS))
        return {"active_ms": max(0, min(self.active_ms, elapsed)), "elapsed_ms": elapsed}


@dataclass(frozen=True)
class Receipt:
    """`added`: whether the annotator has finished one more screen than before."""

    lease: Lease
    judgment: Judgment
    replayed: bool
    added: bool = False


@retry_deadlocks
@transaction.atomic
def submit(*, annotator: Annotator, submission: Submission) -> Receipt:
    """Write a judgment, or a new revision of a judgment. If its slot now belongs to someone else, it is kept as
    surplus.

    Raises AnsweredElsewhere if there is another answer that the page did not show.
    """
    assignment_leases.lock(annotator)
    return _submit(annotator, submission)


@retry_deadlocks
@transaction.atomic
def submit_and_hold(
    *, annotator: Annotator, stage: Stage, submission: Submission, wanted: int = assignment_leases.HELD
) -> tuple[Receipt, list[Lease]]:
    """Submit and hold the next screens in one transaction: the judging page does this at every Enter."""
    assignment_leases.lock(annotator)
    return _submit(annotator, submission), assignment_leases.hold_locked(annotator, stage, wanted)


def _submit(annotator: Annotator, submission: Submission) -> Receipt:
    lease, row = _find(annotator, submission.token, submission.key)
    earlier = _earlier(annotator, submission.key, submission.digest) if row["earlier"] else None
    if earlier is not None:
        return Receipt(earlier.lease, earlier, replayed=True)
    answer = parse_answer(lease, lease.task.stage.protocol, submission.fields)
    _check_submission(lease, answer.label, submission.reason, row)
    # An answer is surplus if somebody else now has its slot, if the annotator got the task again under a newer lease
    # (whose answer counts), if they were excluded, or if the screen's words have been corrected since. If the slot is
    # free again, a late answer counts.
    is_latest = lease.state != LeaseState.LAPSED or not _has_newer(lease)
    counts = is_latest and row["holder"] in (None, lease.annotator_id) and annotator.excluded_at is None
    counts &= lease.task.corrected_id is None or lease.state == LeaseState.JUDGED
    judgment = _revision(lease, row, answer, submission, surplus=not counts)
    if row["revisions"]:
        _check_seen(judgment, submission.seen)
    added = counts and lease.state != LeaseState.JUDGED
    given, decided = _write(judgment, LeaseState.JUDGED if counts else LeaseState.LATE if is_latest else lease.state)
    events = [_event("judgment.revised" if row["revisions"] else "judgment.made", judgment, annotator)]
    if counts:
        known = outcomes.Known(given, decided, row["feeds"])
        outcomes.settle(lease.task, lease.task.stage, known, given_out=row["given_out"], events=events)
    if row["webhooks"]:
        outbox.write(events, study=lease.task.stage.study_id)
    return Receipt(lease, judgment, replayed=False, added=added)


def _revision(lease: Lease, row: dict, answer: Answer, submission: Submission, surplus: bool) -> Judgment:
    """Return the lease's next judgment without writing it."""
    return Judgment(
        lease=lease,
        revision=row["revisions"] + 1,
        instructions_id=row["read"],
        answer=answer.label,
        content=answer.content,
        reason=clean_reason(submission.reason or answer.content.get("reason", "")),
        language=get_language(),
        key=submission.key,
        digest=submission.digest,
        surplus=surplus,
        **submission.times,
    )


def _event(kind: str, judgment: Judgment, annotator: Annotator) -> outbox.NewEvent:
    task = judgment.lease.task
    return outbox.of_task(kind, task, task.stage, judgment=judgment.pk, annotator=pseudonym(annotator.number))


def _find(annotator: Annotator, token: UUID, key: UUID | None = None) -> tuple[Lease, dict]:
    """Lock the slot; return the annotator's lease with everything a submission needs to know."""
    found = fetch(FIND, token=token, annotator=annotator.pk, key=key)
    if not found:
        raise UnknownLease(gettext("This screen is not yours, or it no longer exists."))
    lease, task, stage = instances(found[0], Lease, Task, Stage)
    lease.task, task.stage = task, stage
    return lease, dict(zip(FOUND, found[0][-len(FOUND) :], strict=True))


def _write(judgment: Judgment, state: str) -> tuple[outcomes.Given, bool]:
    """Return the task's counted answers, if the judgment counts, and whether the task has an outcome."""
    values = {name: getattr(judgment, name) for name in WRITTEN} | {"content": json.dumps(judgment.content)}
    lease = judgment.lease
    values |= {"slot": lease.slot_id, "task": lease.task_id, "annotator": lease.annotator_id, "state": state}
    rows = fetch(WRITE, **values)
    [(judgment.pk, judgment.created_at, decided)] = [(pk, at, decided) for pk, *_, at, new, decided in rows if new]
    lease.state = state
    return outcomes.answers_in(rows), decided


def _check_submission(lease: Lease, answer: str, reason: str, row: dict) -> None:
    """Refuse what cannot be stored. A closed study or stage still accepts the first answer to an open screen."""
    if row["read"] is None:
        raise NotOpen(gettext("Read the instructions first."))
    if answer == CANNOT_JUDGE and not reason.strip():
        raise BadAnswer(gettext("Say in a few words why you cannot judge this."))
    if lease.state == LeaseState.JUDGED and CLOSED in (row["study_state"], lease.task.stage.state):
        raise NotOpen(gettext("This study is closed. Answers can no longer be changed."))


def _check_seen(judgment: Judgment, seen: UUID | None) -> None:
    """Check that the page showed the stored answer, or that it equals the answer shown or the new one. An answer from
    another tab is never replaced without asking.

    A page names the answer it showed by key, not by number, because it may change an answer that is still in flight.
    """
    given = {one.key: one for one in judgment.lease.judgments.order_by("revision")}
    *_, stands = given.values()
    shown = [given[seen]] if seen in given else []
    if not stands.withdrawn and _content(stands) not in map(_content, [judgment, *shown]):
        raise AnsweredElsewhere(stands, judgment)


def _content(judgment: Judgment) -> tuple[str, str, str]:
    return judgment.answer, json.dumps(judgment.content, sort_keys=True), judgment.reason


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


def _earlier(annotator: Annotator, key: UUID, digest: str) -> Judgment | None:
    earlier = Judgment.objects.filter(key=key).select_related("lease__task__stage__study").first()
    if earlier and (earlier.digest != digest or earlier.lease.annotator_id != annotator.pk):
        raise KeyReused(gettext("This key was used for another answer."))
    return earlier


def is_newest(judgment: Judgment) -> bool:
    """Return whether nothing has changed or withdrawn this answer."""
    return not Judgment.objects.filter(lease=judgment.lease_id, revision__gt=judgment.revision).exists()


def _has_newer(lease: Lease) -> bool:
    """Return whether the annotator got the task again after this lease lapsed; then only the newer lease counts."""
    again = Lease.objects.filter(task_id=lease.task_id, annotator_id=lease.annotator_id).exclude(pk=lease.pk)
    return again.exclude(state=LeaseState.LAPSED).exists()


@retry_deadlocks
@transaction.atomic
def undo(*, annotator: Annotator, key: UUID) -> Lease:
    """Withdraw the last answer not yet withdrawn, if within the stage's undo window; its screen is held again.

    Return the lease with `previous`, the answer's fields as shown.
    """
    assignment_leases.lock(annotator)
    earlier = _earlier(annotator, key, _digest("undo"))
    last = _standing(annotator).first() if earlier is None else earlier
    if last is None:
        raise NothingToUndo(gettext("There is no answer to undo."))
    lease, row = _find(annotator, last.lease.token)
    if earlier is None:
        _check_undo(annotator, last, lease.task, row["study_state"])
        events = _withdraw(annotator, last, lease, key)
        if row["webhooks"]:
            outbox.write(events, study=lease.task.stage.study_id)
        Annotator.objects.filter(pk=annotator.pk).update(stage=lease.task.stage_id)
    answered = lease.judgments.filter(withdrawn=False).latest("revision")
    lease.previous = screen_fields(lease, lease.task.stage.protocol, Answer(answered.answer, answered.content))
    return lease


def _standing(annotator: Annotator) -> QuerySet[Judgment]:
    """Return the last judgment on each lease, unless withdrawn, newest first."""
    later = Judgment.objects.filter(lease=OuterRef("lease"), revision__gt=OuterRef("revision"))
    mine = Judgment.objects.filter(lease__annotator=annotator, withdrawn=False)
    return mine.filter(~Exists(later)).select_related("lease").order_by("-pk")


def _check_undo(annotator: Annotator, last: Judgment, task: Task, study_state: str) -> None:
    stage = task.stage
    if annotator.left_at:  # otherwise nobody could answer the screen
        raise NotOpen(gettext("You have left this study. Take part again before you undo an answer."))
    if stage.pk != annotator.stage_id and stage not in stages_open_to(annotator):
        raise NothingToUndo(gettext("Your last answer belongs to a part of the study that your link does not open."))
    if CLOSED in (study_state, stage.state):
        raise NotOpen(gettext("This study is closed. Answers can no longer be undone."))
    if task.corrected_id is not None:
        raise NothingToUndo(gettext("Your last answer was about words that have been corrected. It does not count."))
    if timezone.now() - last.created_at > timedelta(seconds=stage.undo_seconds):
        raise NothingToUndo(
            gettext("Your last answer is too old to undo. You can still change it: go back to its screen.")
        )


def _withdraw(annotator: Annotator, last: Judgment, lease: Lease, key: UUID) -> list[outbox.NewEvent]:
    """Withdraw the judgment and return the events."""
    judgment = Judgment.objects.create(
        lease=lease,
        revision=last.revision + 1,
        key=key,
        digest=_digest("undo"),
        instructions_id=last.instructions_id,
        withdrawn=True,
        language=get_language(),
        surplus=last.surplus,
    )
    stage, events = lease.task.stage, [_event("judgment.withdrawn", judgment, annotator)]
    until = timezone.now() + timedelta(seconds=stage.lease_seconds)
    if Slot.objects.filter(pk=lease.slot_id, judgment=last).update(judgment=None, held_until=until):
        lease.state = LeaseState.HELD
        Lease.objects.filter(pk=lease.pk).update(state=lease.state)
        outcomes.settle(lease.task, stage, events=events)
    return events


@transaction.atomic
def flag(*, annotator: Annotator, token: UUID, reason: str) -> Flag:
    """Tell the manager that something is wrong with the task. Sending the same words twice makes one flag."""
    assignment_leases.lock(annotator)
    lease, _ = _find(annotator, token)
    words = clean_reason(reason)
    if not words:
        raise BadAnswer(gettext("Say in a few words what is wrong."))
    raised, new = Flag.objects.get_or_create(lease=lease, reason=words)
    if new:
        audit.record(by=audit.named(annotator), verb="flagged", subject=lease.task, reason=words)
    return raised


def history(*, annotator: Annotator) -> list[Lease]:
    """Return the last screens that this annotator answered in the stage they are in, newest first."""
    standing = _standing(annotator).filter(lease__task__stage=annotator.stage_id, lease__task__corrected=None)
    leases = []
    for judgment in standing.select_related("lease__task__stage")[:HISTORY]:
        lease = judgment.lease
        lease.seen = judgment.key
        lease.previous = screen_fields(lease, lease.task.stage.protocol, Answer(judgment.answer, judgment.content))
        leases.append(lease)
    return leases
