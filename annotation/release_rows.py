"""What stands in each line of an export, read from the database: by stage, then in the items' order."""

import json
from collections.abc import Iterator, Mapping

from django.db import connection

from annotation.edits import Edits, named, told
from annotation.models import Study
from annotation.pseudonyms import pseudonym
from annotation.release_files import JUDGMENTS as COLUMNS
from annotation.release_texts import CAPTIONS, shown_words, words_of

JUDGMENTS = """
SELECT stage.name, item.key, item.position, task.question, task.round, task.kind, task.live, item.type, item.subtype,
       annotator.number, annotator.excluded_at IS NOT NULL, slot.number,
       dense_rank() OVER (PARTITION BY task.id, annotator.id ORDER BY lease.granted_at, lease.id), judgment.revision,
       nullif(judgment.answer, ''), judgment.content, array_position(lease.shown, judgment.answer), lease.shown,
       judgment.created_at, judgment.active_ms, judgment.elapsed_ms,
       coalesce(slot.judgment_id = judgment.id, false), judgment.withdrawn, judgment.surplus,
       instructions.version, judgment.reason,
       ARRAY(SELECT flag.reason FROM annotation_flag flag WHERE flag.lease_id = lease.id ORDER BY flag.id)
FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_instructions instructions ON instructions.id = judgment.instructions_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE stage.study_id = %(study)s
ORDER BY stage.position, item.position, item.key, task.question, task.round, task.kind, slot.number, annotator.number,
         lease.granted_at, lease.id, judgment.revision
"""

TASKS = f"""
SELECT stage.name, item.key, item.position, item.type, item.subtype, task.question, task.round, task.kind, task.live,
       task.overlap, task.shared, task.batch, task.shows, task.options, task.proposals, {CAPTIONS},
       task.carried, task.gold, item.benchmark_id = study.benchmark_id,
       outcome.state, outcome.outcome, outcome.content, outcome.reason, outcome.by
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN annotation_study study ON study.id = stage.study_id JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE stage.study_id = %(study)s
ORDER BY stage.position, item.position, item.key, task.question, task.round, task.kind
"""
OF_TASK = (
    "stage", "item", "position", "type", "subtype", "question", "round", "kind", "live", "overlap", "shared", "batch",
    "shows", "options", "proposals", "texts", "carried", "gold", "own", "state", "outcome", "content", "reason",
    "decided_by",
)  # fmt: skip

ADJUDICATIONS = """
SELECT stage.name, item.key, task.question, task.round, outcome.state, nullif(outcome.outcome, ''),
       outcome.content, nullif(outcome.reason, ''), outcome.note
FROM annotation_outcome outcome JOIN annotation_task task ON task.id = outcome.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id JOIN benchmarks_item item ON item.id = task.item_id
WHERE stage.study_id = %(study)s AND outcome.by = 'adjudicator'
ORDER BY stage.position, item.position, item.key, task.question, task.round
"""
OF_ADJUDICATION = ("stage", "item", "question", "round", "state", "outcome", "content", "reason", "note")

FLAGS = """
SELECT stage.name, item.key, task.question, task.round, annotator.number, flag.reason, flag.settled_at IS NOT NULL
FROM annotation_flag flag
JOIN annotation_lease lease ON lease.id = flag.lease_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = lease.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE stage.study_id = %(study)s
ORDER BY stage.position, item.position, item.key, task.question, task.round, annotator.number, flag.id
"""
OF_FLAG = ("stage", "item", "question", "round", "annotator", "reason", "settled")

ANNOTATORS = """
SELECT annotator.number, annotator.simulated, annotator.excluded_at IS NOT NULL, annotator.exclusion_reason,
       annotator.left_at IS NOT NULL,
       coalesce(jsonb_agg(jsonb_build_object(
         'stage', stage.name, 'batch', seat.batch, 'place', seat.place,
         'screened_out', seat.screened_out_at IS NOT NULL,
         'skipped', (SELECT count(*) FROM annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id
                     WHERE lease.annotator_id = annotator.id AND task.stage_id = stage.id AND lease.state = 'skipped'))
         ORDER BY stage.position) FILTER (WHERE seat.id IS NOT NULL), '[]')
FROM annotation_annotator annotator
LEFT JOIN (annotation_seat seat JOIN annotation_stage stage ON stage.id = seat.stage_id)
  ON seat.annotator_id = annotator.id
WHERE annotator.study_id = %(study)s GROUP BY annotator.id ORDER BY annotator.number
"""
OF_ANNOTATOR = ("annotator", "simulated", "excluded", "exclusion_reason", "left", "stages")


def _rows(statement: str, study: Study) -> Iterator[tuple]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, {"study": study.pk})
        yield from cursor


def judgments(study: Study, edits: Edits) -> Iterator[dict]:
    for row in _rows(JUDGMENTS, study):
        found = dict(zip(COLUMNS.names, row, strict=True))
        content = told(edits, _read(found["content"]))
        yield found | {
            "annotator": pseudonym(found["annotator"]),
            "answer": named(edits, found["answer"]),
            "content": json.dumps(content, ensure_ascii=False, sort_keys=True) if content else None,
            "shown": [named(edits, option) for option in found["shown"]],
        }


def tasks(study: Study, edits: Edits) -> Iterator[dict]:
    """Everything that was asked, of whatever kind, with what came of it."""
    for row in _rows(TASKS, study):
        found = dict(zip(OF_TASK, row, strict=True))
        words = words_of(_read(found["texts"]), carried := _read(found["carried"]))
        yield {
            **found,
            "proposals": [named(edits, proposal) for proposal in found["proposals"]],
            "texts": shown_words([*found["shows"], *found["options"]], words),
            "carried": carried,
            **_came(edits, found),
        }


def _came(edits: Edits, found: Mapping[str, object]) -> dict:
    """An outcome as it is told outside; none where the task is open."""
    content = None if found["content"] is None else told(edits, _read(found["content"]))
    return {"outcome": named(edits, found["outcome"]), "content": content}


def adjudications(study: Study, edits: Edits) -> Iterator[dict]:
    """What an adjudicator decided and why; who it was stays in the house."""
    for row in _rows(ADJUDICATIONS, study):
        found = dict(zip(OF_ADJUDICATION, row, strict=True))
        yield found | _came(edits, found) | {"by": "adjudicator"}


def flags(study: Study) -> Iterator[dict]:
    for row in _rows(FLAGS, study):
        found = dict(zip(OF_FLAG, row, strict=True))
        yield found | {"annotator": pseudonym(found["annotator"])}


def annotators(study: Study) -> Iterator[dict]:
    """By number alone, with the stages that they were in."""
    for row in _rows(ANNOTATORS, study):
        found = dict(zip(OF_ANNOTATOR, row, strict=True))
        yield found | {"annotator": pseudonym(found["annotator"]), "stages": _read(found["stages"])}


def _read(value: str | dict | list) -> dict | list:
    """JSON arrives as text where the ORM does not ask for it."""
    return json.loads(value) if isinstance(value, str) else value
