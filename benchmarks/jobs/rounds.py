"""Recurring tasks of the worker's main process, in separate threads because jobs may take hours."""

import logging
import threading
import time
from collections.abc import Callable

from django.db import Error, connection

from benchmarks.storage.files import Unavailable

KEPT = 2  # seconds; tasks with a shorter interval keep their database connection
log = logging.getLogger(__name__)


def start(act: Callable[[], object], *, every: float, what: str) -> None:
    """Call `act` at this interval as long as the process lives. `what`: for the log's "Could not …"."""
    threading.Thread(target=go_round, args=(act,), kwargs={"every": every, "what": what}, daemon=True).start()


def go_round(act: Callable[[], object], *, every: float, what: str) -> None:
    while True:
        time.sleep(every)
        failed = True
        try:
            act()
            failed = False
        except (Error, Unavailable) as error:  # the database or the storage is down, and will come back
            log.warning("Could not %s: %s", what, error)
        except Exception:
            log.exception("Could not %s", what)
        finally:
            if failed or every > KEPT:
                connection.close()
