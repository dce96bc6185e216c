"""A stage's tasks and judgments from the database, by columns: two queries, and one more if annotators edit."""

from typing import Any, NamedTuple

import numpy as np

from annotation.figures.edit_names import edits_of
from annotation.measures.counts import TaskRow
from annotation.measures.judgments import JUDGE, Coded, Judgments
from annotation.models import Stage
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.sql import BOOL, INT4, INT8, TEXT, copy_columns

TASKS = """
SELECT task.id, item.position, task.question, task.round, task.kind, task.live, item.type, item.subtype, task.overlap,
       coalesce(outcome.state, '') AS state, coalesce(outcome.reason, '') AS reason, coalesce(outcome.by, '') AS by,
       task.id / 65536 AS part
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s
"""
TASK_COLUMNS = {
    "id": INT8, "position": INT4, "question": TEXT, "round": INT4, "kind": TEXT, "live": BOOL, "type": TEXT,
    "subtype": TEXT, "overlap": INT4, "state": TEXT, "reason": TEXT, "by": TEXT,
}  # fmt: skip

JUDGMENTS = """
SELECT slot.task_id AS task, slot.number AS slot, annotator.number AS annotator, judgment.answer,
       coalesce(array_position(lease.shown, judgment.answer), 0) AS place, cardinality(lease.shown) AS places,
       judgment.active_ms, coalesce(slot.judgment_id = judgment.id, false) AS counted, judgment.surplus,
       judgment.withdrawn, (extract(epoch FROM judgment.created_at) * 1000000)::bigint AS at, judgment.id,
       slot.id / 65536 AS part
FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
WHERE slot.stage_id = %(stage)s {of}
"""
JUDGMENT_COLUMNS = {
    "task": INT8, "slot": INT4, "annotator": INT4, "answer": TEXT, "place": INT4, "places": INT4, "active_ms": INT4,
    "counted": BOOL, "surplus": BOOL, "withdrawn": BOOL, "at": INT8, "id": INT8,
}  # fmt: skip


class StageTasks(NamedTuple):
    """Every task of a stage, including checks and practice: its `key` (counts.TaskKey) and the columns of TASKS."""

    key: Coded
    columns: dict[str, Any]

    def word(self, name: str) -> Coded:
        return Coded.of_codes(*self.columns[name])


def stage_tasks(stage: Stage) -> StageTasks:
    found = copy_columns(TASKS, TASK_COLUMNS, stage=stage.pk)
    position, round_ = (Coded.of_numbers(found[name]) for name in ("position", "round"))
    return StageTasks(Coded.of_columns(position, Coded.of_codes(*found["question"]), round_), found)


def task_rows(tasks: StageTasks) -> list[TaskRow]:
    """Return the live tasks in item order, without checks and practice."""
    rows = np.argsort(tasks.key.code)
    rows = rows[(tasks.columns["live"] & tasks.word("kind").equals(JUDGE))[rows]]
    words = (tasks.word(name)[rows].tolist() for name in ("type", "subtype", "state", "reason", "by"))
    keys, overlaps = tasks.key[rows].tolist(), tasks.columns["overlap"][rows].tolist()
    return [
        TaskRow(key, type_, subtype, overlap, state or None, reason if state else None, by if state else None)
        for key, overlap, type_, subtype, state, reason, by in zip(keys, overlaps, *words, strict=True)
    ]


def judgments_of(stage: Stage, tasks: StageTasks | None = None, annotator: int | None = None) -> Judgments:
    """Return every judgment of the stage, including checks, revisions and surplus ones, by item and time.

    With an annotator's id, return only theirs. `tasks` are the stage's, if already read.
    """
    tasks = tasks or stage_tasks(stage)
    of = "" if annotator is None else "AND lease.annotator_id = %(annotator)s"
    found = copy_columns(JUDGMENTS.format(of=of), JUDGMENT_COLUMNS, stage=stage.pk, annotator=annotator)
    answer = Coded.of_codes(*found["answer"])
    if any(label.startswith(EDIT_PREFIX) for label in answer.values):
        names = {identity: edit.name for identity, edit in edits_of([stage]).items()}
        answer = answer.renamed(lambda label: names.get(label, label))
    by_id = np.argsort(tasks.columns["id"])
    task = by_id[np.searchsorted(tasks.columns["id"], found["task"], sorter=by_id)]
    part = Coded.of_columns(tasks.word("type"), tasks.word("subtype"))
    columns = ("place", "places", "active_ms", "counted", "surplus", "withdrawn", "at")
    given = Judgments(
        tasks.key[task], tasks.word("kind")[task], tasks.columns["live"][task], part[task], found["slot"],
        found["annotator"], answer, *(found[name] for name in columns),
    )  # fmt: skip
    return given[np.lexsort((found["id"], found["slot"], found["at"], given.task.code))]
