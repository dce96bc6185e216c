"""A user's ways to log in besides the password: an authenticator app, passkeys, recovery codes, providers.

The pages to set them up are in second_factor.py and provider_views.py, whose libraries take long to load.
"""

from typing import Any

from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from benchmarks import audit

SINGLE_LOGOUT = "single_logout"  # session key, after login through a provider: data to end its session


def factors(user: User) -> dict[str, Any]:
    """Return data for the account page: the authenticator app, the passkeys, and how many recovery codes are left."""
    held = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    codes = next((one for one in held if one.type == Authenticator.Type.RECOVERY_CODES), None)
    return {
        "app": next((one for one in held if one.type == Authenticator.Type.TOTP), None),
        "passkeys": [one for one in held if one.type == Authenticator.Type.WEBAUTHN],
        "codes": len(codes.wrap().get_unused_codes()) if codes else None,
    }


@transaction.atomic
def remove_factors(*, user: User) -> int:
    """Remove all second factors and passkeys of a user who has lost them; return how many."""
    gone, _ = Authenticator.objects.filter(user=user).delete()
    return gone


@receiver(post_save, sender=Authenticator)
def _record_added(instance: Authenticator, created: bool, **rest: object) -> None:
    if created:
        audit.record(by=_by(), verb="added a second factor", subject=instance.user, type=instance.type)


@receiver(post_delete, sender=Authenticator)
def _record_removed(instance: Authenticator, **rest: object) -> None:
    audit.record(by=_by(), verb="removed a second factor", subject=instance.user, type=instance.type)


def _by() -> str:
    """Return who changes factors: on the pages, their owner."""
    request = context.request
    return audit.named(request.user) if request and request.user.is_authenticated else "command"


def connected(user: User) -> set[str]:
    """Return the names of the providers through which the user can log in."""
    return set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))
