"""A stage's statistics as in its paper, from the database: two queries, and one more if annotators edit."""

import json
from collections import defaultdict
from collections.abc import Callable
from functools import cache

from annotation.measures.papers.base import CountedJudgment, JudgedTask
from annotation.measures.papers.registry import FIGURES
from annotation.models import Stage
from annotation.pipeline.stage_rules import rule_of
from annotation.protocols.base import Answer, carried_captions
from annotation.protocols.decision_rule import EDIT_PREFIX, EDITED, is_edit
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch

TASKS = """
SELECT task.id, task.item_id, task.carried, item.meta->'origins', item.type, item.subtype, task.overlap,
       outcome.state, outcome.outcome, outcome.reason, outcome.by, outcome.content
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
ORDER BY item.position, task.question, task.round
"""

# Counted judgments, and every edit ever made: someone may have edited a withdrawn one further. A sentence's original
# matters only for edits; reading all originals would take long.
ANSWERS = """
SELECT slot.task_id, judgment.id, annotator.number, judgment.answer,
       CASE WHEN judgment.answer = %(edited)s THEN judgment.content ELSE judgment.content - 'from' END,
       slot.judgment_id = judgment.id
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
WHERE slot.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
  AND (slot.judgment_id = judgment.id OR judgment.answer LIKE 'edit%%')
ORDER BY slot.task_id, judgment.created_at, judgment.id
"""

TEXTS = """
SELECT written.item_id, 'caption-' || written.role || '-' || written.position, written.text
FROM benchmarks_caption written JOIN benchmarks_item item ON item.id = written.item_id
WHERE item.benchmark_id = %(benchmark)s
"""

Words = dict[str, str]  # by identity
EMPTY = "{}"
NOTHING: Words = {}


def paper(stage: Stage) -> dict:
    """Return the paper's statistics under `paper`, as JSON; nothing for a stage whose paper reports nothing extra."""
    figures, protocol = FIGURES.get(stage.protocol), protocol_named(stage.protocol)
    if figures is None:
        return {}
    texts = texts_of(stage) if protocol.edits else {}
    return {"paper": figures(judged_tasks(stage, texts), rule_of(stage))}


def judged_tasks(stage: Stage, texts: dict[int, Words]) -> list[JudgedTask]:
    """Return the stage's live tasks in item order; `texts` has the captions by item."""
    read = cache(json.loads)  # parse equal texts once: an outcome's content often equals its judgment's
    said, edits = _answers(stage, read)
    found = []
    for task, item, carried, origins, kind, subtype, overlap, *outcome in fetch(TASKS, stage=stage.pk):
        state, label, reason, by, content = outcome
        words = texts.get(item, NOTHING)
        if carried != EMPTY:
            words = words | carried_captions(read(carried))
        found.append(
            JudgedTask(
                kind, subtype, overlap, said[task], state, label or "", reason or "", by or "",
                read(content or EMPTY), words, edits.get(task, {}), read(origins or "[]"),
            )
        )  # fmt: skip
    return found


def _answers(stage: Stage, read: Callable) -> tuple[dict[int, list[CountedJudgment]], dict[int, dict[str, Words]]]:
    """Return each task's counted judgments in order, and the text of every edit by identity and role."""
    said: dict[int, list[CountedJudgment]] = defaultdict(list)
    edits: dict[int, dict[str, Words]] = defaultdict(dict)
    for task, judgment, annotator, label, content, counts in fetch(ANSWERS, stage=stage.pk, edited=EDITED):
        answer = Answer(label, read(content))
        if is_edit(label):
            edits[task][f"{EDIT_PREFIX}{judgment}"] = dict(answer.texts)
        if counts:
            said[task].append(CountedJudgment(annotator, answer))
    return said, edits


def texts_of(stage: Stage) -> dict[int, Words]:
    """Return every caption of the benchmark, by item."""
    found: dict[int, Words] = defaultdict(dict)
    for item, identity, words in fetch(TEXTS, benchmark=stage.study.benchmark_id):
        found[item][identity] = words
    return found
