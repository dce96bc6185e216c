"""A copy of the test's process that is killed (kill -9) in the midst of its work."""

import os
import signal
from collections.abc import Callable

from django.db import connections

from config import processes


def killed(work: Callable[[], object], owner: object, name: str) -> None:
    """A fork does this work until it calls `owner`'s function of that name. Its connections to servers are its own."""
    connections.close_all()

    def work_until_killed() -> None:
        connections.close_all()  # those from before there was a browser: a thread with a loop, as here, has others
        setattr(owner, name, lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL))
        work()

    assert processes.fork(work_until_killed, dies_by=signal.SIGKILL).wait() == -signal.SIGKILL
