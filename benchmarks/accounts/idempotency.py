"""Idempotency keys: a script may send a request again when it does not know whether the first one arrived.

The answer is stored in the transaction of the effect, so there is an effect exactly when there is an answer. Refused
requests have no effect and are not stored: the same key may be used for the corrected request.
"""

import hashlib
from collections.abc import Iterable
from datetime import timedelta

from django.core.files.uploadedfile import UploadedFile
from django.db.models.functions import Now

from benchmarks import locks
from benchmarks.models import IdempotencyKey

KEPT = timedelta(days=7)


class OtherRequest(ValueError):
    """The key was used for another request."""


def stored_answer(*, user, key: str, fingerprint: str) -> IdempotencyKey | None:
    """Return the stored answer to this request. Raises OtherRequest if the key was used for another one.

    Call it first in the transaction of the effect: another request with the key waits here until this one has ended.
    """
    locks.wait_for(f"idempotency {user.pk} {key}")
    found = IdempotencyKey.objects.filter(user=user, key=key).first()
    if found and found.fingerprint != fingerprint:
        raise OtherRequest
    return found


def remember(*, user, key: str, fingerprint: str, status: int, body: object, location: str) -> None:
    facts = {"fingerprint": fingerprint, "status": status, "body": body, "location": location}
    IdempotencyKey.objects.create(user=user, key=key, **facts)


def fingerprint_of(method: str, address: str, body: str, files: Iterable[tuple[str, UploadedFile]]) -> str:
    """Hash a request; `files` by field, in the order sent."""
    whole = hashlib.sha256(f"{method} {address}\n{body}".encode("utf-8", "surrogatepass"))
    for field, file in files:
        content = hashlib.sha256()
        for piece in file.chunks():
            content.update(piece)
        file.seek(0)
        whole.update(f"\n{field} {file.name} {content.hexdigest()}".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def sweep() -> None:
    """Delete answers older than KEPT."""
    IdempotencyKey.objects.filter(created_at__lt=Now() - KEPT).delete()
