"""An annotator's edit as an option for others to confirm: its name and its text.

Internally, an edit is named after its judgment's number, `edit-17`. That means nothing to readers and depends on what
else was judged and when. In exports it is named after its author: `edit-A-03-1-2` is the second revision of annotator
A-03's answer on their first screen of that task.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annotation.models import Stage
from annotation.protocols.base import AnswerContent
from annotation.protocols.decision_rule import EDIT_PREFIX, EDITED
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from annotation.wording import pseudonym

EDITS = """
SELECT id, number, screen, revision, coalesce(content->'texts', '{{}}') FROM (
  SELECT judgment.id, annotator.number, judgment.revision, judgment.answer, judgment.content,
         dense_rank() OVER (PARTITION BY lease.task_id, annotator.id ORDER BY lease.granted_at, lease.id) AS screen
  FROM annotation_task task JOIN annotation_slot slot ON slot.task_id = task.id
  JOIN annotation_lease lease ON lease.slot_id = slot.id
  JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
  JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
  WHERE {among}
) given WHERE answer = %(edited)s OR answer LIKE %(others)s ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class Edit:
    name: str
    texts: Mapping[str, str]  # by role


Edits = Mapping[str, Edit]  # by the name in the database


def edits_of(stages: Iterable[Stage], tasks: Collection[int] | None = None) -> Edits:
    """Return every edit that was or could have been an option for others in these stages. Makes at most one query.

    If `tasks` are given, only those are read.
    """
    confirming = [stage.pk for stage in stages if protocol_named(stage.protocol).confirms]
    asked = {"stages": confirming, "edited": EDITED, "others": f"{EDIT_PREFIX}%"}
    among = "task.stage_id = ANY(%(stages)s)"
    if tasks is not None:
        among, asked["tasks"] = f"{among} AND task.id = ANY(%(tasks)s)", list(tasks)
    rows = fetch(EDITS.format(among=among), **asked) if confirming else []
    return {f"{EDIT_PREFIX}{pk}": Edit(edit_name(*who), json.loads(texts)) for pk, *who, texts in rows}


def edit_name(annotator: int, screen: int, revision: int) -> str:
    return f"{EDIT_PREFIX}{pseudonym(annotator)}-{screen}-{revision}"


def name_of_edit(edits: Edits, identity: str | None) -> str | None:
    """Return the name of an answer or option in exports."""
    edit = edits.get(identity or "")
    return edit.name if edit else identity


def with_edit_names(edits: Edits, content: AnswerContent) -> AnswerContent:
    """Return an answer's content with edits named as in exports."""
    if "from" not in content:
        return content
    names = {role: edits[made_of].name if made_of in edits else made_of for role, made_of in content["from"].items()}
    return {**content, "from": names}
