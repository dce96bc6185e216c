"""Tokens for the API: one for each person, shown once. What is kept is its digest, and a request brings the token.

The table is `rest_framework.authtoken`'s, whose `key` holds the first 160 bits of the token's SHA-256. A token is 256
random bits, so nobody finds it from its digest. (`manage.py drf_create_token` keeps the key itself, and what it prints
opens nothing here: `manage.py api_token` is ours.)
"""

import hashlib
import secrets

from django.contrib.auth import get_user_model
from django.db import transaction
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.throttling import UserRateThrottle

from benchmarks import audit


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:40]


@transaction.atomic
def make_token(*, user, by: str) -> str:
    """A new token, which is told here and never again; the one before opens nothing any more."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    Token.objects.filter(user=user).delete()
    made = secrets.token_urlsafe(32)
    Token.objects.create(user=user, key=_digest(made))
    audit.record(by=by, verb="made an API token", subject=user)
    return made


@transaction.atomic
def revoke_token(*, user, by: str) -> bool:
    """Whether there was one."""
    gone, _ = Token.objects.filter(user=user).delete()
    if gone:
        audit.record(by=by, verb="revoked an API token", subject=user)
    return bool(gone)


class BadToken(APIException):
    """401 with what to bring; a request without any token is 403, as for sessions."""

    status_code = 401
    auth_header = "Bearer"


class ByToken(TokenAuthentication):
    """`Authorization: Bearer …`. Of somebody who may not log in any more it opens nothing."""

    keyword = "Bearer"

    def authenticate(self, request):
        try:
            return super().authenticate(request)
        except AuthenticationFailed as refused:
            raise BadToken(refused.detail) from None

    def authenticate_credentials(self, key: str):
        return super().authenticate_credentials(_digest(key))


class PerToken(UserRateThrottle):
    """A script asks as often as the settings say; pages, which come with a session, are not counted."""

    scope = "token"

    def get_cache_key(self, request, view) -> str | None:
        return super().get_cache_key(request, view) if request.auth else None
