"""Accounts: creation with a one-time password, which the owner replaces at the first login (accounts/views.py), and
changes by the owner.
"""

import secrets

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from benchmarks import audit
from benchmarks.accounts import sessions, tokens


class CannotAdd(ValueError):
    """The account cannot be created; the message explains why."""


@transaction.atomic
def add_user(*, name: str, superuser: bool, by: str) -> tuple[User, str]:
    """Create a staff user; returns the user and a one-time password. If the name is an e-mail address, it becomes the
    user's address. Raises CannotAdd.
    """
    if not settings.LOCAL_LOGIN:
        raise CannotAdd(
            "Passwords are switched off (WINNOW_LOCAL_LOGIN=0). The provider's groups give people their accounts."
        )
    user = User(username=name, email=name if "@" in name else "", is_staff=True, is_superuser=superuser)
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise CannotAdd(" ".join(error.messages)) from None
    return user, give_password(user=user, by=by)


@transaction.atomic
def give_password(*, user: User, by: str) -> str:
    """Set a one-time password and save the user. It counts as one-time while `last_login` is empty."""
    password = secrets.token_urlsafe(9)
    user.last_login = None
    user.set_password(password)
    user.save()
    audit.record(by=by, verb="gave a one-time password", subject=user)
    return password


@transaction.atomic
def change_email(*, user: User, email: str, by: str) -> None:
    """Store the address; empty for none. The audit trail does not repeat it."""
    if user.email == email:
        return
    user.email = email
    user.save(update_fields=["email"])
    audit.record(by=by, verb="changed an e-mail address", subject=user)


@transaction.atomic
def change_password(*, user: User, password: str, by: str) -> None:
    """Store a password chosen by the owner. All of their sessions end; the caller keeps the current one."""
    user.set_password(password)
    user.save(update_fields=["password"])
    audit.record(by=by, verb="changed a password", subject=user)


@transaction.atomic
def set_open(*, user: User, open: bool, by: str) -> None:
    """Close an account, which logs out its owner and their scripts, or reopen it; what they made stays."""
    user.is_active = open
    user.save(update_fields=["is_active"])
    audit.record(by=by, verb="opened an account again" if open else "closed an account", subject=user)
    if not open:
        tokens.revoke_token(user=user, by=by)
        sessions.end_others(user=user, present=None, by=by)
