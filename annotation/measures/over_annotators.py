"""The 95 % interval of a share of items when annotators differ: Wilson's, on fewer items than there are. Pure.

Items judged by one annotator carry less information than the same number judged by several. Whether item i is right is
p + Σ_a w_ia b_a + e_i, where w_ia is the share of the item's judgments that annotator a gave, and b_a and e_i are
random, independent, with variances of their own. Both follow from two sums of squares, of the items and of the
annotators' totals, set equal to what they are on average (Henderson 1953, method 1). If every annotator has equally
many items to themselves, the variance of the mean is the cluster-robust one times m / (m − 1). It turns n into the
*effective* n for Wilson's interval: n by the design effect (Kish 1965), times (1.96 / t)² (Korn and Graubard 1998).

docs/reference/measures.md has the formulas, and how often the interval holds (`python -m bench.coverage`).
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotation.measures.exact_tests import student_t_95
from annotation.measures.types import Array, Figures
from benchmarks.metrics.base import Z, wilson

ANNOTATORS, ITEMS = "annotators", "items"  # what an interval takes as drawn at random
INTERVAL_METHOD = "Wilson’s, over annotators"  # as pages and reports name it
FEW = 8  # annotators; with fewer, who differ much, intervals over annotators were too short in simulations
_LEAST_FREEDOM = 0.5  # of the annotators' variance; with less it is not known
_ROUNDING = 1e-9  # relative


class Effective(NamedTuple):
    """As many independent items say as much; `over` is ITEMS where annotators' differences cannot be estimated."""

    n: float
    over: str


def interval(right: Sequence[bool], judged_by: Sequence[Sequence[int]]) -> Figures:
    """`low` and `high` of the share of right items, `effective` (their effective n), and `over`: ANNOTATORS, or ITEMS
    if the judgments cannot show how annotators differ. Each is None for no items.

    `judged_by`: for each item the annotator of each of its judgments. An item without any (decided by an adjudicator)
    is independent of the others.
    """
    n = len(right)
    if not n:
        return {"low": None, "high": None, "effective": None, "over": None}
    effective, over = effective_n(np.array(right, dtype=float), *_table(judged_by))
    low, high = wilson(sum(right) / n * effective, effective)
    return {"low": low, "high": high, "effective": effective, "over": over}


def _table(judged_by: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """`who` and `share` of `effective_n`; k is the most annotators that an item has."""
    counts = [Counter(given) or Counter({-place: 1}) for place, given in enumerate(judged_by, 1)]
    most = max(map(len, counts))
    padded = np.array([[*one.items(), *[(0, 0)] * (most - len(one))] for one in counts])
    who, times = padded[..., 0], padded[..., 1]
    return np.unique(who, return_inverse=True)[1].reshape(who.shape), times / times.sum(axis=1, keepdims=True)


def effective_n(right: Array, who: Array, share: Array) -> Effective:
    """Of n items, of which each has judgments of up to k annotators; never above n.

    `right` (n,): 1.0 or 0.0; `who` (n, k): annotators, numbered from 0; `share` (n, k): of the item's judgments, in sum
    1, and 0 for places that stay empty.
    """
    n = len(right)

    def of_annotators(values: Array) -> Array:
        return np.bincount(who.ravel(), (share * values[:, None]).ravel())

    # K = W Wᵀ is what items have in common, M subtracts the mean: the traces of M, M K and M K M K.
    items = of_annotators(np.ones(n))
    own, common = float((share**2).sum()), float((items**2).sum())
    of_item = (share * items[who]).sum(axis=1)
    first = own - common / n
    second = _squares_in_common(who, share) - 2 * float((of_item**2).sum()) / n + (common / n) ** 2
    determinant = (n - 1) * second - first**2
    if common <= own * (1 + _ROUNDING):
        return Effective(n, ANNOTATORS)  # nobody judged two items
    freedom = determinant * (n / common) ** 2 / (n - 1)
    if freedom < _LEAST_FREEDOM * (1 - _ROUNDING):
        return Effective(n, ITEMS)
    away = right - right.mean()
    total, between = float(away @ away), float((of_annotators(away) ** 2).sum())
    by_items = max(0.0, total * second - between * first) / determinant / n
    by_annotators = (between * (n - 1) - total * first) / determinant * common / n**2
    variance, independent = by_items + by_annotators, total / (n - 1) / n
    if by_annotators <= 0 or variance <= independent * (1 + _ROUNDING):
        return Effective(n, ANNOTATORS)
    error = by_items / math.sqrt(freedom) + by_annotators / math.sqrt(max(_LEAST_FREEDOM, n**2 / common - 1))
    t = _student_t_95((variance / error) ** 2)
    return Effective(n * independent / variance * (Z / t) ** 2, ANNOTATORS)


def _squares_in_common(who: Array, share: Array) -> float:
    """Σ K_ij² over all pairs of items, summed over pairs of annotators instead."""
    pairs = who[:, :, None] * (int(who.max()) + 1) + who[:, None, :]
    _, place = np.unique(pairs, return_inverse=True)
    return float((np.bincount(place.ravel(), (share[:, :, None] * share[:, None, :]).ravel()) ** 2).sum())


def _student_t_95(freedom: float) -> float:
    """Student's t of at least one degree of freedom; between whole ones interpolated in 1 / freedom."""
    freedom = max(1.0, freedom)
    below = math.floor(freedom)
    low, high = student_t_95(below + 1), student_t_95(below)
    return low + (high - low) * below * ((below + 1) / freedom - 1)
