"""What happened in a study lately, in words: from its audit trail."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model
from django.db.models import Q

from annotation.models import Stage, Study
from annotation.wording import pseudonym
from benchmarks import audit
from benchmarks.models import Event

SHOWN = 8
LOOKED_AT = 200  # newest events of the study's parts


@dataclass(frozen=True)
class Happened:
    at: datetime
    words: str


def events(study: Study) -> list[Happened]:
    """The newest first: who joined, left or was excluded, what was closed, opened, released or changed."""
    stages = {audit.named(stage): stage for stage in Stage.objects.filter(study=study)}
    people = {f"annotator:{pk}": number for pk, number in study.annotators.values_list("pk", "number")}
    about = Q(subject__in=[audit.named(study), *stages]) | Q(data__study=study.pk)
    found = [event for event in Event.objects.filter(about).order_by("-pk")[:LOOKED_AT] if event.verb in WORDS]
    users = _users(found)
    return [
        Happened(event.at, WORDS[event.verb].format(
            who=_who(event, people), by=users.get(event.by, event.by), stage=_stage(stages.get(event.subject)),
            state=event.data.get("to", ""),
        ))
        for event in found[:SHOWN]
    ]  # fmt: skip


WORDS: Mapping[str, str] = {
    "joined": "{who} joined",
    "left": "{who} left",
    "came back": "{who} came back",
    "excluded": "{by} excluded {who}",
    "reinstated": "{by} reinstated {who}",
    "kept": "{by} looked at {who} and kept them",
    "screened out": "{who} was screened out",
    "moved": "{by} moved {stage} to {state}",
    "revised instructions": "{by} changed the instructions of {stage}",
    "froze": "{by} froze a release",
    "exported": "{by} made an export",
    "estimated": "An estimate decided items of {stage}",
    "created": "{by} created the study",
}


def _users(found: list[Event]) -> dict[str, str]:
    wanted = {event.by for event in found if event.by.startswith("user:")}
    pks = [int(name.partition(":")[2]) for name in wanted]
    return {audit.named(user): user.get_username() for user in get_user_model().objects.filter(pk__in=pks)}


def _who(event: Event, people: Mapping[str, int]) -> str:
    number = people.get(event.subject) or people.get(event.by)
    return pseudonym(number) if number else "an annotator"


def _stage(stage: Stage | None) -> str:
    return f"stage {stage.position}" if stage else "the study"
