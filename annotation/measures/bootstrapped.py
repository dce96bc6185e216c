"""The intervals of releases up to schema version 6, by which they are verified: percentiles of 1,000 resamples. Pure.

Drawing n of n items with replacement is drawing how often each pattern comes up: patterns in lexicographic order, each
with its share p, and `default_rng(20240601).multinomial(n, p, 1000)`. Resamples without a value are left out.
"""

import numpy as np

from annotation.measures.coefficients import Coefficient
from annotation.measures.jackknife import Span
from annotation.measures.types import Array

_RESAMPLES, _SEED = 1000, 20240601


def interval(coefficient: Coefficient, counts: Array, times: Array) -> Span | None:
    """As `jackknife.interval`."""
    return interval_of_parts(coefficient, coefficient.parts(counts), times)


def interval_of_parts(coefficient: Coefficient, parts: Array, times: Array, more: Array | None = None) -> Span | None:
    """As `jackknife.interval_of_parts`, without need of `more`."""
    items = int(times.sum())
    if items < 2:
        return None
    drawn = np.random.default_rng(_SEED).multinomial(items, times / items, _RESAMPLES)
    values = coefficient.of(drawn @ parts)
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
