"""Memberships that follow a provider's groups: at each login, in the studies that WINNOW_OIDC_ROLES names."""

import logging

from django.contrib.auth.models import User

from annotation.models import Member, Role, Study
from annotation.studies import members
from benchmarks.accounts.roles import BY

log = logging.getLogger(__name__)


def follow_groups(user: User, studies: dict[str, list[str]]) -> None:
    """Make the user a member of each of these studies with the highest of the roles given, or of none without one.

    A study that does not exist, and a change that would leave a study without an owner, are logged and left out.
    """
    ranks = list(Role)
    for study in Study.objects.filter(name__in=studies):
        wanted = max((Role(role) for role in studies[study.name]), key=ranks.index, default=None)
        member = Member.objects.select_related("study", "user").filter(study=study, user=user).first()
        try:
            if member and wanted:
                members.change(member=member, role=wanted, by=BY)
            elif member:
                members.remove(member=member, by=BY)
            elif wanted:
                members.add(study=study, user=user, role=wanted, by=BY)
        except members.CannotChange as reason:
            log.warning("The groups of user %s were not applied to study %s: %s", user.pk, study.pk, reason)
    if missing := set(studies) - set(Study.objects.filter(name__in=studies).values_list("name", flat=True)):
        log.warning("WINNOW_OIDC_ROLES names studies that do not exist: %s", ", ".join(sorted(missing)))
