"""A server that accepts connections and never says anything: a neighbour that hangs."""

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """Its port on 127.0.0.1. At the end it resets what is open."""
    taken, server = [], socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                taken.append(server.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        for connection in taken:
            connection.close()
