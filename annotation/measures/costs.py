"""What a stage costs: so far, and at the end with a range. Pure; docs/reference/measures.md defines the figures."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from annotation.measures import exact_tests
from annotation.measures.counts import JUDGE, NO_ANSWERS, Given, ratio

ONE_ANNOTATOR = "one annotator alone tells nothing of how much they differ"


def cost(rows: Sequence[Given], counted: int, wanted: int, pay_per_hour: float) -> dict:
    """Active time of every judgment, also of checks and of what was taken back, changed or late: that was work too.

    What is still to come takes as long as what was counted did, on average; `range` from the 95 % interval of that.
    """
    active, left = sum(row.active_ms for row in rows) / 60_000, wanted - counted
    each, (low, high, unsure) = ratio(active, counted), span(rows, counted)
    end, least, most = (None if value is None else active + left * value for value in (each, low, high))
    return {
        "active_minutes": active,
        "cost": active / 60 * pay_per_hour,
        "to_come": left,
        "expected_minutes": end,
        "expected_cost": _paid(end, pay_per_hour),
        "range": {
            "minutes_low": least,
            "minutes_high": most,
            "cost_low": _paid(least, pay_per_hour),
            "cost_high": _paid(most, pay_per_hour),
            "reason": unsure,
        },
        "reason": "" if counted else NO_ANSWERS,
    }


def _paid(minutes: float | None, pay_per_hour: float) -> float | None:
    return None if minutes is None else minutes / 60 * pay_per_hour


def span(rows: Iterable[Given], counted: int) -> tuple[float | None, float | None, str]:
    """A 95 % interval of the active minutes that a counted judgment takes: (low, high, why there is none).

    Annotators differ, so they are what is drawn: the ratio of their minutes to their counted judgments with its usual
    standard error (Cochran, Sampling Techniques, 1977, §6.4, of a large population) and Student's t.
    """
    minutes, given = defaultdict(float), Counter()
    for row in rows:
        minutes[row.annotator] += row.active_ms / 60_000
        given[row.annotator] += row.counted and row.kind == JUDGE
    if not counted or len(minutes) < 2:
        return None, None, ONE_ANNOTATOR if counted else NO_ANSWERS
    n, each = len(minutes), sum(minutes.values()) / counted
    squares = math.fsum((minutes[who] - each * given[who]) ** 2 for who in minutes)
    away = exact_tests.student(n - 1) * math.sqrt(squares * n / (n - 1)) / counted
    return max(0.0, each - away), each + away, ""
