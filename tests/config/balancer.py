"""A small balancer in front of several web servers: it asks each for its health, and repeats nothing that was sent."""

import http.client
import itertools
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOOK_EVERY = 0.1  # seconds
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


class Balancer:
    """Listens on `port`. `errors`: requests that failed, or were answered with a status of 500 or more."""

    def __init__(self, ports: list[int]):
        self.ports, self.turns = ports, itertools.count()
        self.healthy: dict[int, bool] = dict.fromkeys(ports, False)
        self.served: dict[int, int] = dict.fromkeys(ports, 0)
        self.errors: list[str] = []
        self.stopping = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Passing", (Passing,), {"balancer": self}))
        self.port = self.server.server_address[1]
        self.threads = [threading.Thread(target=self.server.serve_forever, args=(0.1,))]
        self.threads += [threading.Thread(target=self.look_after, args=(port,)) for port in ports]
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        self.stopping.set()
        self.server.shutdown()
        for thread in self.threads:
            thread.join()
        self.server.server_close()

    def look_after(self, port: int) -> None:
        while not self.stopping.wait(LOOK_EVERY):
            self.healthy[port] = is_healthy(port)

    def wait_until(self, port: int, healthy: bool, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while self.healthy[port] != healthy:
            assert time.monotonic() < deadline, f"not within {seconds} s"
            time.sleep(0.02)

    def next_port(self) -> int | None:
        ready = [port for port in self.ports if self.healthy[port]]
        return ready[next(self.turns) % len(ready)] if ready else None


def is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    return False


class Passing(BaseHTTPRequestHandler):
    """A request passed on to one web server, over a connection of its own."""

    balancer: Balancer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            connection = self.connected()
            connection.request(self.command, self.path, body, {**dict(self.headers), "Connection": "close"})
            answer = connection.getresponse()
            status, headers, content = answer.status, answer.getheaders(), answer.read()
            self.balancer.served[connection.port] += 1
        except (OSError, http.client.HTTPException) as error:
            status, headers, content = 502, [("Content-Length", "0")], b""
            self.balancer.errors.append(f"{self.command} {self.path}: {error!r}")
        if status >= 500:
            self.balancer.errors.append(f"{self.command} {self.path}: {status}")
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def connected(self) -> http.client.HTTPConnection:
        """To the first healthy web server that does not refuse the connection."""
        for _ in self.balancer.ports:
            if port := self.balancer.next_port():
                with suppress(ConnectionRefusedError):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                    connection.connect()
                    return connection
        raise OSError("no web server takes a connection")

    do_POST = do_GET

    def log_message(self, *words: object) -> None:
        """Nothing: pytest shows what the balancer has noted."""
