"""The audit trail's one verb. Every write that is not itself append-only calls it inside its transaction."""

from django.db.models import Model

from benchmarks.models import Event


def named(thing: Model) -> str:
    """`study:4`: a row's name in events and `by=`."""
    return f"{thing._meta.model_name}:{thing.pk}"


def record(*, by: str, verb: str, subject: Model, **data: object) -> Event:
    return Event.objects.create(by=by, verb=verb, subject=named(subject), data=data)
