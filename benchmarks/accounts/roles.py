"""The rights that a provider's groups give an account: staff, superuser, roles in studies (`roles` in
WINNOW_PROVIDERS).

With such a map, each login through the provider resets these rights, so that whoever leaves a group loses them. Rooms
above register the consequences in their tables, as for imports.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks import audit

BY = "provider"
EVERYBODY = "*"
Listener = Callable[[User, dict[str, list[str]]], object]
_LISTENERS: list[Listener] = []
log = logging.getLogger(__name__)


@dataclass
class Rights:
    """`studies` has every study in the map, with the roles that the groups give in it, if any."""

    staff: bool = False
    superuser: bool = False
    studies: dict[str, list[str]] = field(default_factory=dict)


def on_rights(listener: Listener) -> Listener:
    """Call `listener(user, studies)`, with `Rights.studies`, at each login through the provider. A decorator."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)
    return listener


def rights_of(groups: Iterable[str], grants: Mapping[str, str | dict[str, str]]) -> Rights | None:
    """Return what the provider's map gives to somebody in these groups; None without a map."""
    if not grants:
        return None
    found = Rights()
    held = {EVERYBODY, *groups}
    for group, grant in grants.items():
        if isinstance(grant, str):
            found.superuser |= group in held and grant == "superuser"
            found.staff |= group in held
            continue
        for study, role in grant.items():
            found.studies.setdefault(study, []).extend([role] * (group in held))
            found.staff |= group in held
    return found


@transaction.atomic
def apply(*, user: User, rights: Rights | None) -> None:
    """Give the account exactly these rights; None leaves them unchanged."""
    if rights is None:
        return
    before = user.is_staff, user.is_superuser
    user.is_staff, user.is_superuser = rights.staff, rights.superuser
    if before != (user.is_staff, user.is_superuser):
        user.save(update_fields=["is_staff", "is_superuser"])
        audit.record(
            by=BY, verb="changed an account's rights", subject=user, staff=user.is_staff, superuser=user.is_superuser
        )
    for listener in _LISTENERS:
        listener(user, rights.studies)
