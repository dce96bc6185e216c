"""Tokens for the API: one per person, shown once. Only its digest is stored. A token expires, and may be read-only.

The table is `rest_framework.authtoken`'s, whose `key` holds the first 160 bits of the token's SHA-256. A token is 256
random bits, so its digest does not reveal it. (`manage.py drf_create_token` stores the key itself, so its output does
not work here: use `manage.py api_token`.)
"""

import hashlib
import math
import secrets
from datetime import timedelta
from typing import Any, cast

from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.throttling import UserRateThrottle

from benchmarks import audit
from benchmarks.models import TokenTerms


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:40]


@transaction.atomic
def make_token(*, user, by: str, days: int = 365, writes: bool = True) -> str:
    """Create a token that expires after `days` days, returned only once; the previous one stops working."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    Token.objects.filter(user=user).delete()
    made = secrets.token_urlsafe(32)
    token = Token.objects.create(user=user, key=_digest(made))
    TokenTerms.objects.create(token=token, expires_at=timezone.now() + timedelta(days=days), writes=writes)
    audit.record(by=by, verb="made an API token", subject=user, days=days, writes=writes)
    return made


@transaction.atomic
def revoke_token(*, user, by: str) -> bool:
    """Revoke the user's token; return whether there was one."""
    gone, _ = Token.objects.filter(user=user).delete()
    if gone:
        audit.record(by=by, verb="revoked an API token", subject=user)
    return bool(gone)


class BadToken(APIException):
    """Answers 401 with the expected header; a request without a token gets 403, as for sessions."""

    status_code = 401
    auth_header = "Bearer"


class ByToken(TokenAuthentication):
    """`Authorization: Bearer …`. Rejects tokens of users who may no longer log in."""

    keyword = "Bearer"

    def authenticate(self, request):
        try:
            return super().authenticate(request)
        except AuthenticationFailed as refused:
            raise BadToken(str(refused.detail), "bad_token") from None

    def authenticate_credentials(self, key: str):
        user, token = super().authenticate_credentials(_digest(key))
        terms = TokenTerms.objects.filter(token=token).first()
        if terms and terms.expires_at <= timezone.now():
            ended = f"This token expired on {terms.expires_at:%Y-%m-%d}. Create a new one on your account page."
            raise BadToken(ended, "expired_token")
        token.writes = bool(terms and terms.writes)
        return user, token


class MayWrite(BasePermission):
    """Refuses changes with a read-only token."""

    message = "This token is read-only. Create one that may change data on your account page."
    code = "token_only_reads"

    def has_permission(self, request, view) -> bool:
        return request.method in SAFE_METHODS or request.auth is None or request.auth.writes


class PerToken(UserRateThrottle):
    """Limits scripts to the rate in the settings, in any minute and across all processes; requests with a session are
    not counted. The library's own throttle reads and writes in two steps, so other processes can come in between.
    """

    scope = "token"
    num_requests: int  # from the settings
    duration: int  # seconds

    def allow_request(self, request, view) -> bool:
        key, most, span = self.get_cache_key(request, view), self.num_requests, self.duration
        if key is None:
            return True
        left, self.seconds = cast(Any, cache).take(key, most, span)  # config/cache.py
        request._request.rate_limit = {
            "RateLimit-Policy": f'"{self.scope}";q={most};w={span}',
            "RateLimit": f'"{self.scope}";r={max(left - 1, 0)};t={math.ceil(self.seconds)}',
        }
        return left > 0

    def wait(self) -> float:
        return self.seconds

    def get_cache_key(self, request, view) -> str | None:
        return super().get_cache_key(request, view) if request.auth else None
