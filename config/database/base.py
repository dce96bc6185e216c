"""PostgreSQL by Django, with a deadline for its name: libpq would wait 20 seconds for a name server that hangs."""

import ipaddress
import logging
import socket
from contextlib import suppress
from typing import Any

from django.db.backends.postgresql import base

from workers.neighbours import Neighbour, Unresponsive

NAMES = Neighbour("The name server", seconds=1, at_once=8)
_known: dict[str, list[str]] = {}  # host → its addresses the last time
log = logging.getLogger(__name__)


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        if addresses := addresses_of(params.get("host") or ""):
            params["host"] = ",".join([params["host"]] * len(addresses))  # certificates have the name
            params["hostaddr"] = ",".join(addresses)
        return params


def addresses_of(host: str) -> list[str]:
    """Of a host that is known by its name: those of the last time, if the name server fails. None: libpq is to look."""
    if not host or host.startswith("/") or "," in host:
        return []
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return []
    try:
        found = NAMES.ask(lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
        _known[host] = list(dict.fromkeys(str(address[0]) for *_, address in found))
    except (Unresponsive, OSError) as error:
        log.warning("The name of the database's server, %s, is not resolved: %s", host, error)
    return _known.get(host, [])
