"""Slow clients hold no threads of the web server: neither those that send slowly nor those that read slowly."""

import contextlib
import http.client
import logging
import signal
import socket
import sys
import time
from collections.abc import Iterator

import pytest
from gunicorn.app import wsgiapp

from config import buffering, processes
from tests.config.running import free_port

THREADS = 4
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
SMALL, LARGE = b"Content-Length: 1000\r\n\r\n", b"Content-Length: 10000000\r\n\r\n"
SECOND = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
SLOW = {
    "nothing": b"",
    "half a head": HEAD,
    "half a body": HEAD + SMALL + b"x",
    "half a large body": HEAD + LARGE + b"x",
    "half a body in chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nx",
    "no reading": b"GET /?3000000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no end": b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
}


@contextlib.contextmanager
def serving(log) -> Iterator[int]:
    """gunicorn with one worker, as a fork of this process; its port."""
    port = free_port()

    def serve() -> None:
        sys.argv = ["gunicorn", "tests.config.buffered_wsgi", "--bind", f"127.0.0.1:{port}", "--threads", str(THREADS)]
        sys.argv += ["--worker-class", "config.buffering.Worker", "--no-control-socket", "--graceful-timeout", "20"]
        wsgiapp.run()

    with log.open("wb") as out:
        process = processes.fork(serve, dies_by=signal.SIGKILL, log=out)
    try:
        assert processes.wait_for(lambda: answers(port), seconds=20)
        yield port
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert time.monotonic() - begun < 10, "who is slow keeps it from stopping"
        assert b"Traceback" not in log.read_bytes()
    finally:
        processes.stop(process)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("buffering") / "log") as port:
        yield port


@pytest.fixture
def hasty(tmp_path, monkeypatch):
    """A server that waits for nobody."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "SEND_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(buffering, name, 0.5)
    with serving(tmp_path / "log") as port:
        yield port


def answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        return ask(port)[0] == 200
    return False


def ask(port: int, method: str = "GET", path: str = "/", body=None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def connected(port: int, sent: bytes) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(10)
    client.connect(("127.0.0.1", port))
    client.sendall(sent)
    return client


def read(client: socket.socket) -> bytes:
    """Until the other end closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while data := client.recv(1_000_000):
            found += data
    return found


@pytest.mark.parametrize(("count", "slow"), [*((24, slow) for slow in SLOW), *((200, slow) for slow in list(SLOW)[:5])])
def test_slow_clients_hold_no_threads(server, slow, count):
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(connected(server, SLOW[slow]))
        begun = time.monotonic()
        for _ in range(5):
            assert ask(server, "POST", "/", b"x" * 1000) == (200, b"1000\n")
        assert time.monotonic() - begun < 3


def test_who_is_too_slow_loses_the_connection(hasty):
    with contextlib.ExitStack() as stack:
        clients = {slow: stack.enter_context(connected(hasty, sent)) for slow, sent in SLOW.items()}
        time.sleep(2)
        for slow, client in clients.items():
            assert len(read(client)) < 3_000_000, slow


@pytest.mark.parametrize("size", [0, 1, 2**20, 2**20 + 1, 5_000_000])
def test_a_body_arrives_whole_however_it_is_cut(server, size):
    head = HEAD + f"Content-Length: {size}\r\nConnection: close\r\n\r\n".encode()
    sent = head + b"x" * size
    with connected(server, b"") as client:
        for start in (0, 10, len(head) - 3, len(head) - 1, len(head) + size // 2):
            end = {0: 10, 10: len(head) - 3, len(head) - 3: len(head) - 1}.get(start, len(sent))
            client.sendall(sent[start : min(end, len(head) + size // 2) if start < len(head) else end])
            time.sleep(0.02)
        assert f"\r\n{size}\n\r\n".encode() in read(client)


def test_a_large_answer_waits_for_who_reads_it_slowly(server):
    with connected(server, b"GET /?5000000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as client:
        time.sleep(0.5)
        found = read(client)
    assert found.count(b"xxxxx") == 1_000_000 and found.endswith(b"\r\n0\r\n\r\n")


def test_who_sends_more_than_is_read_still_gets_the_answer(server):
    assert ask(server, "POST", "/unread", b"x" * 30_000_000) == (200, b"0\n")


def test_requests_that_come_together_are_answered_in_turn(server):
    last = HEAD + b"Connection: close\r\nContent-Length: 1\r\n\r\nx"
    with connected(server, (HEAD + SMALL + b"x" * 1000) * 3 + last) as client:
        found = read(client)
    assert [found.count(b"\r\n1000\n\r\n"), found.count(b"\r\n1\n\r\n"), found.count(b"200 OK")] == [3, 1, 4]


@pytest.mark.parametrize(
    ("path", "length", "asked"), [("/", 1000, True), ("/", 2 * 10**6, True), ("/unread", 2 * 10**6, False)]
)
def test_a_client_that_waits_is_asked_for_its_body_once_it_is_wanted(server, path, length, asked):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\n"
    with connected(server, f"{head}Content-Length: {length}\r\n\r\n".encode()) as client:
        assert client.recv(12) == (b"HTTP/1.1 100" if asked else b"HTTP/1.1 200")
        client.sendall(b"x" * length)
        assert read(client).count(b"HTTP/1.1") == asked


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000, b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", b"400"),
        (HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: -1\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: 1, 1\r\n\r\nx", b"400"),
        (HEAD + b"Content-Length: \xb2\r\n\r\nxx", b"400"),
        (HEAD + b"Content-Length : 1\r\n\r\nx", b"400"),
        (HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"\r\n\r\n", b"400"),
    ],
)
def test_what_is_no_request_is_refused_and_what_follows_is_not_read(server, sent, status):
    with connected(server, sent + SECOND) as client:
        found = read(client)
    assert found.startswith(b"HTTP/1.1 " + status) and found.count(b"HTTP/1.1") == 1


NAMELESS = [
    "GET /join/CANARY/?PROLIFIC_PID=CANARY&source=é HTTP/1.1\r\n\r\n",
    "GET  /judge/CANARY/ HTTP/1.1\r\n\r\n",
    "GET /CANARY CANARY CANARY: CANARY\r\n\r\n",
    "get: CANARY / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nCookie CANARY\r\n\r\n",
    "GET / HTTP/1.1\r\nExpect: CANARY\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: CANARY\r\n\r\n",
]


def test_the_log_does_not_say_who_sent_what_is_no_request(tmp_path, capfd):
    with serving(tmp_path / "log") as port:
        for sent in NAMELESS:
            with connected(port, sent.encode()) as client:
                assert read(client)[9:12] in (b"400", b"417", b"501")
    logged = capfd.readouterr().err
    assert "CANARY" not in logged and "ip=" not in logged
    assert logged.count("WARNING Invalid request from a client: ") == len(NAMELESS)


def test_head_is_answered_without_a_body_and_without_a_line_in_the_log(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [logging.StreamHandler()])
    with serving(tmp_path / "log") as port:
        assert ask(port, "HEAD") == (200, b"")
    assert "no-body" not in capfd.readouterr().err


@pytest.mark.parametrize("padding", [0, 1, 18, 300])
@pytest.mark.parametrize("before", [b"", b"\r\n", SECOND])
def test_a_request_within_a_body_is_no_request(server, before, padding):
    """However the length is written: nobody else's answer follows."""
    head = HEAD + f"Content-Length:{'0' * padding}{len(SECOND)}\r\nConnection: close\r\n\r\n".encode()
    with connected(server, before + head + SECOND) as client:
        found = read(client)
    assert found.count(b"HTTP/1.1") == 1 + (before == SECOND) and f"\r\n{len(SECOND)}\n\r\n".encode() in found


def test_a_body_that_nobody_reads_ends_the_connection(server):
    with connected(
        server, b"GET /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n" + SECOND
    ) as client:
        found = read(client)
    assert found.count(b"HTTP/1.1") == 1 and b"Connection: close" in found


def test_an_old_client_is_not_asked_for_its_body(server):
    head = HEAD.replace(b"1.1", b"1.0") + b"Expect: 100-continue\r\n"
    with connected(server, head + SMALL) as client:
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(10)
        client.sendall(b"x" * 1000)
        assert b"200 OK" in read(client)


def test_who_waits_for_a_thread_too_long_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(buffering, "QUEUE_SECONDS", 0.5)
    with serving(tmp_path / "log") as port, contextlib.ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(connected(port, SLOW["half a large body"]))
        with connected(port, HEAD + LARGE) as client:
            assert read(client).startswith(b"HTTP/1.1 503")


@pytest.mark.parametrize(("name", "most"), [("MOST_HELD", 500_000), ("worker_connections", 50)])
def test_when_no_more_fits_those_that_wait_longest_go(tmp_path, monkeypatch, name, most):
    monkeypatch.setattr(buffering, "MOST_HELD", most if name == "MOST_HELD" else 10**9)
    if name == "worker_connections":
        monkeypatch.setattr(buffering.Worker, "init_process", fewer(buffering.Worker.init_process, most))
    with serving(tmp_path / "log") as port, contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(connected(port, HEAD + b"X: " + b"x" * 8_000 + b"\r\nY: " + b"y" * 2_000))
            for _ in range(100)
        ]
        assert ask(port)[0] == 200
        assert not read(clients[0]), "its connection is closed"
        clients[-1].sendall(b"\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in read(clients[-1])


def fewer(init_process, most: int):
    def begin(worker) -> None:
        worker.worker_connections = most
        init_process(worker)

    return begin
