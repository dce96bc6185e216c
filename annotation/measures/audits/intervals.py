"""Intervals for the share of wrong items in a benchmark of N items, of which n were drawn without replacement.

Each function takes arrays of looks: `n` items judged, of which `wrong` are wrong; `size` is N. It returns the estimate
and the low and high ends as shares, with the shape of `n`. At n = N all three are the truth.

- `by_width`: Wilson's interval (Wilson 1927) on the effective sample n (N − 1) / (N − n), which is the correction of a
  finite population (Cochran 1977, §2.6). Nominal if one stops by the interval's width alone (Chow and Robbins 1965);
  not if one stops when the rate looks good. For some shares, mostly between 4 and 10%, the coverage is below 94%;
  at ± 2 and ± 3 points it was found to be 92.3% at least, but 88.0% below 0.5% (docs/design/evidence.md).
- `any_look`: the prior-posterior ratio (Waudby-Smith and Ramdas 2020, §3) of a uniform prior on the number K of wrong
  items. The prior's ratio to the posterior is a martingale under the true K, so by Ville's inequality all K with
  Hypergeometric(wrong; N, K, n) > α / (n + 1) together miss the truth, at any look, with probability at most α.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.measures.types import Array
from benchmarks.metrics.base import Z

ALPHA = 0.05
CAUTIOUS = 10  # items added without strata or scores in the variance by width


@dataclass(frozen=True, slots=True)
class Bounds:
    low: Array
    high: Array
    estimate: Array

    @property
    def half_width(self) -> Array:
        return np.asarray((self.high - self.low) / 2)


def effective(n: Array, size: int) -> Array:
    """Return the size of an infinite population's sample as informative as n of N; infinite at n = N."""
    left = np.asarray(size - n, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left > 0, n * (size - 1) / left, np.inf)


def wilson(share: Array, n: Array) -> Bounds:
    """Return Wilson's interval for a share of n, which may be infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(np.isinf(n), 0, Z**2 / n)
        middle = (share + z / 2) / (1 + z)
        spread = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    return Bounds(np.clip(middle - spread, 0, share), np.clip(middle + spread, share, 1), share)  # rounding aside


def by_width(n: Array, wrong: Array, size: int) -> Bounds:
    return wilson(wrong / n, effective(n, size))


def any_look(n: Array, wrong: Array, size: int, alpha: float = ALPHA) -> Bounds:
    """Return the interval of each look by itself; `narrowing` takes the looks before it into account."""
    logs = log_factorials(size)
    bound = np.log(alpha / (n + 1))
    likeliest = most_likely(n, wrong, size)

    def inside(count: Array) -> Array:
        return log_hypergeometric(logs, wrong, size, count, n) > bound

    low = _first_inside(inside, wrong, likeliest)
    high = _first_inside(inside, size - n + wrong, likeliest)
    return Bounds(low / size, high / size, wrong / n)


def narrowing(looks: Bounds) -> Bounds:
    """Intersect the intervals of all looks so far: valid if the intervals are valid at any look.

    The intersection is empty only if some look misses the truth, which has a probability of at most α. From then on
    each look stands by itself, so that there is always an interval.
    """
    low, high = np.maximum.accumulate(looks.low), np.minimum.accumulate(looks.high)
    empty = low > high
    low, high = np.where(empty, looks.low, low), np.where(empty, looks.high, high)
    return Bounds(low, high, np.clip(looks.estimate, low, high))


def both(first: Bounds, second: Bounds) -> Bounds:
    """Intersect two intervals at each look; if the intersection is empty, keep the first."""
    low, high = np.maximum(first.low, second.low), np.minimum(first.high, second.high)
    empty = low > high
    low, high = np.where(empty, first.low, low), np.where(empty, first.high, high)
    return Bounds(low, high, np.clip(first.estimate, low, high))


def _first_inside(inside: Callable[[Array], Array], outer: Array, inner: Array) -> Array:
    """Find the first count inside the interval from each `outer` count towards `inner`, which is inside, by bisection:
    the likelihood falls on both sides of its maximum.
    """
    outer, inner = outer.copy(), inner.copy()
    inner = np.where(inside(outer), outer, inner)
    while (np.abs(inner - outer) > 1).any():
        middle = (outer + inner) // 2
        is_inside = inside(middle)
        inner, outer = np.where(is_inside, middle, inner), np.where(is_inside, outer, middle)
    return inner


def most_likely(n: Array, wrong: Array, size: int) -> Array:
    """Return the number of wrong items of N that makes `wrong` of n most probable."""
    return np.asarray(np.minimum(np.maximum(wrong, wrong * (size + 1) // n), size - n + wrong))


def log_factorials(size: int) -> Array:
    """Return the log factorials of 0 … N."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])


def log_hypergeometric(logs: Array, wrong: Array, size: int, count: Array, n: Array) -> Array:
    """Return the log probability that `wrong` of n drawn are among the `count` of N; −inf if impossible."""
    right = n - wrong
    can = (count >= wrong) & (size - count >= right)
    count = np.where(can, count, wrong)
    return np.where(
        can,
        logs[count] - logs[wrong] - logs[count - wrong]
        + logs[size - count] - logs[right] - logs[size - count - right]
        - (logs[size] - logs[n] - logs[size - n]),
        -np.inf,
    )  # fmt: skip
