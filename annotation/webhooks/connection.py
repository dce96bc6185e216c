"""HTTP connections to receivers, which never lead into the network that Winnow runs in, unless that is allowed.

The check is on the address of the connection, after the name was resolved: a name that resolves differently the next
time cannot get around it. Redirects are responses like any other, and the environment's proxies are not used.
"""

import ipaddress
import socket
import ssl
from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

import httpcore
from django.conf import settings

from workers.deadlines import Network
from workers.neighbours import Neighbour, Unresponsive

SECONDS = 15  # for one delivery, from connecting to the end of the response
MOST_BYTES = 64 * 1024  # bytes of a response, which nobody reads
AGENT = f"Winnow/{settings.VERSION}"
PORTS = {"https": 443, "http": 80}
NAMES = Neighbour("The name server", seconds=3, at_once=32)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # the last 32 bits are an IPv4 address
# Special-purpose addresses in IANA's registries that `is_global` does not know in every Python;
# for IPv6, all but global unicast.
_SPECIAL = [
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
                    "::/3", "4000::/2", "8000::/1")
]  # fmt: skip
_LATE = f"The receiver did not answer within {SECONDS} seconds."
_NOT_ALLOWED = (
    "{host} is at {address}, which is not a public address. An administrator can allow it with WINNOW_WEBHOOK_PRIVATE."
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Unreachable(Exception):
    """Nothing was sent, or there was no response; the message is for managers."""


def check(url: str) -> None:
    """Raise Unreachable unless events may be sent to the URL: by HTTPS to a public address, or to an allowed one."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in PORTS or not host or any(mark.isspace() for mark in url) or not url.isascii():
        raise Unreachable("Enter a full address, such as https://lab.example.org/winnow.")
    if parts.username is not None or parts.fragment:
        raise Unreachable("The address must not contain a user name, a password or a fragment (#).")
    addresses_of(host, port or PORTS[scheme], encrypted=scheme == "https")


def addresses_of(host: str, port: int, *, encrypted: bool) -> list[str]:
    """Return the host's addresses, all of which may be connected to. Raises Unreachable."""
    try:
        found = NAMES.ask(partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError):
        raise Unreachable(f"The name {host} was not found.") from None
    except Unresponsive:
        raise Unreachable(f"Looking up the name {host} takes too long. Try again later.") from None
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    for address in addresses:
        ip = _embedded(ipaddress.ip_address(address.partition("%")[0]))
        if any(ip in network for network in settings.WEBHOOK_NETWORKS):
            continue
        if not _is_public(ip):
            raise Unreachable(_NOT_ALLOWED.format(host=host, address=ip))
        if not encrypted:
            raise Unreachable("Use https://: events are sent to public addresses only encrypted.")
    return addresses


def _embedded(ip: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address that leads to one; otherwise the address itself."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:
            return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        return ip.ipv4_mapped or ip.sixtofour or ip
    return ip


def _is_public(ip: Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _SPECIAL)


@cache
def _trusted() -> ssl.SSLContext:
    """Return the certificate authorities: the system's, or SSL_CERT_FILE and SSL_CERT_DIR. Reading them is slow."""
    return ssl.create_default_context()


class Connection:
    """Connections to one receiver, kept open between deliveries; closed as a context manager."""

    def __init__(self) -> None:
        self._network = _CheckedNetwork()
        self._pool = httpcore.ConnectionPool(ssl_context=_trusted(), network_backend=self._network, retries=0)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.close()

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Send it and return the status of the answer. Raises Unreachable."""
        self._network.allow(SECONDS)
        parts = urlsplit(url)
        self._network.encrypted = parts.scheme == "https"
        sent: list[tuple[bytes | str, bytes | str]] = [
            ("Host", parts.netloc), ("User-Agent", AGENT), ("Content-Length", str(len(body))), *headers.items(),
        ]  # fmt: skip
        limits = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), SECONDS)}
        try:
            with self._pool.stream("POST", url, headers=sent, content=body, extensions=limits) as answer:
                size = 0
                for piece in answer.iter_stream():
                    size += len(piece)
                    if size > MOST_BYTES:  # leaving the block closes the connection
                        break
                return answer.status
        except httpcore.TimeoutException:
            raise Unreachable(_LATE) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            raise Unreachable(f"The connection failed: {error}"[:200]) from None


class _CheckedNetwork(Network):
    """Connects to addresses that were checked."""

    encrypted = True

    def connect_tcp(self, host: str, port: int, *more: Any, **options: Any) -> httpcore.NetworkStream:
        first, *others = addresses_of(host.strip("[]"), port, encrypted=self.encrypted)
        try:
            return super().connect_tcp(first, port, *more, **options)
        except httpcore.NetworkError:
            if not others:
                raise
        return super().connect_tcp(others[0], port, *more, **options)
