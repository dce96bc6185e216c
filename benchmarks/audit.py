"""Write to the audit trail. Every write that is not itself append-only does so in its transaction."""

from collections.abc import Callable

from django.db.models import Model

from benchmarks.models import Event

Follower = Callable[[Event, Model], None]
_FOLLOWERS: list[Follower] = []


def followed_by(follower: Follower) -> None:
    """Call `follower(event, subject)` with each event, in the event's transaction."""
    if follower not in _FOLLOWERS:
        _FOLLOWERS.append(follower)


def named(thing: Model) -> str:
    """Return a row's name in events and `by=`, such as `study:4`."""
    return f"{thing._meta.model_name}:{thing.pk}"


def record(*, by: str, verb: str, subject: Model, **data: object) -> Event:
    event = Event.objects.create(by=by, verb=verb, subject=named(subject), data=data)
    for follow in _FOLLOWERS:
        follow(event, subject)
    return event
