"""Add, change and remove a study's members, who may view it, manage it or choose its members.

A study with an owner always keeps at least one. Superusers see every study without being members.
"""

import logging

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Member, Role, Study
from benchmarks import audit
from benchmarks.accounts.roles import BY

log = logging.getLogger(__name__)


class CannotChange(ValueError):
    """The members cannot be changed like this; the message explains why."""


@transaction.atomic
def add(*, study: Study, user, role: Role, by: str) -> Member:
    """Add a member. Raises CannotChange for a user who is already a member, or whose account may not manage."""
    _lock(study)
    if not (user.is_active and user.is_staff):
        raise CannotChange(f"{user} has an account that may not manage studies. Ask an admin to change that.")
    if study.members.filter(user=user).exists():
        raise CannotChange(f"{user} is already a member. Change the role in the list.")
    member = Member.objects.create(study=study, user=user, role=role)
    audit.record(by=by, verb="added a member", subject=study, user=user.pk, role=role)
    return member


@transaction.atomic
def add_by_name(*, study: Study, name: str, role: Role, by: str) -> Member:
    """Add a member; `name` is a user's name, or the e-mail address of exactly one user."""
    users = get_user_model().objects
    found = list(users.filter(username=name) or users.filter(email__iexact=name, is_active=True)[:2])
    if len(found) != 1:
        who = f"Several users have the address {name}: enter a name" if found else f"There is no user {name}"
        raise CannotChange(f"{who}. An admin can add one on the page Users.")
    return add(study=study, user=found[0], role=role, by=by)


@transaction.atomic
def change(*, member: Member, role: Role, by: str) -> Member:
    """Change the role. Raises CannotChange if the study would have no owner left."""
    member = _locked(member)
    if role == member.role:
        return member
    _leave_an_owner(member)
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    audit.record(by=by, verb="changed a member", subject=member.study, user=member.user_id, role=role, before=before)
    return member


@transaction.atomic
def remove(*, member: Member, by: str) -> None:
    """Remove the member. Raises CannotChange if the study would have no owner left."""
    member = _locked(member)
    _leave_an_owner(member)
    member.delete()
    audit.record(by=by, verb="removed a member", subject=member.study, user=member.user_id, role=member.role)


def follow_groups(user: User, studies: dict[str, list[str]]) -> None:
    """Make the user a member of each of these studies with the highest role given; remove them if no role is given.

    Studies that do not exist, and changes that would leave a study without an owner, are logged and skipped.
    """
    ranks = list(Role)
    for study in Study.objects.filter(name__in=studies):
        wanted = max((Role(role) for role in studies[study.name]), key=ranks.index, default=None)
        member = Member.objects.select_related("study", "user").filter(study=study, user=user).first()
        try:
            if member and wanted:
                change(member=member, role=wanted, by=BY)
            elif member:
                remove(member=member, by=BY)
            elif wanted:
                add(study=study, user=user, role=wanted, by=BY)
        except CannotChange as reason:
            log.warning("The groups of user %s were not applied to study %s: %s", user.pk, study.pk, reason)
    if missing := set(studies) - set(Study.objects.filter(name__in=studies).values_list("name", flat=True)):
        log.warning("WINNOW_PROVIDERS names studies that do not exist: %s", ", ".join(sorted(missing)))


def members_of(study: Study) -> QuerySet[Member]:
    """Return the members in the order in which they were added."""
    return study.members.select_related("user")


def is_last_owner(member: Member) -> bool:
    """Return whether no other owner can log in."""
    owners = member.study.members.filter(role=Role.OWNER, user__is_active=True, user__is_staff=True)
    return member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists()


def _lock(study: Study) -> None:
    """Lock the study's members, so that two owners cannot remove each other at the same time."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _locked(member: Member) -> Member:
    _lock(member.study)
    found = Member.objects.select_related("study", "user").filter(pk=member.pk).first()
    if found is None:
        raise CannotChange("That member has been removed in the meantime.")
    return found


def _leave_an_owner(member: Member) -> None:
    """Raise CannotChange for the last owner."""
    if is_last_owner(member):
        raise CannotChange(f"{member.user} is the last owner. Make someone else an owner first.")
