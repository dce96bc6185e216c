"""The exact tests behind the warning signs, written out so that the web processes do not need scipy.

tests/independent computes them a second time with scipy, and tests/annotation/measures/test_exact_tests.py compares
them with scipy and with published values.
"""

import math
from functools import cache, lru_cache

import numpy as np

from annotation.measures.types import Array


def binomial_distribution(n: int, p: float) -> Array:
    """Return P(X = k) for k = 0 … n."""
    if p <= 0 or p >= 1:
        certain = np.zeros(n + 1)
        certain[n if p >= 1 else 0] = 1
        return certain
    k = np.arange(n)
    return _of_ratios((n - k) / (k + 1) * (p / (1 - p)))


def hypergeometric_distribution(n: int, good: int, total: int, odds: float = 1.0) -> Array:
    """Return P(X = k) for k = 0 … n, where X of n drawn without replacement are among the `good` of `total`. With odds
    other than 1, this is Fisher's noncentral distribution.
    """
    low, high = max(0, n - (total - good)), min(n, good)
    k = np.arange(low, high, dtype=float)
    found = np.zeros(n + 1)
    found[low : high + 1] = _of_ratios(odds * (good - k) * (n - k) / ((k + 1) * (total - good - n + k + 1)))
    return found


def _of_ratios(ratios: Array) -> Array:
    """Return the distribution with these ratios of neighbours: f(k + 1) / f(k)."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    shares = np.exp(logs - logs.max())
    distribution: Array = shares / shares.sum()
    return distribution


def binomial_at_most(k: int, n: int, p: float) -> float:
    """Return the binomial P(X <= k)."""
    return float(binomial_distribution(n, p)[: k + 1].sum())


def two_sided(shares: Array, k: int) -> float:
    """Return twice the smaller tail that includes k, at most 1."""
    return float(min(1.0, 2 * min(shares[: k + 1].sum(), shares[k:].sum())))


def chi_square_above(x: float, freedom: int) -> float:
    """Return P(X >= x) of chi-square with these degrees of freedom (Abramowitz and Stegun 26.4.4 and 26.4.5)."""
    half = x / 2
    if half <= 0:
        return 1.0
    odd = freedom % 2
    powers = [i + odd / 2 for i in range(freedom // 2)]
    steps = math.fsum(math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in powers)
    return min(1.0, odd * math.erfc(math.sqrt(half)) + steps)


@cache
def student_t(freedom: int, within: float) -> float:
    """Return the t that |T| stays below with probability `within`."""
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_within(middle, freedom) < within else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def student_t_95(freedom: int) -> float:
    """Return the t that |T| exceeds with probability 0.05: 12.706 with one degree of freedom, approaching 1.96."""
    return student_t(freedom, 0.95)


def student_within(angle: float, freedom: int) -> float:
    """Return P(|T| <= t), t = √freedom · tan(angle) (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    sine, cosine, odd = math.sin(angle), math.cos(angle), freedom % 2
    term, steps = (cosine if odd else 1.0), []
    for k in range(1 + odd, freedom, 2):
        steps.append(term)
        term *= cosine**2 * k / (k + 1)
    return 2 / math.pi * (angle + sine * math.fsum(steps)) if odd else sine * math.fsum(steps)


@lru_cache(4096)  # a report needs each twice
def probability_of_run(length: int, n: int, p: float) -> float:
    """Return P(a run of at least `length` successes) in n trials with success probability p.

    De Moivre's problem LXXIV: the first such run ends at trial i if it began after a failure, and none came before.
    """
    if length <= 0:
        return 1.0
    found = [0.0] * min(length, n + 1)
    for i in range(length, n + 1):
        found.append(p**length if i == length else found[-1] + (1 - found[i - length - 1]) * (1 - p) * p**length)
    return found[n]
