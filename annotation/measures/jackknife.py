"""The 95% interval of agreement over items: Wilson's, with the jackknife's variance. Pure.

Agreement without each of the items in turn gives its variance (Tukey 1958). A coefficient from `least` to 1 is taken
for a share p of that range, and p (1 − p) / variance for the number of independent items behind it, times (1.96 / t)²
(Korn and Graubard 1998). Wilson's interval stays within the range and holds near its ends, where there are too few
disagreements for a bootstrap. Where all items are alike, the variance is that with one more item, on which people
differ.

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
ROUNDING = 1e-24  # what may be left of a variance that is 0
_NORMAL = 200  # items, from which on t is 1.96 but for 0.6%


def interval(coefficient: Coefficient, counts: Array, times: Array) -> Span | None:
    """Of patterns of label counts (P × L) that come up so many `times` (P). None for fewer than two items, and where
    the coefficient is not defined.
    """
    more = one_more(times @ counts, int(counts.sum(axis=1).max(initial=2)))
    return interval_of_parts(coefficient, coefficient.parts(counts), times, coefficient.parts(more))


def interval_of_parts(coefficient: Coefficient, parts: Array, times: Array, more: Array) -> Span | None:
    """Of what items add to the sums of the coefficient (P × F), so many `times` each (P); `more` is what one more item
    would add, on which people differ (1 × F).
    """
    items, (value,) = int(times.sum()), coefficient.of((times @ parts)[None])
    if items < 2 or math.isnan(value):
        return None
    effective = _effective(coefficient, parts, times)
    if effective is None:
        effective = _effective(coefficient, np.vstack([parts, more]), np.append(times, 1)) or items
    return span(float(value), effective, items, coefficient.least)


def span(value: float, effective: float, items: int, least: float = -1.0) -> Span:
    """Wilson's interval of a coefficient from `least` to 1, for so many independent items out of `items`."""
    t, width = (Z if items > _NORMAL else student_t_95(items - 1)), 1 - least
    effective *= (Z / t) ** 2
    low, high = wilson(min(1.0, max(0.0, (value - least) / width)) * effective, effective)
    return (least, 1.0) if low is None or high is None else (least + width * low, least + width * high)


def one_more(totals: Array, size: int) -> Array:
    """Label counts of an item with `size` judgments, half of them of the most frequent label, half of the next."""
    counts = np.zeros((1, max(2, len(totals))), dtype=int)
    first, second = np.argsort(-np.append(totals, [0, 0]), kind="stable")[:2]
    counts[0, second] = size // 2
    counts[0, first] = size - size // 2
    return counts


def _effective(coefficient: Coefficient, parts: Array, times: Array) -> float | None:
    """The number of independent items of which a share would vary as much; None if no item makes a difference."""
    items, sums = times.sum(), times @ parts
    (value,) = coefficient.of(sums[None])
    without = coefficient.of(sums - parts)
    away = np.where(np.isnan(without), value, without)
    away = away - times @ away / items
    variance = (items - 1) / items * (times @ away**2)
    return None if variance <= ROUNDING else max(0.0, float((value - coefficient.least) * (1 - value) / variance))
