"""Limits on login attempts (by name, by name and address, by address) and on people who join."""

import hashlib
import time
from ipaddress import ip_interface

from django.conf import settings
from django.contrib.auth.forms import UsernameField
from django.core.cache import cache
from django.http import HttpRequest

from benchmarks.permissions import client_address

TRIES = 10  # per minute, for one name from one address
TRIES_FROM_ADDRESS = 60  # per minute, for all names
TRIES_OF_NAME = 60  # per minute, from all addresses
HOUR = 3600  # seconds
REPORTS = 20  # error reports per hour from one network
LOOKS = 600  # views of shared results per hour from one network


def seconds_to_wait(request: HttpRequest, name: str | None) -> int:
    """Count this attempt, and return the seconds to wait, or 0. Without Redis nothing is counted, and login works.

    The name is normalised as in Django, ignoring case, and hashed: it may be a password typed into the wrong field.
    """
    minute, second = _clock()
    address, now = _network(request), f"login {minute}"
    tries = [(_count(f"{now} {address}"), TRIES_FROM_ADDRESS)]
    if name is not None:
        name = str(UsernameField().to_python(name)).lower()
        tries += [(_count(f"{now} {address} {name}"), TRIES), (_count(f"{now} name {name}"), TRIES_OF_NAME)]
    return 60 - second if any(count > most for count, most in tries) else 0


def _clock() -> tuple[int, int]:
    """Return the current minute, and the seconds since its start."""
    return divmod(int(time.time()), 60)


def too_many_join(request: HttpRequest, study: int) -> bool:
    """Count a person who joins the study from this address; return whether too many have joined within the hour.

    Only a count by a hash is kept, for two hours. Without Redis nothing is counted, and everybody can join.
    """
    hour = int(time.time()) // HOUR
    return 0 < settings.JOINS_PER_HOUR < _count(f"join {hour} {study} {_network(request)}", 2 * HOUR)


def too_many_reports(request: HttpRequest) -> bool:
    """Count an error report from a reader, in the same way but for all studies together."""
    hour = int(time.time()) // HOUR
    return _count(f"report {hour} {_network(request)}", 2 * HOUR) > REPORTS


def too_many_looks(request: HttpRequest) -> bool:
    """Count a view of shared results, in the same way."""
    hour = int(time.time()) // HOUR
    return _count(f"look {hour} {_network(request)}", 2 * HOUR) > LOOKS


def _network(request: HttpRequest) -> str:
    """Return the client's address; for IPv6 its /64, which belongs to one household or machine."""
    try:
        found = ip_interface(client_address(request))
    except ValueError:  # from a proxy that writes something other than an address
        return client_address(request)
    mapped = getattr(found.ip, "ipv4_mapped", None)
    return str(found.ip if found.version == 4 else mapped or ip_interface(f"{found.ip}/64").network)


def _count(who: str, timeout: int = 120) -> int:
    key = "limit-" + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()
    cache.add(key, 0, timeout=timeout)
    try:
        return cache.incr(key)
    except ValueError:  # it is not stored
        return 0
