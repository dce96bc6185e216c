"""Who may look at a study, manage it, and say who may: its members.

A study that has an owner keeps one. Superusers see every study and need no membership.
"""

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Member, Role, Study
from benchmarks import audit


class CannotChange(ValueError):
    """The members cannot become these; the message says why."""


@transaction.atomic
def add(*, study: Study, user, role: Role, by: str) -> Member:
    """Raises CannotChange for somebody who is a member already, or may not log in to manage."""
    _lock(study)
    if not (user.is_active and user.is_staff):
        raise CannotChange(f"{user} has an account without the right to manage: an admin gives that.")
    if study.members.filter(user=user).exists():
        raise CannotChange(f"{user} is a member already; change the role in the list.")
    member = Member.objects.create(study=study, user=user, role=role)
    audit.record(by=by, verb="added a member", subject=study, user=user.pk, role=role)
    return member


@transaction.atomic
def add_by_name(*, study: Study, name: str, role: Role, by: str) -> Member:
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CannotChange(f"Nobody here is called {name}. An admin makes accounts: manage.py add_user {name} --staff.")
    return add(study=study, user=user, role=role, by=by)


@transaction.atomic
def change(*, member: Member, role: Role, by: str) -> Member:
    """Raises CannotChange where the study would have no owner left."""
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
    """Raises CannotChange where the study would have no owner left."""
    member = _locked(member)
    _leave_an_owner(member)
    member.delete()
    audit.record(by=by, verb="removed a member", subject=member.study, user=member.user_id, role=member.role)


def members_of(study: Study) -> QuerySet[Member]:
    """In the order of coming."""
    return study.members.select_related("user")


def _lock(study: Study) -> None:
    """Members of a study change one after the other: two owners cannot remove each other at once."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _locked(member: Member) -> Member:
    _lock(member.study)
    found = Member.objects.select_related("study", "user").filter(pk=member.pk).first()
    if found is None:
        raise CannotChange("That member has been removed meanwhile.")
    return found


def _leave_an_owner(member: Member) -> None:
    """An owner who cannot log in any more is none."""
    owners = member.study.members.filter(role=Role.OWNER, user__is_active=True, user__is_staff=True)
    if member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        raise CannotChange(f"{member.user} is the last owner. Make somebody else an owner first.")
