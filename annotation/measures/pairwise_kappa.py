"""Cohen's kappa of every pair of annotators in many resamples of the items at once, and the mean of the pairs. Pure.

Items whose annotators gave the same labels are equivalent: a *pattern* is who gave which label. A resample is how often
each pattern occurs, so everything here takes `times` of shape Q × S: Q patterns, S resamples.
"""

from collections.abc import Callable, Iterator

import numpy as np

from annotation.measures.agreement import RESAMPLES, RatingTable, scale_kappas, scale_terms
from annotation.measures.types import Array
from annotation.protocols.base import NOMINAL, RANK

_MANY = 200_000  # pairs of judgments in a stage, above which the mean of the pairs is resampled less often
_FEWER_RESAMPLES = 200
_BLOCK_SIZE = 8_000_000  # numbers in memory at once, of a block of resamples
INTERVAL_PERCENTILES = (2.5, 97.5)  # percentiles of a 95 % interval

ReportShare = Callable[[float], None]  # called with the share of the resamples just done


class _GroupSums:
    """Sums the (weighted) times of each group's patterns: E rows of (pattern, group) give G sorted groups."""

    def __init__(self, pattern: Array, group: Array, weights: Array | None = None):
        order = np.argsort(group, kind="stable")
        self.rows = pattern[order]
        self.weights = None if weights is None else weights[order][:, None]
        self.groups, self.starts = np.unique(group[order], return_index=True)

    def __call__(self, times: Array) -> Array:
        """G × S of Q × S."""
        if not len(self.rows):
            return np.zeros((0, times.shape[1]), dtype=times.dtype)
        rows = times[self.rows] if self.weights is None else times[self.rows] * self.weights
        return np.add.reduceat(rows, self.starts, axis=0)


class AnnotatorPairs:
    """The pairs of judgments of a table, counted by pair of annotators. `times` says how many items have each pattern.

    With `only` (a place in `table.annotators`), the pairs in which that annotator is one of the two.
    """

    def __init__(self, table: RatingTable, only: int | None = None):
        first, second = table.pair_indices()
        if only is not None:
            with_them = (table.annotator[first] == only) | (table.annotator[second] == only)
            first, second = first[with_them], second[with_them]
        pattern_of, self.times, kept = _patterns(table, np.unique(table.item[first]))
        chosen = kept[table.item[first]]
        first, second = first[chosen], second[chosen]
        people, labels = len(table.annotators), len(table.labels)
        one, other = table.label[first], table.label[second]
        codes, pair = np.unique(table.annotator[first] * people + table.annotator[second], return_inverse=True)
        self.count, pattern = len(codes), pattern_of[table.item[first]]
        self.terms: list[_GroupSums] = []
        self.is_kappa = table.scale.level != RANK  # and not tau-b
        if table.scale.level != NOMINAL:
            self.n, self.size = _GroupSums(pattern, pair), len(pair)
            self.terms = [_GroupSums(pattern, pair, term) for term in scale_terms(table, one, other)]
        else:
            self._count(pattern, pair, one, other, labels)

    def _count(self, pattern: Array, pair: Array, first: Array, second: Array, labels: int) -> None:
        """Labels that only one of the two gave contribute nothing to chance agreement."""
        same, one, two = first == second, pair * labels + first, pair * labels + second
        both = np.intersect1d(one, two)
        in_one, in_two = np.isin(one, both), np.isin(two, both)
        self.n = _GroupSums(pattern, pair)
        self.same = _GroupSums(pattern[same], pair[same])
        self.first, self.second = _GroupSums(pattern[in_one], one[in_one]), _GroupSums(pattern[in_two], two[in_two])
        self.chance = _GroupSums(np.arange(len(both)), both // labels)
        self.size = len(pair)

    def now(self) -> tuple[Array, Array]:
        """(κ, shared items) of each pair as the table has them, NaN where κ is not defined."""
        times = self.times[:, None]
        return self.kappas(times)[:, 0], self.n(times)[:, 0]

    def kappas(self, times: Array) -> Array:
        """Cohen (1960) of each pair in each resample (pairs × S), by the table's scale; NaN where it is not defined."""
        if self.terms:
            return scale_kappas(*(term(times) for term in self.terms))
        n = self.n(times).astype(float)
        same, chance = np.zeros_like(n), np.zeros_like(n)
        same[self.same.groups] = self.same(times)
        chance[self.chance.groups] = self.chance(self.first(times).astype(float) * self.second(times))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(n * n > chance, (n * same - chance) / (n * n - chance), np.nan)

    def mean(self, times: Array) -> Array:
        """The mean over the pairs whose kappa is defined, per resample (S); NaN if none is."""
        kappas = self.kappas(times)
        defined = ~np.isnan(kappas)
        with np.errstate(divide="ignore", invalid="ignore"):
            means: Array = np.where(defined, kappas, 0).sum(axis=0) / defined.sum(axis=0)
        return means

    def resampled(self, resamples: int, seed: int, step: ReportShare = lambda share: None) -> Array:
        """The mean in `resamples` resamples of the items with a pair, if there are at least two.

        `default_rng(seed).multinomial(items, shares, resamples)`, patterns in lexicographic order of their (annotator,
        label) rows, annotators sorted. Drawn and counted in blocks, so that a million judgments fit in memory.
        """
        items = self.times.sum()
        if items < 2:
            return np.array([])
        dice, found = np.random.default_rng(seed), []
        for size in block_sizes(resamples, max(self.size, len(self.times))):
            drawn = dice.multinomial(items, self.times / items, size)
            found.append(self.mean(np.ascontiguousarray(drawn.T, dtype=np.int32)))
            step(size / resamples)
        return np.concatenate(found)


def resamples_for(pairs_of_judgments: int) -> int:
    """How often the mean of a stage's pairs is resampled."""
    return _FEWER_RESAMPLES if pairs_of_judgments > _MANY else RESAMPLES


def basic_interval(mean: float, values: Array) -> list[float] | None:
    """The 95 % interval of the mean of pairs: 2 mean - the percentiles of its resamples (the basic bootstrap, Davison
    and Hinkley 1997, §5.2.1), never beyond -1 and 1.

    Kappas of few items are biased low, and resamples, with fewer different items, add the same bias again, so the
    percentiles themselves would be too low (docs/reference/measures.md has the coverage of both).
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.percentile(defined, INTERVAL_PERCENTILES)
    return [max(-1.0, float(2 * mean - high)), min(1.0, float(2 * mean - low))]


def block_sizes(resamples: int, width: int) -> Iterator[int]:
    """Block sizes that add up to `resamples`, with `width` numbers per resample."""
    size = max(1, min(resamples, _BLOCK_SIZE // max(1, width)))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _patterns(table: RatingTable, items: Array) -> tuple[Array, Array, Array]:
    """(pattern of each item, how many items have each pattern, whether the item is the first of its pattern).

    Only for `items`, sorted places in `table.items`; for other items the first array is undefined.
    """
    rows = np.full((len(table.items), int(table.counts.sum(axis=1).max(initial=1))), -1)
    order = np.lexsort((table.annotator, table.item))
    item = table.item[order]
    column = np.arange(len(item)) - np.searchsorted(item, item)
    rows[item, column] = (table.annotator * max(1, len(table.labels)) + table.label)[order]
    rows = rows[items]
    sort = np.lexsort(rows.T[::-1])
    new = np.append(True, (rows[sort][1:] != rows[sort][:-1]).any(axis=1))[: len(sort)]
    pattern_of, kept = np.zeros(len(table.items), dtype=int), np.zeros(len(table.items), dtype=bool)
    pattern_of[items[sort]], kept[items[sort[new]]] = np.cumsum(new) - 1, True
    return pattern_of, np.bincount(pattern_of[items]), kept
