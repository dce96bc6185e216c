"""gunicorn's threaded worker with a buffer between its threads and the clients: a thread gets a request once all of it
has arrived, and leaves behind what a client does not read at once. Slow clients hold connections, but not threads.

Only a body larger than BUFFERED_BODY (settings.py) is read by a thread while it arrives, by at most half of the
threads. Such bodies are for people who have logged in (bodies.py). A request that ends too late loses its connection.
"""

import io
import resource
import select
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from gunicorn.http import get_parser, wsgi
from gunicorn.http.body import LengthReader
from gunicorn.http.errors import InvalidHeader
from gunicorn.http.message import Request
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from config.logs import Redacted
from config.operations import share_numbers

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10  # for a request's whole head
BODY_SECONDS = 30  # for a whole buffered body, and between two pieces of another one
SLOWEST = 4096  # bytes per second, for a body that is not buffered
SEND_SECONDS = 120  # without any progress: the kernel buffers megabytes, and rarely reports progress
LINGER_SECONDS = 10  # for the client to read a refusal before it notices that its body is not read
PIECE = 64 * 1024
MOST_WAITING = 4 * PIECE  # bytes of an answer; more is generated once the client has read these
MOST_HELD = 64 * 2**20  # bytes of incomplete requests
SPARE_FILES = 128  # open files of a worker that are not connections
LONGEST_BODY = 2**60  # bytes; longer lengths are not treated as numbers
QUEUE_SECONDS = 60  # for a thread to read an unbuffered body
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LONG_HEAD = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    b"The headers of this request are too long. Delete this site's cookies, and try again.\n"
)


BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\nContent-Type: text/plain\r\n\r\n"
    b"Too many others are sending files. Try again in a minute.\n"
)


class Source:
    """A request as gunicorn's parser reads it: its head, and after that (`begin`) what has arrived of its body and then
    the rest of a streamed one. A body without a length is refused unread."""

    def __init__(self, sock: socket.socket, head: bytes):
        self.sock, self.arrived = sock, io.BytesIO(head)
        self.left, self.expects, self.deadline = 0, False, 0.0

    def begin(self, arrived: bytes, left: int, expects: bool) -> None:
        self.arrived, self.left, self.expects = io.BytesIO(arrived), left, expects

    def recv(self, size: int) -> bytes:
        """Read bytes. Raises TimeoutError."""
        if data := self.arrived.read(size):
            return data
        if not self.left:
            return b""
        self.deadline = self.deadline or time.monotonic() + BODY_SECONDS + self.left / SLOWEST
        if self.expects:
            self.sock.send(CONTINUE)
            self.expects = False
        waiting = select.poll()
        waiting.register(self.sock, select.POLLIN)
        seconds = min(BODY_SECONDS, self.deadline - time.monotonic())
        if not waiting.poll(max(0, seconds * 1000)):
            raise TimeoutError("The request's body does not arrive.")
        data = self.sock.recv(min(size, self.left))
        self.left -= len(data)
        return data


class Head(NamedTuple):
    """A request's head as read by gunicorn's parser, which alone decides where the body ends: parsing it twice might
    let a body pass for the next request. `streamed`: a thread reads the body while it arrives."""

    size: int
    source: Source
    request: Request | Exception  # or why there is no request
    length: int = 0  # of the body
    streamed: bool = False
    expects: bool = False  # the client waits to be asked for the body

    @classmethod
    def of(cls, conn: "Connection", size: int) -> "Head":
        source = Source(conn.sock, bytes(conn.received[:size]))
        try:
            request = next(get_parser(conn.cfg, source, conn.client))
            reader = request.body.reader
            if not isinstance(reader, LengthReader):
                return cls(size, source, request, streamed=True)
            if reader.length > LONGEST_BODY:
                raise InvalidHeader("CONTENT-LENGTH")
        except Exception as error:  # answered in the thread
            return cls(size, source, error)
        streamed = reader.length > settings.BUFFERED_BODY
        return cls(size, source, request, reader.length, streamed, request._expected_100_continue)

    def parsed(self) -> Iterator[Request]:
        """Yield the request in place of gunicorn's parser."""
        if isinstance(self.request, Exception):
            raise self.request
        yield self.request


class Answer(NamedTuple):
    """A response that is not fully written yet."""

    request: Any
    response: wsgi.Response
    environ: dict[str, Any]
    made: Any  # by the application
    parts: Iterator[bytes]
    begun: datetime


class Connection(TConn):
    """Used by one thread at a time: by the worker's loop while it is watched, otherwise by one of the pool."""

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any):
        super().__init__(cfg, sock, client, server)
        self.initialized = True  # instead of TConn's own wait for the first byte
        self.received, self.searched = bytearray(), 0
        self.head: Head | None = None  # the arriving request's, once complete
        self.whole = 0  # bytes of that request that must arrive before it starts
        self.waiting = bytearray()  # to be sent
        self.answer: Answer | None = None
        self.streamed = self.keeps = False
        self.deadline = 0.0

    def sendall(self, data: bytes) -> None:
        """Buffer an answer from gunicorn without waiting."""
        self.waiting += data
        if len(self.waiting) >= PIECE:
            self.push()

    def push(self) -> int:
        """Send as much as the client accepts now; return the number of bytes."""
        pushed = 0
        try:
            while self.waiting:
                with memoryview(self.waiting) as view, view[:MOST_WAITING] as piece:
                    sent = self.sock.send(piece)
                del self.waiting[:sent]
                pushed += sent
        except BlockingIOError:
            pass
        return pushed


class Worker(ThreadWorker):
    worker_connections: int

    @classmethod
    def setup(cls) -> None:
        """Set up the class; called by gunicorn in its first process."""
        share_numbers()

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for handler in (*self.log.error_log.handlers, *self.log.access_log.handlers):
            handler.setFormatter(Redacted(settings.LOG_JSON))
        self.watched: dict[Connection, Callable[[Connection], None]] = {}  # the longest first
        self.queued: deque[Connection] = deque()  # for a thread that may read a streamed body
        self.streaming = 0
        self.held = 0  # bytes of requests
        self.most_streaming = max(1, self.cfg.threads // 2)
        self.looked_at = 0.0
        self.stopping_at: float | None = None

    def init_process(self) -> None:
        """Raise the limit on open files: each connection is one, and the default limit is 1,024 per process."""
        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.worker_connections + SPARE_FILES
        if files < wanted:
            files = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
        self.worker_connections = min(self.worker_connections, files - SPARE_FILES)
        super().init_process()

    # From the connection to the thread

    def accept(self, listener: socket.socket) -> None:
        try:
            sock, client = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        self._make_room()
        self._await_request(Connection(self.cfg, sock, client, listener.getsockname()))

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """Handle a new request on a kept connection."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await_request(conn)

    def _await_request(self, conn: Connection) -> None:
        conn.deadline = time.monotonic() + HEAD_SECONDS
        self._receive(conn)

    def _receive(self, conn: Connection) -> None:
        try:
            data = conn.sock.recv(PIECE)
        except BlockingIOError:
            return self._watch(conn, selectors.EVENT_READ, self._receive)
        except OSError:
            return self._drop(conn)
        if not data:
            return self._drop(conn)
        conn.received += data
        self.held += len(data)
        self._make_room()
        if conn.sock.fileno() >= 0:
            self._start_if_whole(conn)

    def _make_room(self) -> None:
        """Drop connections that have kept us waiting longest while there are too many, or they have sent too much."""
        while self.nr_conns >= self.worker_connections or self.held > MOST_HELD:
            waiting = (conn for conn, act in self.watched.items() if act != self._send)
            if (longest := next(waiting, None)) is None:
                return
            self._drop(longest)

    def _start_if_whole(self, conn: Connection) -> None:
        if conn.head is None and not self._read_head(conn):
            if len(conn.received) <= HEAD_BYTES:
                return self._watch(conn, selectors.EVENT_READ, self._receive)
            return self._refuse(conn, LONG_HEAD)
        if len(conn.received) < conn.whole:
            return self._watch(conn, selectors.EVENT_READ, self._receive)
        self._unwatch(conn)
        self._start(conn)

    def _read_head(self, conn: Connection) -> bool:
        """Read the head; return whether it has arrived completely."""
        end = conn.received.find(b"\r\n\r\n", max(0, conn.searched - 3)) + 4
        conn.searched = len(conn.received)
        if end < 4:
            return False
        conn.head = head = Head.of(conn, end)
        conn.whole = end if head.streamed else end + head.length
        if not head.streamed and head.length:
            conn.deadline = time.monotonic() + BODY_SECONDS
            if head.expects and len(conn.received) == end:
                conn.waiting += CONTINUE
                with suppress(OSError):
                    conn.push()
        return True

    def _start(self, conn: Connection) -> None:
        assert conn.head
        head, conn.head, conn.searched = conn.head, None, 0
        taken = len(conn.received) if head.streamed else conn.whole
        arrived = bytes(conn.received[head.size : min(taken, head.size + head.length)])
        head.source.begin(arrived, head.length - len(arrived), head.expects and not arrived)
        self._forget(conn, taken)
        conn.parser, conn.streamed = head.parsed(), head.streamed
        if conn.streamed and self.streaming >= self.most_streaming:
            conn.deadline = time.monotonic() + QUEUE_SECONDS
            self.queued.append(conn)
        else:
            self.streaming += conn.streamed
            self.enqueue_req(conn)

    def _refuse(self, conn: Connection, answer: bytes) -> None:
        """Refuse without a thread; the connection ends."""
        conn.waiting += answer
        self._forget(conn, len(conn.received))
        conn.keeps = False
        self._go_on(conn)

    def _forget(self, conn: Connection, size: int) -> None:
        del conn.received[:size]
        self.held -= size

    # In the thread

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Let the application answer; return whether the connection can be kept."""
        conn.sock.setblocking(False)
        self.cfg.pre_request(self, req)
        begun = datetime.now()
        req._expected_100_continue = False  # either done, or Source does it once the application reads the body
        response, environ = wsgi.create(req, conn, conn.client, conn.server, self.cfg)
        environ["wsgi.multithread"] = True
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if (
            not self.alive
            or not self.cfg.keepalive
            or conn.streamed
            or len(self.keepalived_conns) >= self.max_keepalived
        ):
            response.force_close()
        made = self.wsgi(environ, response.start_response)
        conn.answer = Answer(req, response, environ, made, iter(made), begun)
        return self._write(conn)

    def _write(self, conn: Connection) -> bool:
        """Write the answer, until the client has to read some of it."""
        answer = conn.answer
        assert answer
        try:
            for part in answer.parts:
                answer.response.write(b"" if answer.request.method == "HEAD" else part)  # gunicorn logs dropped bytes
                if len(conn.waiting) >= MOST_WAITING:
                    return not answer.response.should_close()
            answer.response.close()
            conn.push()
            self._end_answer(conn, answer)
        except BaseException as error:
            if conn.answer:
                self._end_answer(conn, answer)
            conn.waiting.clear()
            if isinstance(error, OSError) or not answer.response.headers_sent:
                raise
            self.log.exception("Error handling request")
            return False
        return not answer.response.should_close()

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        """Return `keepalive`: nothing is left to read, as the body is with its request's Source."""
        return keepalive

    def _end_answer(self, conn: Connection, answer: Answer) -> None:
        conn.answer = None
        self.log.access(answer.response, answer.request, answer.environ, datetime.now() - answer.begun)
        if hasattr(answer.made, "close"):
            answer.made.close()
        self.cfg.post_request(self, answer.request, answer.environ, answer.response)

    # From the thread to the client

    def finish_request(self, conn: Connection, done: Any) -> None:
        if conn.streamed:
            conn.streamed = False
            self.streaming -= 1
            if self.queued:
                self.streaming += 1
                self.enqueue_req(self.queued.popleft())
        try:
            conn.sock.setblocking(False)
            conn.keeps = not done.cancelled() and bool(done.result())
        except Exception:
            return self._drop(conn)
        self._go_on(conn)

    def _go_on(self, conn: Connection) -> None:
        if conn.waiting:
            conn.deadline = time.monotonic() + SEND_SECONDS
            self._watch(conn, selectors.EVENT_WRITE, self._send)
        elif conn.answer:
            self._unwatch(conn)
            more = self.tpool.submit(self._write, conn)
            more.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))
        elif not conn.keeps:
            self._take_leave(conn)
        elif conn.received:
            conn.deadline = time.monotonic() + HEAD_SECONDS
            self._start_if_whole(conn)
        else:
            self._keep(conn)

    def _send(self, conn: Connection) -> None:
        try:
            if conn.push():
                conn.deadline = time.monotonic() + SEND_SECONDS
        except OSError:
            return self._drop(conn)
        if not conn.waiting:
            self._go_on(conn)

    def _keep(self, conn: Connection) -> None:
        self._unwatch(conn)
        conn.set_timeout()
        if not self.alive:
            conn.timeout = min(conn.timeout, time.monotonic() + STOP_KEEPALIVE_LINGER)
        self.keepalived_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_client_socket_readable, conn))

    def _take_leave(self, conn: Connection) -> None:
        """Close once the client has read the answer: closing earlier would reset the connection if part of a body is
        unread, and the client might not see the answer."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            return self._drop(conn)
        conn.deadline = time.monotonic() + LINGER_SECONDS
        self._watch(conn, selectors.EVENT_READ, self._discard)

    def _discard(self, conn: Connection) -> None:
        try:
            if not conn.sock.recv(PIECE):
                self._drop(conn)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(conn)

    # Connections that wait for their client

    def _watch(self, conn: Connection, event: int, act: Callable[[Connection], None]) -> None:
        before, self.watched[conn] = self.watched.get(conn), act
        if before is None:
            self.poller.register(conn.sock, event, partial(self._act, conn))
        elif before != act:
            self.poller.modify(conn.sock, event, partial(self._act, conn))

    def _act(self, conn: Connection, sock: socket.socket) -> None:
        self.watched[conn](conn)

    def _unwatch(self, conn: Connection) -> None:
        if self.watched.pop(conn, None):
            self.poller.unregister(conn.sock)

    def _drop(self, conn: Connection) -> None:
        self._unwatch(conn)
        if conn.answer:
            with suppress(Exception):
                self._end_answer(conn, conn.answer)
        self._forget(conn, len(conn.received))
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Drop clients that are too slow."""
        now = time.monotonic()
        if not self.alive and self.stopping_at is None:
            self.stopping_at = now
        if now - self.looked_at < 1:
            return
        self.looked_at = now
        late = [conn for conn in self.watched if conn.deadline < now]
        if self.stopping_at is not None and now - self.stopping_at > STOP_KEEPALIVE_LINGER:
            late = [conn for conn in self.watched if conn.deadline < now or not conn.waiting]
        for conn in late:
            self._drop(conn)
        while self.queued and self.queued[0].deadline < now:
            conn = self.queued.popleft()
            conn.streamed = False
            self._refuse(conn, BUSY)
