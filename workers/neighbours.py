"""Services a process uses besides its database: Redis, the object storage, the login provider, host names.

A hanging neighbour must not block request threads. Each is asked in separate threads, which gives everything a
deadline: names that do not resolve, connections, answers that arrive a byte at a time. After a missed deadline, nobody
waits for the neighbour until it has answered someone again.
"""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import TypeVar

PAUSE = 2.0  # seconds until a neighbour that nobody waits for is tried again
PATIENCE = 0.5  # seconds to wait for a free thread

Made = TypeVar("Made")
_serving = threading.local()


def serve(on: bool) -> None:
    """Set whether this thread is serving a request, and so must not wait long."""
    _serving.on = on


def is_serving() -> bool:
    return getattr(_serving, "on", False)


class Unresponsive(Exception):
    """The neighbour did not answer in time, or nobody waits for it. The requested action may still happen."""


class Neighbour:
    """`seconds` to wait for an answer, with `at_once` threads at most. The calls themselves have longer timeouts, until
    which their threads may stay."""

    def __init__(self, name: str, *, seconds: float, at_once: int):
        self.name, self.seconds, self.at_once = name, seconds, at_once
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Forget its state: in a new process, and between tests."""
        self._places = threading.Semaphore(self.at_once)
        self._lock = threading.Lock()
        self._silent = False
        self._next_try = self._crowded_until = 0.0

    def ask(self, act: Callable[[], Made], seconds: float = 0) -> Made:
        """Return or raise the result of `act`, from another thread. Raises Unresponsive after `seconds`."""
        limit = seconds or self.seconds
        if self._silent:
            self._try_again(act, limit)
            raise Unresponsive(f"{self.name} does not answer.")
        if not self._places.acquire(timeout=PATIENCE if time.monotonic() >= self._crowded_until else 0):
            self._crowded_until = time.monotonic() + 1  # others that would wait in vain do not wait
            raise Unresponsive(f"{self.name} is slow.")
        answer = self._begin(act, limit, self._places.release)
        try:
            return answer.result(limit)
        except Late:
            if answer.done():  # `act` itself raised a TimeoutError
                return answer.result()
        with self._lock:
            self._silent, self._next_try = True, time.monotonic() + PAUSE
        raise Unresponsive(f"{self.name} does not answer.")

    def _try_again(self, act: Callable[[], object], limit: float) -> None:
        """Ask without waiting, one at a time."""
        with self._lock:
            if time.monotonic() < self._next_try:
                return
            self._next_try = float("inf")
        self._begin(act, limit, self._tried)

    def _tried(self) -> None:
        self._next_try = time.monotonic() + PAUSE
        if not self._silent:  # it is back: calls waiting on old connections do not count
            self.forget()

    def _begin(self, act: Callable[[], Made], limit: float, ended: Callable[[], None]) -> "Future[Made]":
        """Run in a separate thread, which does not keep the process from ending."""
        answer: Future[Made] = Future()

        def work() -> None:
            begun, error, made = time.monotonic(), None, None
            try:
                made = act()
            except BaseException as raised:
                error = raised
            if time.monotonic() - begun < limit:  # also with an error: quick answers do not block anybody
                self._silent = False
            ended()
            answer.set_exception(error) if error else answer.set_result(made)  # type: ignore[arg-type]

        threading.Thread(target=work, name=self.name, daemon=True).start()
        return answer
