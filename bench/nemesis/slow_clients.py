"""Clients that send or read a byte at a time: each holds a connection, and must not delay anybody else's response."""

import contextlib
import socket
import threading
from dataclasses import dataclass

COUNT = 100  # connections at once
EVERY = 0.2  # seconds between two bytes of each
POST = b"POST /appearance/ HTTP/1.1\r\nHost: localhost\r\n"
SENT = {
    "slow headers": POST,
    "slow bodies": POST + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
    "slow large bodies": POST.replace(b"/appearance/", b"/benchmarks/import/") + b"Content-Length: 10000000\r\n\r\n",
    "slow readers": b"GET /login/ HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
}


@dataclass
class SlowClients:
    """`kind`: of SENT."""

    port: int
    kind: str

    def begin(self) -> None:
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._dawdle, daemon=True)
        self.thread.start()

    def end(self) -> None:
        self.stopping.set()
        self.thread.join()

    def _dawdle(self) -> None:
        with contextlib.ExitStack() as stack:
            open_now = [stack.enter_context(one) for _ in range(COUNT) if (one := self._connected())]
            while not self.stopping.wait(EVERY):
                for one in open_now:
                    with contextlib.suppress(OSError):
                        one.recv(1) if self.kind == "slow readers" else one.send(b"x")

    def _connected(self) -> socket.socket | None:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            client.settimeout(5)
            client.connect(("127.0.0.1", self.port))
            client.sendall(SENT[self.kind])
            client.setblocking(False)
        except OSError:
            client.close()
            return None
        return client
