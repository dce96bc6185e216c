"""Work of the server's worker: wait for it, follow it, or cancel it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from winnow_client.errors import JobFailed, StillRunning, problems_of
from winnow_client.handles import Handle
from winnow_client.transport import JsonObject, Transport, sleep

FINISHED = {"done", "failed", "cancelled"}
Made = TypeVar("Made")


@dataclass(frozen=True)
class Progress:
    """`state`: queued, running, done, failed or cancelled. `total` is None while unknown."""

    state: str
    phase: str
    done: int
    total: int | None


class Job(Handle, Generic[Made]):
    """The result of `wait=False`. The work continues when your script ends."""

    def __init__(self, transport: Transport, facts: JsonObject, made: Callable[[JsonObject], Made], rows: str = ""):
        """`rows`: the file that the client wrote from the caller's rows, whose name is unknown to them."""
        super().__init__(transport, facts["id"], facts["title"])
        self._facts, self._made, self._rows = facts, made, rows

    def progress(self) -> Progress:
        """Fetch its current progress."""
        if self._facts["state"] not in FINISHED:
            self._facts = self._transport.get(f"jobs/{self.id}/")
        return Progress(*(self._facts[name] for name in Progress.__dataclass_fields__))

    def cancel(self) -> None:
        """End it as soon as possible, without storing any of it. A job that has finished does not change."""
        if self.progress().state not in FINISHED:
            self._facts = self._transport.post(f"jobs/{self.id}/cancel/")

    def result(self, timeout: float | None = None) -> Made:
        """Wait for it, and return its result.

        Raises JobFailed, or StillRunning after `timeout` seconds: it then continues, and you can call this again.
        """
        until, pause = None if timeout is None else time.monotonic() + timeout, 0.1
        try:
            with self._transport.bar(self.name, None, bytes=False) as bar:
                while (now := self.progress()).state not in FINISHED:
                    bar.total, bar.n = now.total, now.done
                    bar.set_postfix_str(now.phase)
                    if until is not None and time.monotonic() >= until:
                        raise StillRunning(f"“{self.name}” is still running after {timeout:g} s. {self._how_to_go_on}")
                    sleep(pause if until is None else min(pause, max(0.0, until - time.monotonic())))
                    pause = min(3.0, 1.5 * pause)
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(f"“{self.name}” continues on the server. {self._how_to_go_on}")
            raise
        if now.state != "done":
            said = f"“{self.name}” was cancelled." if now.state == "cancelled" else f"“{self.name}” failed."
            problems = problems_of(self._facts["problems"], self._rows)
            raise JobFailed(said, problems[0].code if problems else "", problems, self._facts["problem_count"])
        return self._made(self._facts["report"])

    @property
    def _how_to_go_on(self) -> str:
        return f"Run the same call again to wait for it, or `server.job({self.id}).cancel()` to end it."
