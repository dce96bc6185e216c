"""Describe what happened in a study lately, from its audit trail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.contrib.auth import get_user_model

from annotation.models import Study
from annotation.sql import fetch
from annotation.wording import counted, pseudonym
from benchmarks import audit
from benchmarks.models import Event

SHOWN = 8
LOOKED_AT = 200  # newest events about the study's parts
PARTS = """
SELECT name, number, (SELECT max(id) FROM benchmarks_event WHERE subject = name) FROM (
SELECT 'study:' || %(study)s, 0 UNION ALL
SELECT 'stage:' || id, position FROM annotation_stage WHERE study_id = %(study)s UNION ALL
SELECT 'annotator:' || id, number FROM annotation_annotator WHERE study_id = %(study)s UNION ALL
SELECT 'release:' || id, 0 FROM annotation_release WHERE study_id = %(study)s UNION ALL
(SELECT 'task:' || task.id, stage.position
 FROM annotation_outcome outcome JOIN annotation_task task ON task.id = outcome.task_id
 JOIN annotation_stage stage ON stage.id = task.stage_id
 WHERE stage.study_id = %(study)s AND outcome.by = 'adjudicator' ORDER BY outcome.decided_at DESC LIMIT %(most)s)
UNION ALL
(SELECT 'task:' || task.id, stage.position
 FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
 JOIN annotation_task task ON task.id = lease.task_id JOIN annotation_stage stage ON stage.id = task.stage_id
 WHERE stage.study_id = %(study)s ORDER BY flag.id DESC LIMIT %(most)s)
) part(name, number)
"""


@dataclass(frozen=True)
class Parts:
    """The study's parts by their names in the audit trail, with their `numbers`, and the key of the `newest` event."""

    numbers: Mapping[str, int]
    newest: int


@dataclass(frozen=True)
class Happened:
    at: datetime
    words: str


def events(parts: Parts) -> list[Happened]:
    """The newest first: who joined, left or was excluded, what was closed, opened, released or changed. What happened
    several times in a row, such as joining, is one line with its newest time.
    """
    about = Event.objects.filter(subject__in=parts.numbers)  # by an index of subjects
    told = about.filter(verb__in=WORDS).exclude(verb="exported", by="worker")  # of a release
    shown = list(told.order_by("-at", "-pk")[:LOOKED_AT])
    users = _users(shown)
    rows = [
        Happened(same[0].at, WORDS[verb].format(
            who=_who([_number(event, parts.numbers) for event in same]), by=users.get(by) or OTHERS.get(by, by),
            stage=f"stage {parts.numbers[subject]}" if subject.startswith("stage:") else "the study",
            items=counted(len({event.subject for event in same}), "item"),
        ))
        for (verb, by, subject), same in (
            (key, list(group)) for key, group in groupby(shown, key=_alike)
        )
    ]  # fmt: skip
    return rows[:SHOWN]


def parts_of(study: Study) -> Parts:
    """The study itself, its stages and annotators with their numbers, its releases, and the tasks last decided by hand
    or flagged, with their stages' numbers.
    """
    rows = fetch(PARTS, study=study.pk, most=LOOKED_AT)
    return Parts({name: number for name, number, _ in rows}, max(newest or 0 for *_, newest in rows))


def _alike(event: Event) -> tuple[str, str, str]:
    """Return a key; events with the same key are one line, whichever annotator they are about."""
    by = "" if event.by.startswith("annotator:") else event.by
    about = event.subject if event.subject.startswith(("stage:", "study:")) else ""
    return event.verb, by if "{by}" in WORDS[event.verb] else "", about


OTHERS = {"app": "Winnow", "worker": "Winnow", "command": "An operator", "api": "The API"}  # a name that isn't a user's
WORDS: Mapping[str, str] = {
    "joined": "{who} joined",
    "left": "{who} left the study",
    "came back": "{who} came back",
    "excluded": "{by} excluded {who}",
    "reinstated": "{by} reinstated {who}",
    "kept": "{by} looked at {who} and kept them",
    "screened out": "{who} was screened out",
    "moved to open": "{by} opened {stage}",
    "moved to paused": "{by} paused {stage}",
    "moved to closed": "{by} closed {stage}",
    "reopened": "{by} opened {stage} again",
    "flagged": "{who} flagged {items}",
    "adjudicated": "{by} decided {items} by hand",
    "set check": "{by} picked checks for {stage}",
    "set practice": "{by} picked practice for {stage}",
    "removed known items": "{by} removed checks or practice from {stage}",
    "revised screening": "{by} changed the checks of {stage}",
    "revised instructions": "{by} changed the instructions of {stage}",
    "changed a setting": "{by} changed the settings of {stage}",
    "froze": "{by} froze a release",
    "exported": "{by} made an export",
    "estimated": "An estimate decided items of {stage}",
    "shared results": "{by} turned on the shared results page",
    "stopped sharing results": "{by} turned off the shared results page",
    "created": "{by} created the study",
}


def _users(found: list[Event]) -> dict[str, str]:
    wanted = {event.by for event in found if event.by.startswith("user:")}
    pks = [int(name.partition(":")[2]) for name in wanted]
    return {audit.named(user): user.get_username() for user in get_user_model().objects.filter(pk__in=pks)}


def _number(event: Event, parts: Mapping[str, int]) -> int | None:
    """Return the number of the annotator whom the event is about."""
    names = (event.subject, event.by, f"annotator:{event.data.get('annotator')}")
    return parts.get(next(name for name in names if name.startswith("annotator:")))


def _who(numbers: Sequence[int | None]) -> str:
    known = sorted({number for number in numbers if number})
    if len(known) == 1:
        return pseudonym(known[0])
    return counted(len(known) or len(numbers), "annotator")
