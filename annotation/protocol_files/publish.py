"""Publish a protocol file as a version that studies can use."""

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.models import ProtocolVersion
from annotation.protocols.reading import read_protocol
from benchmarks import audit, locks
from benchmarks.formats.base import ProblemLog


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class NameTaken(ValueError):
    """Somebody else has published under this name; the message is for the author."""


@transaction.atomic
def publish(*, text: str, by: str, user: User | None = None, log: ProblemLog | None = None) -> ProtocolVersion:
    """Publish the text as the next version of its protocol; return the existing version if it was published before.

    Raises Unreadable if the text has problems, which are then in the log, and NameTaken if the name's versions are
    another user's. Superusers, and commands (without a `user`), can publish under any name.
    """
    file = read_protocol(text, "protocol", ProblemLog() if log is None else log)
    digest = digest_of(text)
    locks.wait_for(f"protocol {file.name}")
    if there := ProtocolVersion.objects.filter(sha256=digest).first():
        return there
    earlier = ProtocolVersion.objects.filter(name=file.name)
    if user and not user.is_superuser and earlier.exists() and not earlier.filter(published_by=user).exists():
        raise NameTaken(f"Somebody else has published a protocol called {file.name}. Give yours another name.")
    number = (earlier.aggregate(last=Max("number"))["last"] or 0) + 1
    version = ProtocolVersion.objects.create(
        name=file.name, number=number, title=file.title, text=text, sha256=digest, published_by=user
    )
    audit.record(by=by, verb="published", subject=version, sha256=digest)
    return version
