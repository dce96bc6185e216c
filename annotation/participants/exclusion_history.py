"""What managers decided about annotators, and why: read from the events of those decisions."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model

from annotation.models import Annotator
from annotation.participants.lifecycle import EXCLUDED, KEPT, REINSTATED
from benchmarks import audit
from benchmarks.models import Event


@dataclass(frozen=True, slots=True)
class Decision:
    verb: str  # kept, excluded or reinstated
    reason: str
    by: str  # a user's name, otherwise the process that did it
    at: datetime


def decisions(people: Iterable[Annotator]) -> dict[int, list[Decision]]:
    """Decisions by annotator number, newest first. Two queries for any number of people."""
    names = {audit.named(one): one.number for one in people}
    events = list(Event.objects.filter(subject__in=names, verb__in=(KEPT, EXCLUDED, REINSTATED)).order_by("-pk"))
    parts = [event.by.partition(":") for event in events]
    wanted = {int(pk) for kind, _, pk in parts if kind == "user" and pk.isdecimal()}
    users = {audit.named(user): user.get_username() for user in get_user_model().objects.filter(pk__in=wanted)}
    found: dict[int, list[Decision]] = defaultdict(list)
    for event in events:
        by = users.get(event.by, event.by)
        found[names[event.subject]].append(Decision(event.verb, event.data.get("reason", ""), by, event.at))
    return found
