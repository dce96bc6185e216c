"""Annotators with the browser's outbox (static/js/judging: outbox.js, send.js, desk.js): what they answer is kept and
sent again under the same key until the server has said that it has it, whatever becomes of connections and tabs.
"""

import json
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection, HTTPException
from random import Random
from urllib.parse import urlencode

DELAYS = [1, 2, 4, 8, 15, 30]  # seconds between tries, as in outbox.js
PATIENCE = 20  # seconds that a request may take, as in outbox.js
LOOK_AGAIN = 3  # seconds after which a page without a screen asks again, as in desk.js
SLOW = 3  # seconds that an answer may take
IDLE = 10  # seconds after which a connection may be closed at the other end
HEADERS = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
CANNOT, PLACES = "cannot_judge", 4
UNDO, EDIT, SKIP, RENEW, CLOSE = "undo", "edit", "skip", "renew", "close"
HABITS = {UNDO: 0.02, EDIT: 0.02, SKIP: 0.01, RENEW: 0.01, CLOSE: 0.02}  # share of turns; the others are answers


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer, as the outbox keeps it.

    `answer` is a place on the screen, or that it cannot be judged; `seen` is the key of the answer that it changes.
    """

    key: str
    lease: str
    answer: str
    reason: str
    active: int
    elapsed: int
    seen: str = ""

    def body(self, have: list[str]) -> list[tuple[str, object]]:
        given = [("cannot_judge", 1), ("reason", self.reason)] if self.answer == CANNOT else [("answer", self.answer)]
        sent = [("key", self.key), ("lease", self.lease), *given, ("active", self.active), ("elapsed", self.elapsed)]
        sent.append(("seen", self.seen))
        return [*sent, *(("have", lease) for lease in have)]


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that was not answered as asked, from when to when (time.monotonic): its status, or an exception."""

    begun: float
    ended: float
    what: str


@dataclass
class Diary:
    """An annotator's memory: every key sent, the server's response to it, and what went wrong."""

    sent: dict[str, dict | None] = field(default_factory=dict)  # an answer's fields; None: an undo
    acknowledged: dict[str, str] = field(default_factory=dict)  # key → receipt, or the lease of an undo
    refused: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    late: list[Failure] = field(default_factory=list)  # requests that took longer than SLOW, answered or not
    times: list[float] = field(default_factory=list)  # of acknowledgements


class NotSent(Exception):
    """`status` if there was a response, but not from Winnow."""

    def __init__(self, status: int | None):
        super().__init__(status)
        self.status = status


class Annotator:
    """One person's browser. `pace()`: seconds to think before the next answer."""

    def __init__(self, port: int, token: str, seed: str, pace: Callable[[], float]):
        self.port, self.home, self.pace = port, f"/judge/{token}/", pace
        self.rng = Random(seed)
        self.diary = Diary()
        self.outbox: list[Entry] = []  # survives a closed tab
        self.tries, self.retry_at = 0, 0.0
        self._open_tab()

    def _open_tab(self) -> None:
        self.queue: list[str] = []
        self.past: list[str] = []
        self.undo_key = str(uuid.uuid4())
        self.given: dict[str, str] = {}  # by lease: the key of the last answer
        self.connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.used, self.kept = 0.0, False

    # Their actions

    def work(self, stop: threading.Event, patience: float = 60) -> None:
        """Judge until `stop`, then wait until everything is sent."""
        while not stop.is_set():
            self._turn(stop)
        deadline = time.monotonic() + patience
        while self.outbox and time.monotonic() < deadline:
            time.sleep(0 if self._flush() else 0.2)
        self.connection.close()

    def _turn(self, stop: threading.Event) -> None:
        if self.outbox and time.monotonic() >= self.retry_at:
            self._flush()
        if not self.queue:
            self._sync()
        if not self.queue:
            stop.wait(LOOK_AGAIN / 2)
            return
        stop.wait(self.pace())
        draw, does = self.rng.random(), "answer"
        for habit, share in HABITS.items():
            if 0 <= draw < share:
                does = habit
            draw -= share
        getattr(self, f"_{does}")()

    def _answer(self) -> None:
        self._add(lease := self.queue.pop(0))
        self.past.append(lease)
        self._flush()

    def _add(self, lease: str) -> None:
        place = self.rng.randint(0, PLACES)  # 0: it cannot be judged, for a reason of its own
        answer, reason = (str(place), "") if place else (CANNOT, f"blurred {self.rng.randrange(10**6)}")
        active = self.rng.randrange(500, 5000)
        elapsed = active + self.rng.randrange(1000)
        entry = Entry(str(uuid.uuid4()), lease, answer, reason, active, elapsed, self.given.get(lease, ""))
        self.given[lease] = entry.key
        self.outbox.append(entry)

    def _edit(self) -> None:
        if self.past:
            self._add(self.rng.choice(self.past[-20:]))
            self._flush()

    def _close(self) -> None:
        """Close the tab just after an answer, which is sent without waiting, and again when the page is back."""
        self._add(self.queue.pop(0))
        for entry in self._oldest():
            self._send_and_go(entry)
        self.connection.close()
        self._open_tab()
        self._sync()

    def _oldest(self) -> list[Entry]:
        """Return each screen's first answer, since one that changes it must not overtake it."""
        return list({entry.lease: entry for entry in reversed(self.outbox)}.values())[::-1]

    def _send_and_go(self, entry: Entry) -> None:
        self.diary.sent[entry.key] = asdict(entry)
        body = urlencode(entry.body([]))
        head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
        request = (
            f"POST {self.home}submit/ HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
        )
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as wire:
                wire.sendall(request.encode())
        except OSError:
            pass  # it is in the outbox

    def _undo(self) -> None:
        if not self._flush():
            return
        self.diary.sent[self.undo_key] = None
        try:
            said = self._post("undo/", [("undo_key", self.undo_key)])
        except NotSent:
            return  # the same key when they press it again
        key, self.undo_key = self.undo_key, str(uuid.uuid4())
        if "refused" in said:
            return self.diary.refused.append(f"undo: {said['kind']}")
        lease = said["again"]["lease"]
        self.diary.acknowledged[key] = lease
        self.past = [one for one in self.past if one != lease]
        self.queue = [lease, *(one for one in self.queue if one != lease)]

    def _skip(self) -> None:
        try:
            said = self._post("skip/", [("lease", self.queue[0]), *(("have", lease) for lease in self.queue)])
        except NotSent:
            return
        del self.queue[0]
        self._take(said)

    def _renew(self) -> None:
        try:
            self._post("renew/", [])
        except NotSent:
            return

    # The outbox

    def _flush(self) -> bool:
        """Send all, one after the other; return whether none is left."""
        failed: set[str] = set()
        while entry := next((one for one in self.outbox if one.lease not in failed), None):
            self.diary.sent[entry.key] = asdict(entry)
            try:
                said = self._post("submit/", entry.body(self.queue))
            except NotSent as why:
                if not why.status:
                    return self._later()
                failed.add(entry.lease)
                continue
            self.tries = 0
            self.outbox.remove(entry)
            self._settled(entry, said)
        return self._later() if failed else True

    def _later(self) -> bool:
        self.retry_at = time.monotonic() + DELAYS[min(self.tries, len(DELAYS) - 1)]
        self.tries += 1
        return False

    def _settled(self, entry: Entry, said: dict) -> None:
        if "refused" in said:
            self.diary.refused.append(f"answer: {said['kind']}")
            return
        self.diary.acknowledged[entry.key] = said["receipt"]
        self.diary.times.append(time.monotonic())
        self._take(said)

    def _sync(self) -> None:
        try:
            said = self._ask("GET", f"{self.home}?{urlencode([('have', lease) for lease in self.queue])}")
        except NotSent:
            return
        if not self.outbox and said["state"] == "screen":
            self.queue = [lease for lease in self.queue if lease in said["held"]]
        self._take(said)

    def _take(self, said: dict) -> None:
        known = {*self.queue, *(entry.lease for entry in self.outbox)}
        self.queue += [screen["lease"] for screen in said["screens"] if screen["lease"] not in known]

    # The network

    def _post(self, path: str, fields: list) -> dict:
        return self._ask("POST", self.home + path, urlencode(fields))

    def _ask(self, method: str, path: str, body: str | None = None) -> dict:
        """Return Winnow's own response, which may be a refusal. Raises NotSent."""
        begun = time.monotonic()
        try:
            return self._asked(method, path, body, begun)
        finally:
            if (took := time.monotonic() - begun) > SLOW:
                self.diary.late.append(Failure(begun, begun + took, f"{took:.1f} s"))

    def _asked(self, method: str, path: str, body: str | None, begun: float) -> dict:
        status, what = None, ""
        if begun - self.used > IDLE:
            self.connection.close()
        try:
            text, status = self._exchange(method, path, body)
            said = json.loads(text)
            if status < 400 or "refused" in said:
                self.used = time.monotonic()
                return said
        except (OSError, HTTPException) as error:
            status, what = None, type(error).__name__
        except ValueError:
            pass
        self.connection.close()
        self.diary.failures.append(Failure(begun, time.monotonic(), what or str(status)))
        raise NotSent(status)

    def _exchange(self, method: str, path: str, body: str | None) -> tuple[bytes, int]:
        """Use the open connection or, if the other end has closed it meanwhile, a new one, as browsers do."""
        try:
            return self._on_the_wire(method, path, body)
        except ConnectionError:
            if not self.kept:
                raise
        self.connection.close()
        return self._on_the_wire(method, path, body)

    def _on_the_wire(self, method: str, path: str, body: str | None) -> tuple[bytes, int]:
        self.kept = self.connection.sock is not None
        self.connection.request(method, path, body, HEADERS)
        answer = self.connection.getresponse()
        self.kept = False  # after the first byte of a response, nothing is repeated
        return answer.read(), answer.status
