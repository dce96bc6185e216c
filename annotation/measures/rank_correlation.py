"""How similarly two benchmarks rank models: Spearman's rank correlation with its p value.

Source of the question: BiVLC, Finding 3 (SugarCrepe and BiVLC performance are not correlated). ρ is Pearson's
correlation of the ranks; equal values share the mean of their ranks. p is two-sided: up to `EXACT` models it is the
share of all orders whose |ρ| is at least as large, ties included; beyond that, t = ρ √((n − 2)/(1 − ρ²)) is treated as
Student's with n − 2 degrees of freedom (Kendall and Stuart).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from annotation.measures.exact_tests import student_within
from benchmarks.runs.margins import rank_correlation, ranks

EXACT_UP_TO = 8  # models: 40,320 orders


@dataclass(frozen=True, slots=True)
class Correlation:
    """`rho` and `p` are None if undefined, and `reason` explains why; `exact`: whether p is exact."""

    n: int
    rho: float | None
    p: float | None
    exact: bool = True
    reason: str = ""

    @property
    def method(self) -> str:
        """Name the method of the p value, as on pages."""
        return "exact, over all orders" if self.exact else f"by Student’s t with {self.n - 2} degrees of freedom"


def spearman(one: Sequence[float], other: Sequence[float]) -> Correlation:
    """Correlate n pairs of values, one pair per model."""
    n = len(one)
    if n < 3:
        return Correlation(n, None, None, reason="It needs at least three models.")
    first, second = (ranks(np.asarray(values, float)) for values in (one, other))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Correlation(n, None, None, reason="On one of the benchmarks, all these models have the same score.")
    rho = rank_correlation(first, second)
    if n <= EXACT_UP_TO:
        return Correlation(n, rho, _permutation_p(first, second, rho))
    return Correlation(n, rho, student_p(rho, n), exact=False)


def _permutation_p(first: np.ndarray, second: np.ndarray, rho: float) -> float:
    """Return the exact p. `first`, `second`: ranks, shape (n,)."""
    one, other = (values - values.mean() for values in (first, second))
    orders = one[np.array(list(permutations(range(len(one)))))]  # shape (n!, n)
    found = orders @ other / math.sqrt((one @ one) * (other @ other))
    return float(np.mean(np.abs(found) >= abs(rho) - 1e-12))


def student_p(rho: float, n: int) -> float:
    """Return the two-sided p of Student's t with n − 2 degrees of freedom, n at least 3."""
    if abs(rho) >= 1:
        return 0.0
    angle = math.atan(abs(rho) / math.sqrt(1 - rho * rho))  # of t / √degrees
    return max(0.0, 1 - student_within(angle, n - 2))
