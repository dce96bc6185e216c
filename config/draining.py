"""gunicorn's configuration: a stopping web server leaves its load balancer first.

From SIGTERM on, `/healthz` answers 503 for WINNOW_DRAIN seconds while everything else is served as before, so that a
balancer sends its requests elsewhere. Only then does gunicorn close its port and finish the requests in progress. A
second SIGTERM skips the wait.
"""

import mmap
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter

_shared: mmap.mmap | None = None  # between gunicorn's first process, which gets the signal, and its forks


def is_on() -> bool:
    return _shared is not None and _shared[0] == 1


def when_ready(server: "Arbiter") -> None:
    """Set up draining; called by gunicorn before it forks. Exits if WINNOW_DRAIN is not a number of seconds."""
    given = os.environ.get("WINNOW_DRAIN") or "0"
    if not given.isdecimal():
        raise SystemExit(f"WINNOW_DRAIN must be a number of seconds, not {given!r}.")
    if seconds := int(given):
        drain_first(seconds)


def drain_first(seconds: float) -> None:
    """Delay SIGTERM by `seconds`, and report unhealthy in the meantime."""
    global _shared
    stop, shared = signal.getsignal(signal.SIGTERM), mmap.mmap(-1, 1)
    assert callable(stop)
    _shared = shared

    def drain(signum: int, frame: object) -> None:
        if is_on():
            stop(signum, None)
            return
        shared[0] = 1
        signal.setitimer(signal.ITIMER_REAL, seconds)

    signal.signal(signal.SIGALRM, lambda signum, frame: stop(signal.SIGTERM, None))
    signal.signal(signal.SIGTERM, drain)
