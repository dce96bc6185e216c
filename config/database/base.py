"""Django's PostgreSQL engine with a deadline for names, since libpq would wait 20 seconds for a hanging name server,
and a choice of which requests keep the plans of their statements.
"""

import ipaddress
import logging
import socket
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from django.db.backends.postgresql import base

from workers.neighbours import Neighbour, Unresponsive

PREPARES = ContextVar("PREPARES", default=True)  # keep the plans of repeated statements (config/middleware.py)
NAMES = Neighbour("The name server", seconds=1, at_once=8)
_known: dict[str, list[str]] = {}  # host → its last known addresses
log = logging.getLogger(__name__)


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Any:
        threshold = self.settings_dict["OPTIONS"]["prepare_threshold"]
        self.connection.prepare_threshold = threshold if PREPARES.get() else None
        return super().create_cursor(name)

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        if addresses := addresses_of(params.get("host") or ""):
            params["host"] = ",".join([params["host"]] * len(addresses))  # certificates contain the name
            params["hostaddr"] = ",".join(addresses)
        return params


def addresses_of(host: str) -> list[str]:
    """Return a host's addresses, or the last known ones if the name server fails. None: leave it to libpq."""
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
