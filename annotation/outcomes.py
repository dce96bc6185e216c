"""What a task's judgments come to. Kept in step with them, in the transaction that changes them."""

from django.db.models import F

from annotation import decisions, promotion
from annotation.decisions import ADJUDICATOR, OPEN, Decision
from annotation.models import Kind, Outcome, Slot, Stage, StageState, Task
from annotation.protocols.registry import PROTOCOLS
from annotation.rows import fetch
from annotation.tallies import Rule
from benchmarks import events

ANSWERS = """
SELECT array_agg(judgment.answer ORDER BY judgment.created_at, judgment.id)
FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
WHERE slot.task_id = %(task)s
"""
WRITE = """
INSERT INTO annotation_outcome AS outcome (task_id, state, outcome, reason, by, note)
VALUES (%(task)s, %(state)s, %(outcome)s, %(reason)s, %(by)s, '')
ON CONFLICT (task_id) DO UPDATE SET state = excluded.state, outcome = excluded.outcome, reason = excluded.reason,
  by = excluded.by, decided_at = now()
WHERE outcome.by <> %(adjudicator)s
  AND (outcome.state, outcome.outcome, outcome.reason, outcome.by)
      IS DISTINCT FROM (excluded.state, excluded.outcome, excluded.reason, excluded.by)
RETURNING task_id
"""
CLEAR = "DELETE FROM annotation_outcome WHERE task_id = %(task)s AND by <> %(adjudicator)s RETURNING task_id"
LOCK = "SELECT id FROM annotation_task WHERE id = %(task)s FOR NO KEY UPDATE"


def rule_of(stage: Stage) -> Rule:
    return Rule(PROTOCOLS[stage.protocol], stage.overlap, stage.tie_rule)


def settle(task: Task, stage: Stage, answers: list[str] | None = None, feeds: bool = True) -> None:
    """Bring the outcome in line with the counted judgments, and the stages after it with the outcome.

    The caller has locked the task's row. An adjudicator's decision stands whatever is judged later. Where the caller
    knows them, `answers` are what counts, and not `feeds` says that no stage takes from this one.
    """
    if task.kind != Kind.JUDGE:
        return
    if answers is None:
        answers = fetch(ANSWERS, task=task.pk)[0][0] or []
    decision = rule_of(stage).decide(answers, task.overlap)
    if len(answers) >= task.overlap and _asks_for_more(task, stage, answers):
        add_slot(task, stage)
        decision = Decision(OPEN)
    if write(task, decision) and task.live and feeds:
        promotion.follow(stage, task.item_id)


def write(task: Task, decision: Decision) -> bool:
    """Whether the outcome is another now than it was."""
    if decision.state == OPEN:
        return bool(fetch(CLEAR, task=task.pk, adjudicator=ADJUDICATOR))
    values = {"state": decision.state, "outcome": decision.outcome, "reason": decision.reason, "by": decision.by}
    return bool(fetch(WRITE, task=task.pk, adjudicator=ADJUDICATOR, **values))


def _asks_for_more(task: Task, stage: Stage, answers: list[str]) -> bool:
    """Not where an adjudicator has decided: what is judged later changes nothing."""
    if len(answers) < 2 or stage.cap is None or task.overlap >= stage.cap:
        return False
    if not decisions.is_split(answers, rule_of(stage).alike(answers)):
        return False
    return not Outcome.objects.filter(task=task, by=ADJUDICATOR).exists()


def add_slot(task: Task, stage: Stage) -> Slot:
    """One judgment more for the task. The caller has locked its row. IntegrityError beyond 50."""
    Task.objects.filter(pk=task.pk).update(overlap=F("overlap") + 1)
    task.overlap += 1
    live = task.live and stage.state == StageState.OPEN
    events.record(by="app", verb="added a slot", subject=task, overlap=task.overlap)
    return Slot.objects.create(task=task, stage=stage, number=task.overlap, rank=task.rank, live=live)
