"""Compare two models on the same items: the difference of their shares with its interval, and a test that they are
equal. Pure.

The items are the units: all questions of an item make up one answer, right or wrong, so their common part does not
count twice.

- The difference of two shares is paired by item: with b items that only the first gets right and c that only the second
  gets right, half an item is added to each of the four cells, and the 95% interval is (b − c) / (n + 2) ± 1.96 √(b + c
  + 1 − (b − c)² / (n + 2)) / (n + 2) (Agresti and Min 2005).
- For a mean of groups, the interval of the mean difference follows from the interval of each group (MOVER; Zou, Huang
  and Zhang 2009), as in `benchmarks.metrics.base.mean`.
- McNemar's test of a share is exact: if the models are equal, b of b + c is binomial with 1/2; p is twice the smaller
  tail. For a mean of groups, the models are swapped at random on each item that only one gets right: p is the share of
  `DRAWS` draws, and the data themselves, with a mean difference at least as large (Phipson and Smyth 2010).
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from annotation.measures.exact_tests import binomial_distribution, two_sided
from annotation.measures.types import Array
from benchmarks.metrics.base import Z

DRAWS, SEED = 20_000, 20240601
TEST, TEST_OF_MEANS = "McNemar’s exact test", "a permutation test"  # as pages name them
_NEAR = 1e-12  # rounding error in a difference of means: sums of fractions are inexact


@dataclass(frozen=True, slots=True)
class Paired:
    """Two models on the n items that both answer. `difference`: the first share minus the second. `only_first`: how
    many items only the first gets right. `groups`: the number of groups the shares average, 0 if none.
    """

    n: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    only_first: int
    only_second: int
    p: float
    groups: int = 0

    @property
    def exact(self) -> bool:
        """Return whether the test is McNemar's; otherwise it is by permutation."""
        return self.groups < 2


def compare(
    first: Mapping[int, bool], second: Mapping[int, bool], groups: Mapping[int, Hashable] | None = None
) -> Paired | None:
    """Compare two models, given whether each is right by item; None if they have no item in common. `groups`: each
    item's group, if the shares are means over groups.
    """
    items = [item for item in first if item in second]
    if not items:
        return None
    parts: dict[Hashable, list[int]] = defaultdict(list)
    for item in items:
        parts[groups[item] if groups else None].append(item)
    rows = [np.array([(first[item], second[item]) for item in part], int).T for part in parts.values()]
    shares = np.mean([row.mean(axis=1) for row in rows], axis=0)
    intervals = [difference(*row) for row in rows]
    value = sum(one for one, _, _ in intervals) / len(rows)
    below = math.hypot(*(one - low for one, low, _ in intervals)) / len(rows)
    above = math.hypot(*(high - one for one, _, high in intervals)) / len(rows)
    only = [(int((one > other).sum()), int((other > one).sum())) for one, other in rows]
    more, less = (sum(column) for column in zip(*only, strict=True))
    p = mcnemar(more, less) if len(rows) == 1 else _permuted(only, [row.shape[1] for row in rows])
    return Paired(
        len(items), float(shares[0]), float(shares[1]), value, max(-1.0, value - below), min(1.0, value + above),
        more, less, p, len(rows) if groups else 0,
    )  # fmt: skip


def difference(first: Array, second: Array) -> tuple[float, float, float]:
    """Return the difference of two shares of the same items, 0 or 1 each, and its interval."""
    n = len(first) + 2
    more, less = int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum())
    middle = (more - less) / n
    half = Z * math.sqrt(more + less + 1 - (more - less) ** 2 / n) / n
    return (more - less) / len(first), max(-1.0, middle - half), min(1.0, middle + half)


def mcnemar(more: int, less: int) -> float:
    """Return the two-sided p for the numbers of items that only one, and only the other, model gets right."""
    return two_sided(binomial_distribution(more + less, 0.5), more)


def _permuted(only: list[tuple[int, int]], sizes: list[int]) -> float:
    """Test by permutation; `only`: for each group, how many items only the first, and only the second, gets right."""
    random = np.random.default_rng(SEED)
    apart = np.array([more + less for more, less in only])
    weights = 1 / np.array(sizes)
    drawn = np.abs((2 * random.binomial(apart, 0.5, (DRAWS, len(only))) - apart) @ weights)
    found = abs(sum((more - less) * weight for (more, less), weight in zip(only, weights, strict=True)))
    return float((1 + (drawn >= found - _NEAR).sum()) / (DRAWS + 1))
