"""Signatures by the Standard Webhooks scheme (headers `webhook-id`, `webhook-timestamp`, `webhook-signature`).

A secret is an HMAC of the webhook's nonce under Winnow's SECRET_KEY, so neither the database nor
its backups can sign anything. A new nonce is a new secret.
"""

import base64
import hashlib
import hmac
from uuid import UUID

from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.models import Webhook

PREFIX = "whsec_"


def secret_of(nonce: str) -> str:
    """Return the secret in the form for a receiver's library."""
    return PREFIX + base64.b64encode(_key(nonce)).decode()


def signed_headers(webhook: Webhook, key: UUID, body: bytes) -> dict[str, str]:
    """Return headers that identify and sign a delivery: by the secret, and the previous one while it is valid."""
    now = timezone.now()
    id, timestamp = f"msg_{key.hex}", str(int(now.timestamp()))
    nonces = [webhook.nonce]
    if webhook.old_until and now < webhook.old_until:
        nonces.append(webhook.old_nonce)
    content = f"{id}.{timestamp}.".encode() + body
    signatures = [base64.b64encode(hmac.digest(_key(nonce), content, hashlib.sha256)).decode() for nonce in nonces]
    return {
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(nonce: str) -> bytes:
    return salted_hmac("annotation.webhooks.signing", nonce, algorithm="sha256").digest()
