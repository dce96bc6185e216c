"""Connections with one deadline for all steps together, because the other end may send one byte at a time."""

import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore


class Network(httpcore.NetworkBackend):
    """The network backend of httpcore. Each thread has its own deadline."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._sockets = httpcore.SyncBackend()

    def allow(self, seconds: float) -> None:
        """Set the deadline, from now on, for everything this thread does."""
        self._own.deadline = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until the deadline. Raises httpcore.ReadTimeout after it."""
        left = self._own.deadline - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:  # fmt: skip
        within = self.left() if timeout is None else min(timeout, self.left())
        return Stream(self._sockets.connect_tcp(host, port, within, local_address, socket_options), self)


class Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, network: Network):
        self._stream, self._network = stream, network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return Stream(self._stream.start_tls(ssl_context, server_hostname, self._network.left()), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
