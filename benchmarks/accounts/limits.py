"""Limits of attempts to log in: for a name, for a name from one address, and for an address."""

import hashlib
import time

from django.contrib.auth.forms import UsernameField
from django.core.cache import cache
from django.http import HttpRequest

from benchmarks.permissions import client_address

TRIES = 10  # per minute, for one name from one address
TRIES_FROM_ADDRESS = 60  # per minute, for all names
TRIES_OF_NAME = 60  # per minute, from all addresses


def seconds_to_wait(request: HttpRequest, name: str | None) -> int:
    """Count this attempt; returns the seconds to wait, or 0. Without Redis nothing is counted, and login works.

    The name is normalised as in Django, ignoring case, and hashed: it may be a password typed into the wrong field.
    """
    minute, second = _clock()
    address = client_address(request)
    tries = [(_tries(f"{minute} {address}"), TRIES_FROM_ADDRESS)]
    if name is not None:
        name = str(UsernameField().to_python(name)).lower()
        tries += [(_tries(f"{minute} {address} {name}"), TRIES), (_tries(f"{minute} name {name}"), TRIES_OF_NAME)]
    return 60 - second if any(count > most for count, most in tries) else 0


def _clock() -> tuple[int, int]:
    """The minute, and its second."""
    return divmod(int(time.time()), 60)


def _tries(who: str) -> int:
    key = "login-" + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()
    cache.add(key, 0, timeout=120)
    try:
        return cache.incr(key)
    except ValueError:  # it is not stored
        return 0
