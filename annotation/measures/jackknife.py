"""The 95% interval of agreement over items: Wilson's, with the jackknife's variance. Pure.

The variance comes from leaving out each item in turn (Tukey 1958). A coefficient from `least` to 1 is treated as a
share p of that range, and p (1 − p) / variance as the number of independent items behind it, times (1.96 / t)² (Korn
and Graubard 1998). Wilson's interval stays within the range and holds near its ends, where disagreements are too few
for a bootstrap. If all items are alike, one more item, on which people differ, is added for the variance.

docs/reference/measures.md has the formulas, docs/design/evidence.md how often the intervals hold.
"""

import math

import numpy as np

from annotation.measures.coefficients import Coefficient
from annotation.measures.exact_tests import student_t_95
from annotation.measures.types import Array
from benchmarks.metrics.base import Z, wilson

Span = tuple[float, float]
INTERVAL_METHOD = "Wilson’s, with the jackknife’s variance"  # as pages, reports and cards name it
ROUNDING = 1e-24  # rounding error in a variance that is 0
_NORMAL = 200  # from this many items on, t is 1.96 to within 0.6%


def interval(coefficient: Coefficient, counts: Array, times: Array) -> Span | None:
    """Return the interval for patterns of label counts (P × L), each occurring `times` (P); None for fewer than two
    items, or if the coefficient is undefined.
    """
    more = one_more(times @ counts, int(counts.sum(axis=1).max(initial=2)))
    return interval_of_parts(coefficient, coefficient.parts(counts), times, coefficient.parts(more))


def interval_of_parts(coefficient: Coefficient, parts: Array, times: Array, more: Array) -> Span | None:
    """Return the interval, from each pattern's contribution `parts` (P × F) to the coefficient's sums and its count
    `times` (P); `more` (1 × F) is the contribution of one more, disputed item.
    """
    items, (value,) = int(times.sum()), coefficient.of((times @ parts)[None])
    if items < 2 or math.isnan(value):
        return None
    effective = _effective(coefficient, parts, times)
    if effective is None:
        effective = _effective(coefficient, np.vstack([parts, more]), np.append(times, 1)) or items
    return span(float(value), effective, items, coefficient.least)


def span(value: float, effective: float, items: int, least: float = -1.0) -> Span:
    """Return Wilson's interval of a coefficient from `least` to 1, for `effective` independent items out of `items`."""
    t, width = (Z if items > _NORMAL else student_t_95(items - 1)), 1 - least
    effective *= (Z / t) ** 2
    low, high = wilson(min(1.0, max(0.0, (value - least) / width)) * effective, effective)
    return (least, 1.0) if low is None or high is None else (least + width * low, least + width * high)


def one_more(totals: Array, size: int) -> Array:
    """Return the label counts of an item with `size` judgments, half for the most frequent label, half for the next."""
    counts = np.zeros((1, max(2, len(totals))), dtype=int)
    first, second = np.argsort(-np.append(totals, [0, 0]), kind="stable")[:2]
    counts[0, second] = size // 2
    counts[0, first] = size - size // 2
    return counts


def _effective(coefficient: Coefficient, parts: Array, times: Array) -> float | None:
    """Return how many independent items would make a share vary as much; None if no item makes a difference."""
    items, sums = times.sum(), times @ parts
    (value,) = coefficient.of(sums[None])
    without = coefficient.of(sums - parts)
    away = np.where(np.isnan(without), value, without)
    away = away - times @ away / items
    variance = (items - 1) / items * (times @ away**2)
    return None if variance <= ROUNDING else max(0.0, float((value - coefficient.least) * (1 - value) / variance))
