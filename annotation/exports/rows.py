"""The content of each line of an export, read from the database: by stage, then in item order.

`columns` defines each column; its value comes from here. The statements have no `SELECT` or `WHERE`, because the API
reads the same lines by number (annotation/api/rows.py).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from annotation.exports.files import JUDGMENTS as COLUMNS
from annotation.exports.protocol_files import files_of
from annotation.exports.texts import CAPTIONS, shown_words, words_of
from annotation.figures.attributes import attributes_of
from annotation.figures.edit_names import Edits, name_of_edit, with_edit_names
from annotation.models import Kind, Stage, Study, Task
from annotation.pipeline import stage_rules
from annotation.protocols import in_data, schema
from annotation.protocols.decision_rule import DAWID_SKENE
from annotation.protocols.schema import ProtocolFile
from annotation.sql import copy_tables, of_each, stream
from annotation.wording import pseudonym


def _selected(expressions: Mapping[str, str], source: str) -> str:
    """Return a statement without its `SELECT` and `WHERE`."""
    return f"\n{', '.join(expressions.values())}\n{source}"


OF_JUDGMENT = {
    "stage": "stage.name",
    "item": "item.key",
    "question": "task.question",
    "round": "task.round",
    "position": "item.position",
    "kind": "task.kind",
    "live": "task.live",
    "type": "item.type",
    "subtype": "item.subtype",
    "annotator": "annotator.number",
    "excluded": "annotator.excluded_at IS NOT NULL",
    "slot": "slot.number",
    "screen": "dense_rank() OVER (PARTITION BY task.id, annotator.id ORDER BY lease.granted_at, lease.id)",
    "revision": "judgment.revision",
    "answer": "nullif(judgment.answer, '')",
    "content": "judgment.content",
    "place": "array_position(lease.shown, judgment.answer)",
    "shown": "lease.shown",
    "created_at": "judgment.created_at",
    "active_ms": "judgment.active_ms",
    "elapsed_ms": "judgment.elapsed_ms",
    "counted": "coalesce(slot.judgment_id = judgment.id, false)",
    "withdrawn": "judgment.withdrawn",
    "surplus": "judgment.surplus",
    "corrected": "task.corrected_id IS NOT NULL",
    "instructions_version": "instructions.version",
    "language": "judgment.language",
    "imported": "(SELECT sha256 FROM annotation_ratingsfile file WHERE file.id = judgment.imported_id)",
    "imported_row": "judgment.imported_row",
    "reason": "judgment.reason",
    "flags": """CASE WHEN EXISTS (SELECT FROM annotation_flag flag WHERE flag.lease_id = lease.id)  -- which few have
         THEN ARRAY(SELECT flag.reason FROM annotation_flag flag WHERE flag.lease_id = lease.id ORDER BY flag.id)
         ELSE '{}' END""",
}
JUDGMENTS = _selected(
    OF_JUDGMENT,
    """FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_instructions instructions ON instructions.id = judgment.instructions_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN benchmarks_item item ON item.id = task.item_id
""",
)
_COPIED = pa.schema([COLUMNS.field(name) for name in OF_JUDGMENT])
_COPIED = _COPIED.set(_COPIED.get_field_index("annotator"), pa.field("annotator", pa.int32()))  # by number

OF_TASK = {
    "stage": "stage.name",
    "item": "item.key",
    "position": "item.position",
    "type": "item.type",
    "subtype": "item.subtype",
    "question": "task.question",
    "round": "task.round",
    "kind": "task.kind",
    "live": "task.live",
    "overlap": "task.overlap",
    "shared": "task.shared",
    "batch": "task.batch",
    "shows": "task.shows",
    "options": "task.options",
    "proposals": "task.proposals",
    "texts": CAPTIONS,
    "carried": "task.carried",
    "gold": "task.gold",
    "own": "item.benchmark_id = study.benchmark_id",
    "state": "outcome.state",
    "outcome": "outcome.outcome",
    "content": "outcome.content",
    "reason": "outcome.reason",
    "decided_by": "outcome.by",
    "posterior": "outcome.posterior",
    "score": "task.score",
    "corrected": "task.corrected_id",
}
TASKS = _selected(
    OF_TASK,
    """FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN annotation_study study ON study.id = stage.study_id JOIN benchmarks_item item ON item.id = task.item_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
""",
)

OF_ADJUDICATION = {
    "stage": "stage.name",
    "item": "item.key",
    "question": "task.question",
    "round": "task.round",
    "state": "outcome.state",
    "outcome": "nullif(outcome.outcome, '')",
    "content": "outcome.content",
    "reason": "nullif(outcome.reason, '')",
    "note": "outcome.note",
}
ADJUDICATIONS = _selected(
    OF_ADJUDICATION,
    """FROM annotation_outcome outcome JOIN annotation_task task ON task.id = outcome.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id JOIN benchmarks_item item ON item.id = task.item_id
""",
)

OF_CORRECTION = {
    "number": "correction.id",
    "item": "item.key",
    "action": "correction.action",
    "place": "correction.place",
    "old": "CASE WHEN NOT item.withdrawn THEN correction.old END",
    "new": "CASE WHEN NOT item.withdrawn THEN correction.new END",
    "reason": "correction.reason",
    "at": "correction.at",
}
CORRECTIONS = _selected(
    OF_CORRECTION, "FROM benchmarks_correction correction JOIN benchmarks_item item ON item.id = correction.item_id\n"
)
OF_MATERIAL = """WHERE item.benchmark_id = %(benchmark)s OR EXISTS (
  SELECT FROM annotation_task task WHERE task.item_id = item.id AND task.stage_id = ANY(%(stages)s))
ORDER BY correction.id"""

OF_FLAG = {
    "stage": "stage.name",
    "item": "item.key",
    "question": "task.question",
    "round": "task.round",
    "annotator": "annotator.number",
    "reason": "flag.reason",
    "settled": "flag.settled_at IS NOT NULL",
}
FLAGS = _selected(
    OF_FLAG,
    """FROM annotation_flag flag
JOIN annotation_lease lease ON lease.id = flag.lease_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = lease.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN benchmarks_item item ON item.id = task.item_id
""",
)

OF_ANNOTATOR = {
    "annotator": "annotator.number",
    "simulated": "annotator.simulated",
    "imported": "annotator.imported",
    "excluded": "annotator.excluded_at IS NOT NULL",
    "exclusion_reason": "annotator.exclusion_reason",
    "left": "annotator.left_at IS NOT NULL",
    "stages": """coalesce(jsonb_agg(jsonb_build_object(
         'stage', stage.name, 'batch', seat.batch, 'place', seat.place,
         'screened_out', seat.screened_out_at IS NOT NULL,
         'skipped', (SELECT count(*) FROM annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id
                     WHERE lease.annotator_id = annotator.id AND task.stage_id = stage.id AND lease.state = 'skipped'))
         ORDER BY stage.position) FILTER (WHERE seat.id IS NOT NULL), '[]')""",
}
ANNOTATORS = _selected(
    OF_ANNOTATOR,
    """FROM annotation_annotator annotator
LEFT JOIN (annotation_seat seat JOIN annotation_stage stage ON stage.id = seat.stage_id)
  ON seat.annotator_id = annotator.id
""",
)
Stages = Sequence[Stage]
Files = Mapping[str, ProtocolFile]  # by the stage's name

OF_STAGES = "WHERE stage.id = ANY(%(stages)s)"
BY_TASK = "ORDER BY stage.position, item.position, item.key, task.question, task.round"


def _of_stages(statement: str, stages: Stages) -> Iterator[tuple]:
    return stream(f"SELECT {statement}", stages=[stage.pk for stage in stages])


def judgments(stages: Stages, edits: Edits) -> Iterator[pa.Table]:
    """Yield the same as `judgment_line`, as columns for batches of rows; objects are JSON."""
    files = files_of(stages)
    order = "task.kind, slot.number, annotator.number, lease.granted_at, lease.id, judgment.revision"
    statement = f"SELECT {JUDGMENTS} {OF_STAGES} {BY_TASK}, {order}"
    for found in copy_tables(statement, _COPIED, stages=[stage.pk for stage in stages]):
        columns = dict(zip(found.column_names, found.columns, strict=True))
        columns["answers"] = pa.nulls(len(found), pa.string())
        if files:
            given = zip(*(columns[name].to_pylist() for name in ("stage", "answer", "content")), strict=True)
            columns["answers"] = pa.array([_answers(files.get(stage), *said) for stage, *said in given], pa.string())
        contents = columns["content"]
        columns["annotator"] = of_each(pseudonym, columns["annotator"])
        columns["content"] = of_each(lambda text: _as_json(with_edit_names(edits, json.loads(text))), contents)
        if edits:
            columns["answer"] = of_each(lambda answer: name_of_edit(edits, answer), columns["answer"])
            shown = [[name_of_edit(edits, option) for option in options] for options in columns["shown"].to_pylist()]
            columns["shown"] = pa.array(shown, COLUMNS.field("shown").type)
        yield pa.table({name: columns[name] for name in COLUMNS.names})


def _answers(file: ProtocolFile | None, label: str | None, content: str) -> str | None:
    return _as_json(in_data.answers_of(file, label, json.loads(content))) if file else None


def _as_json(value: Mapping | None) -> str | None:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None


def judgment_line(row: Sequence[Any], edits: Edits, files: Files) -> dict:
    """Return a line; `content` and `answers` are still objects, None if there are none."""
    found = dict(zip(OF_JUDGMENT, row, strict=True))
    file, content = files.get(found["stage"]), _from_json(found["content"])
    return {
        **found,
        "answers": file and in_data.answers_of(file, found["answer"], content),
        "annotator": pseudonym(found["annotator"]),
        "answer": name_of_edit(edits, found["answer"]),
        "content": with_edit_names(edits, content) or None,
        "shown": [name_of_edit(edits, option) for option in found["shown"]],
    }


def tasks(stages: Stages, edits: Edits, still_open: Mapping[int, dict]) -> Iterator[dict]:
    """Yield every task, of every kind, with its outcome; `still_open` has the data of items without a line, by
    position.
    """
    files = files_of(stages)
    rules = {stage.name: _rules(stage, files[stage.name]) for stage in stages if stage.name in files}
    for row in _of_stages(f"{TASKS} {OF_STAGES} {BY_TASK}, task.kind", stages):
        line = task_line(row, edits, files)
        of_task = line["position"], line["question"], line["round"]
        is_live = line["kind"] == Kind.JUDGE and line["live"] and line["stage"] in files
        line["rules"] = rules[line["stage"]].get(of_task, []) if is_live else None
        said = still_open.get(line["position"]) if is_live and line["own"] else None
        yield line | ({"of_item": said} if said else {})


def _rules(stage: Stage, file: ProtocolFile) -> dict[tuple[int, str, int], list[dict]]:
    """Return each rule's decisions by position, question and round of the live tasks."""
    given = stage_rules.counted_answers(stage)
    estimated = next((one.answer for one in file.decide if isinstance(one, schema.DawidSkene)), "")
    posteriors = stage_rules.fit(stage, given).posteriors if stage.rule == DAWID_SKENE else {}
    attributes = attributes_of(stage)
    columns = "pk", "item__position", "question", "round", "overlap"
    found = {}
    for pk, position, question, round, overlap in Task.objects.filter(pk__in=given).values_list(*columns):
        labels = [answer.label for *_, answer in given[pk]]
        of_answer = {estimated: posteriors[pk]} if pk in posteriors else {}
        found[position, question, round] = in_data.rules_of(
            file, labels, overlap, of_answer, attributes.get(position, {})
        )
    return found


def task_line(row: Sequence, edits: Edits, files: Files) -> dict:
    found = dict(zip(OF_TASK, row, strict=True))
    if found["score"] is None:  # only an audit with side information has a score
        del found["score"]
    file = files.get(found["stage"])
    words = words_of(_from_json(found["texts"]), carried := _from_json(found["carried"]))
    return {
        **found,
        "names": file and in_data.names_of(file, found["shows"], found["options"]),
        "proposals": [name_of_edit(edits, proposal) for proposal in found["proposals"]],
        "texts": shown_words([*found["shows"], *found["options"]], words),
        "carried": carried,
        **_outcome(edits, found),
    }


def _outcome(edits: Edits, found: Mapping[str, Any]) -> dict:
    """Return an outcome as exported; empty while the task is open."""
    content = None if found["content"] is None else with_edit_names(edits, _from_json(found["content"]))
    return {"outcome": name_of_edit(edits, found["outcome"]), "content": content}


def adjudications(stages: Stages, edits: Edits) -> Iterator[dict]:
    for row in _of_stages(f"{ADJUDICATIONS} {OF_STAGES} AND outcome.by = 'adjudicator' {BY_TASK}", stages):
        yield adjudication_line(row, edits)


def adjudication_line(row: Sequence, edits: Edits) -> dict:
    """Return an adjudicator's decision and reason; who decided is never exported."""
    found = dict(zip(OF_ADJUDICATION, row, strict=True))
    return found | _outcome(edits, found) | {"by": "adjudicator"}


def corrections(study: Study, stages: Stages) -> Iterator[dict]:
    """Yield corrections of items in the study's benchmark, and of its checks."""
    places = [stage.pk for stage in stages]
    for row in stream(f"SELECT {CORRECTIONS} {OF_MATERIAL}", benchmark=study.benchmark_id, stages=places):
        yield correction_line(row)


def correction_line(row: Sequence) -> dict:
    """Return a line; who made the correction is never exported."""
    found = dict(zip(OF_CORRECTION, row, strict=True))
    return found | {"at": found["at"].isoformat()}


def flags(stages: Stages) -> Iterator[dict]:
    for row in _of_stages(f"{FLAGS} {OF_STAGES} {BY_TASK}, annotator.number, flag.id", stages):
        yield flag_line(row)


def flag_line(row: Sequence) -> dict:
    found = dict(zip(OF_FLAG, row, strict=True))
    return found | {"annotator": pseudonym(found["annotator"])}


def annotators(study: Study, stages: Stages) -> Iterator[dict]:
    """Yield everybody who joined the study, with the stages they were in."""
    of_study, names = "WHERE annotator.study_id = %(study)s", {stage.name for stage in stages}
    statement = f"SELECT {ANNOTATORS} {of_study} GROUP BY annotator.id ORDER BY annotator.number"
    for row in stream(statement, study=study.pk):
        line = annotator_line(row)
        yield line | {"stages": [one for one in line["stages"] if one["stage"] in names]}


def annotator_line(row: Sequence) -> dict:
    """Return an annotator, identified only by number, with the stages they were in."""
    found = dict(zip(OF_ANNOTATOR, row, strict=True))
    return found | {"annotator": pseudonym(found["annotator"]), "stages": _from_json(found["stages"])}


def _from_json(value: Any) -> Any:
    """Decode JSON, which arrives as text because the ORM does not decode it here."""
    return json.loads(value) if isinstance(value, str) else value
