"""Send pending messages. A message is marked as sent before the mail server gets it: it may be lost if the process dies
at that moment, but nobody gets it twice.
"""

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks import locks
from benchmarks.models import Notification, Subscription
from benchmarks.notifications.kinds import KINDS, Message, link, offered

TRIES = 5  # for a message that the mail server refuses
RETRY = timedelta(minutes=10)
log = logging.getLogger(__name__)


def send_all() -> int:
    """Send everything that is due, one process at a time; return how many messages."""
    if not offered():
        return 0
    with locks.alone("notifications") as mine:
        wanted = Subscription.objects.filter(user__is_active=True, user__is_staff=True, kind__in=KINDS)
        found = wanted.exclude(user__email="").select_related("user") if mine else ()
        return sum(_send_kind(subscription) for subscription in found)


def _send_kind(subscription: Subscription) -> int:
    user, kind = subscription.user, KINDS[subscription.kind]
    notified = set(
        Notification.objects.filter(Q(sent=True) | Q(tries__gte=TRIES), user=user, kind=kind.name).values_list(
            "about", flat=True
        )
    )
    try:
        messages = list(kind.find(user, subscription.since, notified))
    except Exception:  # one kind must not block the others
        log.exception("Could not look for messages of the kind %s", kind.name)
        return 0
    return sum(_send(user, kind.name, message) for message in messages if message.about not in notified)


def _send(user: User, kind: str, message: Message) -> bool:
    with transaction.atomic():
        row, new = Notification.objects.select_for_update().get_or_create(user=user, kind=kind, about=message.about)
        if row.sent or row.tries >= TRIES or (not new and row.tried_at <= timezone.now() < row.tried_at + RETRY):
            return False
        row.sent, row.tries, row.tried_at = True, row.tries + 1, timezone.now()
        row.save()
    if not message.text:
        return False
    try:
        _email(user, message).send()
    except (SMTPException, OSError, ValueError) as error:  # ValueError: an address that no e-mail can have
        log.warning("The mail server did not take a message (try %s of %s): %s", row.tries, TRIES, error)
        Notification.objects.filter(pk=row.pk).update(sent=False)
        return False
    return True


def _email(user: User, message: Message) -> EmailMessage:
    why = f"You get this message because you chose it on your account page: {link(reverse('account'))}"
    subject = " ".join(f"[Winnow] {message.subject}".split())  # a header has one line
    return EmailMessage(subject, f"{message.text}\n\n-- \n{why}\n", settings.DEFAULT_FROM_EMAIL, [user.email])
