"""The browsers in which a user is logged in: list them, and end one or all but the current one."""

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from benchmarks import audit

BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {"Windows": "Windows", "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Mac OS": "macOS",
           "CrOS": "ChromeOS", "Linux": "Linux"}  # fmt: skip


def open_sessions(user: User) -> list[UserSession]:
    """Return the user's sessions that still exist, newest first, each with the name of its `browser`."""
    found = list(UserSession.objects.filter(user=user).order_by("-created_at", "-pk"))
    keys = [one.session_key for one in found]
    alive = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    alive_keys = set(alive.values_list("session_key", flat=True))
    for one in found:
        one.browser = browser_name(one.user_agent)
    return [one for one in found if one.session_key in alive_keys]


def browser_name(agent: str) -> str:
    """Return `Firefox on Linux` from a user-agent string; unknown parts are left out."""
    browser = next((name for mark, name in BROWSERS.items() if mark in agent), "Unknown browser")
    system = next((name for mark, name in SYSTEMS.items() if mark in agent), "")
    return f"{browser} on {system}" if system else browser


@transaction.atomic
def end_others(*, user: User, present: str | None, only: int | None = None, by: str) -> int:
    """End the user's sessions except the current one, or `only` one of them; return how many there were."""
    found = UserSession.objects.filter(user=user).exclude(session_key=present)
    ended = list(found if only is None else found.filter(pk=only))
    for one in ended:
        one.end()
    if ended:
        audit.record(by=by, verb="ended sessions", subject=user, sessions=len(ended))
    return len(ended)
