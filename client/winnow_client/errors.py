"""The client's exceptions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, with its `remedy`. `row` counts from 1, and is None if it does not concern a row."""

    code: str
    file: str
    field: str
    row: int | None
    remedy: str

    def __str__(self) -> str:
        row = "" if self.row is None else f"row {self.row}"
        place = ", ".join(part for part in (self.file, row, self.field) if part)
        return f"{self.code} ({place}): {self.remedy}" if place else f"{self.code}: {self.remedy}"


class WinnowError(Exception):
    """Base class of the errors raised by this package itself. `code` is stable; `problems` has each reason."""

    def __init__(self, message: str, code: str = "", problems: Iterable[Problem] = (), count: int = 0):
        self.code, self.problems = code, list(problems)
        shown = self.problems[:MOST_SHOWN]
        count = max(count, len(self.problems))
        more = [f"… and {count - len(shown):,} more"] if count > len(shown) else []
        super().__init__("\n".join([message, *(f"- {line}" for line in [*shown, *more])]))


class ApiError(WinnowError):
    """The server has refused a request with this HTTP status. A refused request does not change anything."""

    def __init__(self, status: int, code: str, detail: str, problems: Iterable[Problem] = ()):
        self.status, self.detail = status, detail
        problems = list(problems)
        alone = len(problems) == 1 and problems[0].remedy in detail
        super().__init__(f"{code}: {detail}", code, () if alone else problems)
        self.problems = problems


class JobFailed(WinnowError):
    """The server's worker could not do this work, and has not stored any of it."""


class Unreachable(WinnowError):
    """The server did not give a usable answer for as long as the client tried."""


class StillRunning(WinnowError, TimeoutError):
    """Work of the server's worker has not ended within your `timeout`, but continues."""


def problems_of(found: Iterable[Mapping[str, Any]], unnamed: str = "") -> list[Problem]:
    """Return the errors of an answer, or the problems of a job, without the name of this file."""
    whole = [{**one, "file": "" if one["file"] == unnamed else one["file"]} for one in found]
    return [Problem(*(one[name] for name in Problem.__slots__)) for one in whole]
