"""95% intervals when annotators differ: for a share of items, and for estimates built from judgments. Pure.

`interval` is for a share of items: Wilson's, on fewer items than there are. Items judged by one annotator carry less
information than the same number judged by several. Whether item i is right is p + Σ_a w_ia b_a + e_i, where w_ia is the
share of the item's judgments that annotator a gave, and b_a and e_i are random, independent, each with its own
variance. Both follow from equating two sums of squares, of the items and of the annotators' totals, with their
expectations (Henderson 1953, method 1). If every annotator has equally many items to themselves, the variance of the
mean is the cluster-robust one times m / (m − 1). It turns n into the *effective* n for Wilson's interval: n by the
design effect (Kish 1965), times (1.96 / t)² (Korn and Graubard 1998).

`spread` is for means and strengths, whose error is a sum over judgments. It clusters by item and by annotator (Cameron,
Gelbach and Miller 2011), with the annotators' part corrected for unequal loads and with the same degrees of freedom.

docs/reference/measures.md has the formulas, docs/design/evidence.md how often the intervals hold.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotation.measures.exact_tests import student_t_95
from annotation.measures.types import Array, Figures
from benchmarks.metrics.base import Z, wilson

ANNOTATORS, ITEMS = "annotators", "items"  # what an interval treats as randomly drawn
INTERVAL_METHOD = "Wilson’s, over annotators"  # as pages and reports name it
FEW = 8  # annotators; with fewer who differ a lot, intervals over annotators were too short in simulations
LEAST_FREEDOM = 0.5  # degrees of freedom of the annotators' variance; with fewer it is unknown
_ROUNDING = 1e-9  # relative


class Effective(NamedTuple):
    """The number of equally informative independent items; `over` is ITEMS if annotators are not estimable."""

    n: float
    over: str


def interval(right: Sequence[bool], judged_by: Sequence[Sequence[int]]) -> Figures:
    """Return `low` and `high` for the share of right items, `effective` (their effective n), and `over`: ANNOTATORS, or
    ITEMS if the judgments cannot show how annotators differ. All are None if there are no items.

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
    """Return `who` and `share` for `effective_n`; k is the largest number of annotators of an item."""
    counts = [Counter(given) or Counter({-place: 1}) for place, given in enumerate(judged_by, 1)]
    most = max(map(len, counts))
    padded = np.array([[*one.items(), *[(0, 0)] * (most - len(one))] for one in counts])
    who, times = padded[..., 0], padded[..., 1]
    return np.unique(who, return_inverse=True)[1].reshape(who.shape), times / times.sum(axis=1, keepdims=True)


def effective_n(right: Array, who: Array, share: Array) -> Effective:
    """Return the effective number of n items, each judged by up to k annotators; never above n.

    `right` (n,): 1.0 or 0.0; `who` (n, k): annotators, numbered from 0; `share` (n, k): their shares of the item's
    judgments, which sum to 1, and 0 for unused places.
    """
    n = len(right)

    def of_annotators(values: Array) -> Array:
        return np.bincount(who.ravel(), (share * values[:, None]).ravel())

    # K = W Wᵀ is what items share, M subtracts the mean: the traces of M, M K and M K M K.
    items = of_annotators(np.ones(n))
    own, common = float((share**2).sum()), float((items**2).sum())
    of_item = (share * items[who]).sum(axis=1)
    first = own - common / n
    second = _squares_in_common(who, share) - 2 * float((of_item**2).sum()) / n + (common / n) ** 2
    determinant = (n - 1) * second - first**2
    if common <= own * (1 + _ROUNDING):
        return Effective(n, ANNOTATORS)  # nobody judged two items
    freedom = determinant * (n / common) ** 2 / (n - 1)
    if freedom < LEAST_FREEDOM * (1 - _ROUNDING):
        return Effective(n, ITEMS)
    away = right - right.mean()
    total, between = float(away @ away), float((of_annotators(away) ** 2).sum())
    by_items = max(0.0, total * second - between * first) / determinant / n
    by_annotators = (between * (n - 1) - total * first) / determinant * common / n**2
    variance, independent = by_items + by_annotators, total / (n - 1) / n
    if by_annotators <= 0 or variance <= independent * (1 + _ROUNDING):
        return Effective(n, ANNOTATORS)
    error = by_items / math.sqrt(freedom) + by_annotators / math.sqrt(max(LEAST_FREEDOM, n**2 / common - 1))
    t = t_between((variance / error) ** 2)
    return Effective(n * independent / variance * (Z / t) ** 2, ANNOTATORS)


def _squares_in_common(who: Array, share: Array) -> float:
    """Return Σ K_ij² over all pairs of items, summed over pairs of annotators instead."""
    pairs = who[:, :, None] * (int(who.max()) + 1) + who[:, None, :]
    _, place = np.unique(pairs, return_inverse=True)
    return float((np.bincount(place.ravel(), (share[:, :, None] * share[:, None, :]).ravel()) ** 2).sum())


class Spread(NamedTuple):
    """The variances of K estimates, and the degrees of freedom of each."""

    variance: Array
    freedom: Array

    def t(self, at: int) -> float:
        return t_between(float(self.freedom[at]))

    def half(self, at: int) -> float:
        """Return half the width of the Student interval of one estimate."""
        return self.t(at) * math.sqrt(self.variance[at])


class Spreads(NamedTuple):
    """Spreads for the annotators at hand, and for others like them; None if the judgments do not show how items, or
    annotators, differ.
    """

    these: Spread | None
    others: Spread | None


def spread(parts: Array, items: Array, annotators: Array) -> Spreads:
    """Estimate the spreads. `parts` (N × K): what each of N judgments adds to the errors of K estimates, summing to 0;
    `items` and `annotators` (N): each judgment's item and annotator, numbered from 0.
    """
    count = int(items.max()) + 1
    if count < 2:
        return Spreads(None, None)
    by_items = _squared_sums(parts, items) * count / (count - 1)
    these = Spread(by_items, np.full(parts.shape[1], float(count - 1)))
    loads = np.bincount(annotators) / len(annotators)
    alike, left = of_loads(loads)
    if 1 / alike - 1 < LEAST_FREEDOM * (1 - _ROUNDING):
        return Spreads(these, None)
    cells = items.astype(np.int64) * len(loads) + annotators
    own = _squared_sums(parts, np.unique(cells, return_inverse=True)[1])
    by_annotators = np.maximum(0, (_squared_sums(parts, annotators) - (1 - alike) * own) / left)
    error = by_items / math.sqrt(count - 1) + by_annotators / math.sqrt(max(LEAST_FREEDOM, 1 / alike - 1))
    variance = by_items + by_annotators
    known = error > 0
    freedom = np.where(known, (variance / np.where(known, error, 1)) ** 2, count - 1)
    return Spreads(these, Spread(variance, freedom))


def of_loads(loads: Array) -> tuple[float, float]:
    """Return, for annotators with these shares of the judgments, 1 / the effective number of annotators with equal
    loads, and the part of their variance left in their totals once the mean is subtracted.
    """
    alike = float((loads**2).sum())
    return alike, 1 - 2 * float((loads**3).sum()) / alike + alike


def _squared_sums(parts: Array, of: Array) -> Array:
    """Return Σ over groups of judgments of the squared sum of their parts, for each estimate."""
    sums = np.zeros((int(of.max()) + 1, parts.shape[1]))
    np.add.at(sums, of, parts)
    return np.asarray((sums**2).sum(axis=0))


def t_between(freedom: float) -> float:
    """Return Student's t for at least one degree of freedom, interpolated in 1 / freedom between whole ones."""
    freedom = max(1.0, freedom)
    below = math.floor(freedom)
    low, high = student_t_95(below + 1), student_t_95(below)
    return low + (high - low) * below * ((below + 1) / freedom - 1)
