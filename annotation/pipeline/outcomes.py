"""Outcomes of tasks, kept in line with the judgments in the transaction that changes them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from annotation import outbox
from annotation.models import Kind, Outcome, Slot, Stage, StageState, Task
from annotation.pipeline import audits, disagreement, promotion
from annotation.pipeline.ranks import random_rank
from annotation.pipeline.stage_rules import rule_about, rule_of
from annotation.protocols import decision_rule
from annotation.protocols.base import Answer
from annotation.protocols.certainty import wants_more
from annotation.protocols.decision_rule import (
    ADJUDICATOR,
    AWAITING_ADJUDICATION,
    AWAITING_CONFIRMATION,
    DROPPED,
    EDIT_PREFIX,
    OPEN,
    Decision,
)
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from benchmarks import audit

GIVEN = """
WITH slot AS MATERIALIZED (SELECT judgment_id FROM annotation_slot WHERE task_id = %(task)s)
SELECT judgment.id, judgment.answer, judgment.content
FROM slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id ORDER BY judgment.created_at, judgment.id
"""
WRITE = """
INSERT INTO annotation_outcome AS outcome (task_id, state, outcome, content, reason, by, posterior, note)
VALUES (%(task)s, %(state)s, %(outcome)s, %(content)s, %(reason)s, %(by)s, %(posterior)s, '')
ON CONFLICT (task_id) DO UPDATE SET state = excluded.state, outcome = excluded.outcome, content = excluded.content,
  reason = excluded.reason, by = excluded.by, posterior = excluded.posterior, decided_at = now()
WHERE outcome.by <> %(adjudicator)s
  AND (outcome.state, outcome.outcome, outcome.content, outcome.reason, outcome.by, outcome.posterior)
      IS DISTINCT FROM
      (excluded.state, excluded.outcome, excluded.content, excluded.reason, excluded.by, excluded.posterior)
RETURNING task_id
"""
CLEAR = "DELETE FROM annotation_outcome WHERE task_id = %(task)s AND by <> %(adjudicator)s RETURNING task_id"
AMONG = 50  # screens among which an extra judgment of adaptive overlap is hidden
NEXT_RANKS = """
SELECT rank FROM annotation_slot
WHERE stage_id = %(stage)s AND annotator_id IS NULL AND reserved_id IS NULL AND live
ORDER BY rank, number LIMIT %(among)s
"""
TIED = {"tie_rule", "no_majority", AWAITING_ADJUDICATION}  # values that show that answers were tied
LOCK = "SELECT id FROM annotation_task WHERE id = %(task)s FOR NO KEY UPDATE"

Given = dict[int, Answer]  # judgment → its answer, in the order given


@dataclass(frozen=True, slots=True)
class Known:
    """The counted answers of a task; whether it may have an outcome, and whether its stage may have successors."""

    given: Given
    decided: bool = True
    feeds: bool = True


def settle(
    task: Task,
    stage: Stage,
    known: Known | None = None,
    asked: bool = False,
    given_out: bool = False,
    events: list[outbox.NewEvent] | None = None,
) -> None:
    """Bring the outcome in line with the counted judgments, and the stages after it with the outcome.

    The caller has locked the task's row. An adjudicator's decision stands whatever is judged later. `known`: what the
    caller has already read. `asked`: another judgment was just requested; `given_out`: the task is given out
    despite a closed stage. `events`, if given, takes the event of a changed outcome, which the caller then writes.
    Under Dawid and Skene's rule the task is open from now on until the next estimate.
    """
    if task.kind != Kind.JUDGE:
        return
    known = known or Known(counted_answers(task))
    answers = list(known.given.values())
    disagreement.store_spread(task, rule_of(stage), known.given)
    if protocol_named(stage.protocol).confirms:
        _confirming(task, stage, known.given, asked)
    decision = rule_about(stage, task.item_id).settle(answers, task.overlap)
    if TIED & {decision.by, decision.reason}:  # a manager may have changed that rule since the stage was read
        stage.refresh_from_db(fields=["tie_rule"])
        decision = rule_about(stage, task.item_id).settle(answers, task.overlap)
    if len(answers) >= task.overlap and _asks_for_more(task, stage, answers, decision):
        add_slot(task, stage, given_out)
        decision = Decision(OPEN)
    if decision.state == OPEN and not known.decided:
        disagreement.store_waiting(task, decision)
        return
    if not write_outcome(task, stage, decision, events) or not task.live:
        return
    audits.after_outcome(stage)
    if known.feeds:
        promotion.follow_outcome(stage, task.item_id)
    if decision.state == DROPPED:
        promotion.ask_again_if_newer(stage, task.item_id)


def counted_answers(task: Task) -> Given:
    """Return a task's counted answers by judgment."""
    return answers_in(fetch(GIVEN, task=task.pk))


def answers_in(rows: Iterable[Sequence[Any]]) -> Given:
    """Return the answers in rows of judgments: id, answer, content and whatever follows."""
    return {pk: Answer(label, json.loads(content)) for pk, label, content, *_ in rows}


def _confirming(task: Task, stage: Stage, found: Given, asked: bool) -> None:
    """Handle a task whose edits must be confirmed: edits become options for the next annotator, and a slot added for
    confirmation is removed once no longer needed.
    """
    first = {
        decision_rule.verdict(answer): pk
        for pk, answer in reversed(found.items())
        if decision_rule.is_edit(answer.label)
    }
    proposals = [f"{EDIT_PREFIX}{pk}" for pk in sorted(first.values())]
    if proposals != task.proposals:
        task.proposals = proposals
        Task.objects.filter(pk=task.pk).update(proposals=proposals)
    if not asked and rule_of(stage).settle(list(found.values())).state != OPEN:
        _take_slots_back(task, stage)


def _take_slots_back(task: Task, stage: Stage) -> None:
    """Remove the last slots beyond the stage's overlap that were never held and are not reserved."""
    gone, added = 0, Slot.objects.filter(task=task, number__gt=stage.overlap).order_by("-number")
    for slot in added.select_for_update(skip_locked=True):  # a locked slot is being claimed or judged
        last = slot.number == task.overlap - gone
        if not last or slot.annotator_id or slot.reserved_id or slot.leases.exists():
            break
        slot.delete()
        gone += 1
    if gone:
        Task.objects.filter(pk=task.pk).update(overlap=F("overlap") - gone)
        task.overlap -= gone


def write_outcome(task: Task, stage: Stage, decision: Decision, events: list[outbox.NewEvent] | None = None) -> bool:
    """Write the outcome; return whether it has changed. Its event goes to `events`, or at once to the outbox."""
    disagreement.store_waiting(task, decision)
    if decision.state == OPEN:
        changed = bool(fetch(CLEAR, task=task.pk, adjudicator=ADJUDICATOR))
    else:
        written = fetch(
            WRITE,
            task=task.pk,
            adjudicator=ADJUDICATOR,
            state=decision.state,
            outcome=decision.outcome,
            content=json.dumps(decision.content),
            reason=decision.reason,
            by=decision.by,
            posterior=decision.posterior,
        )
        changed = bool(written)
    if changed:
        event = outbox.of_task("item.reopened" if decision.state == OPEN else "item.decided", task, stage)
        if events is None:
            outbox.write([event], study=stage.study_id)
        else:
            events.append(event)
    return changed


def _asks_for_more(task: Task, stage: Stage, answers: list[Answer], decision: Decision) -> bool:
    """Delete the outcome unless an adjudicator decided it; return whether it was deleted."""
    if decision.reason == AWAITING_CONFIRMATION:
        return not _is_adjudicated(task)
    labels, rule = [answer.label for answer in answers], rule_of(stage)
    if stage.cap is None or task.overlap >= stage.cap:
        return False
    if stage.certainty is None:
        asks = len(labels) > 1 and rule.is_split(labels)
    else:
        asks = wants_more(rule.votes(labels), stage.certainty, stage.cap)
    return asks and not _is_adjudicated(task)


def _is_adjudicated(task: Task) -> bool:
    return Outcome.objects.filter(task=task, by=ADJUDICATOR).exists()


def add_slot(task: Task, stage: Stage, given_out: bool = False) -> Slot:
    """Add one judgment to the task. The caller has locked its row. IntegrityError beyond 50."""
    Task.objects.filter(pk=task.pk).update(overlap=F("overlap") + 1)
    task.overlap += 1
    live = task.live and (given_out or stage.state == StageState.OPEN)
    audit.record(by="app", verb="added a slot", subject=task, overlap=task.overlap)
    rank = task.rank if stage.certainty is None else _place_among_next(task, stage)
    return Slot.objects.create(task=task, stage=stage, number=task.overlap, rank=rank, live=live)


def _place_among_next(task: Task, stage: Stage) -> int:
    """Return the rank of one of the next free screens, drawn by the stage's seed.

    At the task's own rank the slot would be the next screen to be assigned, and anyone back from a break would begin
    with contested items.
    """
    ranks = fetch(NEXT_RANKS, stage=stage.pk, among=AMONG)
    return ranks[random_rank("added", stage.seed, task.rank, task.overlap) % len(ranks)][0] if ranks else task.rank
