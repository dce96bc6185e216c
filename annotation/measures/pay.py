"""Pay for active time, each hour at the rate in force at the time. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from annotation.measures.judgments import Judgments

_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Pay:
    """The hourly rate `now`, and `earlier` rates in order with their ends (in microseconds)."""

    now: float
    earlier: tuple[tuple[int, float], ...] = ()

    @classmethod
    def of(cls, study: Mapping[str, Any]) -> "Pay":
        """Read a study's `pay_per_hour` (None if not public) and `earlier_pay`, if it has changed."""
        earlier = ((datetime.fromisoformat(until), rate) for until, rate in study.get("earlier_pay", ()))
        micro = tuple((round(until.timestamp() * 1_000_000), rate) for until, rate in earlier)
        return cls(float(study["pay_per_hour"] or 0), micro)

    def earned(self, rows: Judgments, hours: float) -> float:
        """Return the pay for the active time of these judgments, `hours` in total."""
        if not self.earlier:
            return hours * self.now
        rates = [*(rate for _, rate in self.earlier), self.now]
        which = np.searchsorted([until for until, _ in self.earlier], rows.at, side="right")
        return math.fsum(np.bincount(which, rows.active_ms, len(rates)) / 3_600_000 * rates)

    def between(self, first: int, last: int) -> float:
        """Return the pay for the whole time between two moments, in microseconds."""
        ends = [min(max(until, first), last) for until, _ in self.earlier]
        rates = [*(rate for _, rate in self.earlier), self.now]
        spans = zip([first, *ends], [*ends, last], rates, strict=True)
        return math.fsum((end - begin) / _HOUR * rate for begin, end, rate in spans)
