"""Texts that people wrote, a line per revision with its source text, and the texts behind identities."""

import json
from collections.abc import Iterable, Iterator, Mapping

from annotation.exports.protocol_files import files_of
from annotation.figures.edit_names import Edits, name_of_edit
from annotation.models import Stage
from annotation.protocols import in_data
from annotation.protocols.base import CAPTION_PREFIX, Carried, caption_identity, carried_captions
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from annotation.wording import pseudonym

# The captions of `item` by identity, as `task` shows them, even if they have been corrected since. None
# for an item that was withdrawn.
CAPTIONS = """(CASE WHEN item.withdrawn THEN '{}' ELSE
        (SELECT coalesce(jsonb_object_agg('caption-' || role || '-' || position, text), '{}')
         FROM benchmarks_caption WHERE item_id = item.id) END
        || CASE WHEN item.withdrawn OR task.corrected_id IS NULL THEN '{}' ELSE
        (SELECT coalesce(jsonb_object_agg(place, old), '{}') FROM (
           SELECT DISTINCT ON (place) place, old FROM benchmarks_correction
           WHERE item_id = item.id AND id >= task.corrected_id AND action = 'caption' ORDER BY place, id) was) END)"""

# Judgments and adjudications that carry texts, in one order. `back`: the next revision withdraws the answer.
TEXTS = f"""
WITH given AS (
  SELECT judgment.id, lease.task_id, annotator.number AS annotator, judgment.revision, judgment.content,
         dense_rank() OVER (PARTITION BY lease.task_id, annotator.id ORDER BY lease.granted_at, lease.id) AS screen,
         coalesce(slot.judgment_id = judgment.id, false) AS counted, judgment.created_at,
         coalesce(lead(judgment.withdrawn) OVER (PARTITION BY lease.id ORDER BY judgment.revision), false) AS back
  FROM annotation_slot slot JOIN annotation_lease lease ON lease.slot_id = slot.id
  JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
  JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
  WHERE slot.stage_id = ANY(%(stages)s)
), written AS (
  SELECT id, task_id, annotator, screen, revision, counted, back, created_at, content FROM given
  UNION ALL
  SELECT NULL, task_id, NULL, NULL, NULL, true, false, decided_at, content FROM annotation_outcome
  WHERE by = 'adjudicator'
)
SELECT stage.name, item.key, item.position, task.question, task.round, task.kind, task.live, written.annotator,
       written.screen, written.revision, written.counted, written.back, written.created_at,
       written.id, written.content, task.carried, {CAPTIONS}
FROM written JOIN annotation_task task ON task.id = written.task_id
JOIN annotation_stage stage ON stage.id = task.stage_id JOIN benchmarks_item item ON item.id = task.item_id
WHERE stage.id = ANY(%(stages)s) AND written.content ? 'texts'
ORDER BY stage.position, item.position, item.key, task.question, task.round, task.kind, written.annotator,
         written.screen, written.revision
"""
OF_TEXT = (
    "stage", "item", "position", "question", "round", "kind", "live", "annotator", "screen", "revision",
    "counted", "withdrawn", "created_at",
)  # fmt: skip


def texts(stages: Iterable[Stage], edits: Edits) -> Iterator[dict]:
    """Yield texts of stages whose protocol lets people write or change words, including texts accepted unchanged.

    Under a protocol file, a text's role is the role its answer has in the next stage, else the answer's name.
    """
    stages = list(stages)
    files = files_of(stages)
    roles = {name: of_answer for name, file in files.items() if (of_answer := in_data.text_roles(file))}
    writing = [stage.pk for stage in stages if protocol_named(stage.protocol).edits or stage.name in roles]
    for row in fetch(TEXTS, stages=writing) if writing else []:
        judgment, *read = row[len(OF_TEXT) :]
        content, carried, captions = map(json.loads, read)
        edit = edits.get(f"{EDIT_PREFIX}{judgment}")
        found = dict(zip(OF_TEXT, row, strict=False))
        who = found["annotator"]  # adjudicators are never named
        found |= {
            "annotator": None if who is None else pseudonym(who),
            "created_at": found["created_at"].isoformat(),
            "by": "adjudicator" if who is None else "annotator",
            "edit": edit.name if edit else None,
        }
        words = words_of(captions, carried)
        if who is not None and found["stage"] in roles:
            file, of_answer = files[found["stage"]], roles[found["stage"]]
            for name, text in sorted(content["texts"].items()):
                made_of = in_data.edited_identity(file, name, words, found["question"]) or None
                before = words.get(made_of or "")
                yield {**found, "role": of_answer[name], "made_of": made_of, "before": before, "text": text}
            continue
        for role, text in sorted(content["texts"].items()):
            made_of = content.get("from", {}).get(role)
            before = (
                edits[made_of].texts.get(role) if made_of in edits else words.get(made_of or caption_identity(role))
            )
            yield {**found, "role": role, "made_of": name_of_edit(edits, made_of), "before": before, "text": text}


def words_of(captions: Mapping[str, str], carried: Carried) -> dict[str, str]:
    """Return an item's texts in a task by identity: its imported captions, or what earlier stages wrote instead."""
    return {**captions, **carried_captions(carried)}


def shown_words(identities: Iterable[str], words: Mapping[str, str]) -> dict[str, str]:
    return {
        identity: words[identity]
        for identity in identities
        if identity.startswith(CAPTION_PREFIX) and identity in words
    }
