"""Cohen's kappa of every pair of annotators, with and without each of their items, and the mean of the pairs. Pure."""

from collections.abc import Iterator

import numpy as np

from annotation.measures import jackknife
from annotation.measures.agreement import RatingTable, scale_kappas, scale_terms
from annotation.measures.jackknife import Span
from annotation.measures.ratings import distinct
from annotation.measures.types import Array
from annotation.protocols.base import NOMINAL, RANK

THIN = 20  # shared items per pair on average, below which kappas are biased by more than an interval can say
THIN_NOTE = f"fewer than {THIN} shared items per pair on average: no interval, and kappa is unreliable"
_BLOCK_SIZE = 250_000  # pairs of judgments at once: a million judgments have millions


class AnnotatorPairs:
    """The pairs of judgments of a table by pair of annotators: R pairs of judgments, P pairs of annotators.

    `kappas` (P) by the table's scale, NaN where not defined; `shared` (P) items; `chance` (P): the disagreement
    expected by chance. With `only` (a place in `table.annotators`), the pairs in which that annotator is one of the
    two.
    """

    def __init__(self, table: RatingTable, only: int | None = None):
        first, second = table.pair_indices()
        if only is not None:
            with_them = (table.annotator[first] == only) | (table.annotator[second] == only)
            first, second = first[with_them], second[with_them]
        codes = table.code_of_pairs(table.annotator[first], table.annotator[second])
        self.pair, self.item = distinct(codes)[1], table.item[first]
        del codes
        self.one, self.other = (table.label[which].astype(np.int32) for which in (first, second))
        self.shared = np.bincount(self.pair)
        self.is_kappa = table.scale.level != RANK  # and not tau-b
        self.terms: list[Array] = []
        if table.scale.level == NOMINAL:
            self._count(len(table.labels))
        else:
            self._add_up(scale_terms(table, self.one, self.other))

    def _count(self, labels: int) -> None:
        self.labels, n, size = labels, self.shared.astype(float), len(self.shared) * labels
        self.of_first = np.bincount(self.pair.astype(np.int64) * labels + self.one, minlength=size)
        self.of_second = np.bincount(self.pair.astype(np.int64) * labels + self.other, minlength=size)
        self.same = np.bincount(self.pair[self.one == self.other], minlength=len(self.shared))
        self.by_chance = (self.of_first * self.of_second).reshape(len(self.shared), labels).sum(axis=1).astype(float)
        self.kappas, self.chance = _kappas(n, self.same, self.by_chance), 1 - self.by_chance / n**2

    def _add_up(self, terms: list[Array]) -> None:
        self.terms = terms
        self.sums = [np.bincount(self.pair, weights=term, minlength=len(self.shared)) for term in terms]
        self.kappas, self.chance = scale_kappas(*self.sums), np.full(len(self.shared), 0.5)
        if self.is_kappa:
            n, one, other, _, squares = self.sums
            self.chance = (n * squares - 2 * one * other) / n**2

    def without(self, rows: slice) -> Array:
        """The kappas of the pairs of some rows, each without the row's item."""
        pair = self.pair[rows]
        if self.terms:
            return scale_kappas(*(of[pair] - term[rows] for of, term in zip(self.sums, self.terms, strict=True)))
        one, other = self.one[rows], self.other[rows]
        of_first, of_second = (pair.astype(np.int64) * self.labels + label for label in (one, other))
        by_chance = self.by_chance[pair] - self.of_second[of_first] - self.of_first[of_second] + (one == other)
        return _kappas(self.shared[pair] - 1.0, self.same[pair] - (one == other), by_chance)

    def _losses(self) -> Iterator[tuple[slice, Array]]:
        """What the kappas of some rows lose without the row's item; nothing where one of the two is not defined."""
        for start in range(0, len(self.pair), _BLOCK_SIZE):
            rows = slice(start, start + _BLOCK_SIZE)
            yield rows, np.nan_to_num(self.kappas[self.pair[rows]] - self.without(rows), nan=0.0)

    @property
    def is_thin(self) -> bool:
        return self.is_kappa and is_thin(self.shared)

    def interval(self) -> Span | None:
        """Of the mean of the kappas that are defined, over items; None where that is thin or there is no kappa. Kappas
        of few items are biased downwards, most of which the jackknife takes off.
        """
        defined = ~np.isnan(self.kappas)
        items = np.unique(self.item[defined[self.pair]])
        if self.is_thin or len(items) < 2:
            return None
        pairs, mean, bias = int(defined.sum()), self.kappas[defined].mean(), 0.0
        away = np.zeros(int(items[-1]) + 1)
        for rows, loss in self._losses():
            away += np.bincount(self.item[rows], weights=loss, minlength=len(away))[: len(away)] / pairs
            bias -= float((loss * (1 - 1 / self.shared[self.pair[rows]])).sum()) / pairs
        away = away[items]
        variance = float(((away - away.mean()) ** 2).sum()) * (len(items) - 1) / len(items)
        if mean * mean < 1 and variance > jackknife.ROUNDING:
            effective = (1 - mean**2) / variance
        else:  # of a kappa of 1, one item that differs takes 1 / (2 chance n) of the way to -1
            effective = 2 * len(items) / (1 / self.chance[defined]).mean()
        return jackknife.span(mean - bias, effective, len(items))


def is_thin(shared: Array) -> bool:
    """Of the items that each pair shares."""
    return len(shared) > 0 and float(shared.mean()) < THIN


def _kappas(n: Array, same: Array, chance: Array) -> Array:
    """Cohen (1960); `chance` is n² times the agreement expected by chance. NaN where that is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n * n > chance, (n * same - chance) / (n * n - chance), np.nan)
