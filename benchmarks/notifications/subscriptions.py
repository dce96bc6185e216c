"""A user's choice of messages."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks import audit
from benchmarks.models import Notification, Subscription
from benchmarks.notifications.kinds import KINDS


def chosen(user: User) -> list[str]:
    return list(Subscription.objects.filter(user=user).values_list("kind", flat=True))


@transaction.atomic
def choose(*, user: User, kinds: Collection[str], by: str) -> None:
    """Store the choice. Existing news is treated as sent, so messages of a new kind start with later events."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    before = set(chosen(user))
    if before == set(kinds):
        return
    Subscription.objects.filter(user=user).exclude(kind__in=kinds).delete()
    for kind in (one for one in KINDS.values() if one.name in kinds and one.name not in before):
        subscription = Subscription.objects.create(user=user, kind=kind.name)
        subscription.refresh_from_db()
        abouts = [message.about for message in kind.find(user, subscription.since, ())]
        Notification.objects.bulk_create(
            (Notification(user=user, kind=kind.name, about=about, sent=True) for about in abouts), ignore_conflicts=True
        )
    audit.record(by=by, verb="chose notifications", subject=user, kinds=sorted(kinds))
