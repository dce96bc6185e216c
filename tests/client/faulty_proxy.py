"""A proxy that breaks connections as networks do: it stands between a client and a live server."""

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import winnow_client

HOP = {"connection", "transfer-encoding", "keep-alive", "server", "date"}


class Proxy(ThreadingHTTPServer):
    """Once each: the answer to a POST is `lost`, an upload or a file is `cut`, a GET is `busy` (503).

    `sent`: bytes of uploads that have reached the server; `fetched`: bytes of files that have reached the client.
    """

    daemon_threads = True
    broken = False

    def __init__(self, site: str):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = urlsplit(site).netloc
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lost: set[tuple[str, bytes]] = set()
        self.cut: set[str] = set()
        self.busy: set[str] = set()
        self.sent = self.fetched = 0

    def connected(self, token: str) -> winnow_client.Server:
        """A client; from now on connections break."""
        self.broken = False
        server = winnow_client.connect(self.url, token, patience=20, progress=False)
        self.broken = True
        return server

    def handle_error(self, request, client_address) -> None:
        pass  # the client has gone, as it does after a fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        first = f"{self.command} {self.path}"
        if self.server.broken and self.command == "GET" and first not in self.server.busy:
            self.server.busy.add(first)
            return self.answer(503, [("Retry-After", "0")], b"<h1>Starting</h1>")
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            upstream.putheader(name, value)
        upstream.endheaders()
        if self.command == "PATCH" and first not in self.server.cut:
            self.server.cut.add(first)
            self.server.sent += len(body) // 2
            upstream.send(body[: len(body) // 2])
            upstream.sock.shutdown(socket.SHUT_WR)
            upstream.getresponse().read()  # the server has kept what came
            return self.break_off()
        self.server.sent += len(body) if self.command == "PATCH" else 0
        upstream.send(body)
        answer = upstream.getresponse()
        content = answer.read()
        if self.command == "POST" and (self.path, body) not in self.server.lost:
            self.server.lost.add((self.path, body))
            return self.break_off()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP]
        is_file = self.command == "GET" and self.path.endswith("/file/")
        only = len(content) // 2 if is_file and first not in self.server.cut else len(content)
        if is_file:
            self.server.cut.add(first)
            self.server.fetched += only
        self.answer(answer.status, headers, content, only)

    do_GET = do_POST = do_PATCH = handle_any

    def answer(self, status: int, headers: list[tuple[str, str]], content: bytes, only: int | None = None) -> None:
        """`only`: how many bytes of the content; with fewer than all, the connection breaks."""
        self.send_response(status)
        for name, value in headers:
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:only])
        if len(content[:only]) < len(content):
            self.break_off()

    def break_off(self) -> None:
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, format: str, *args) -> None:
        pass


@contextmanager
def faulty(site: str) -> Iterator[Proxy]:
    with Proxy(site) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
