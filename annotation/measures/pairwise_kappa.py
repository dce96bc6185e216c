"""Cohen's kappa of every pair of annotators, with and without each of their items, and the mean of the pairs. Pure."""

import numpy as np

from annotation.measures import jackknife
from annotation.measures.agreement import RatingTable, scale_kappas, scale_terms
from annotation.measures.jackknife import Span
from annotation.measures.types import Array
from annotation.protocols.base import NOMINAL, RANK

THIN = 20  # shared items per pair on average, below which kappas are biased by more than an interval can say
THIN_NOTE = f"pairs share fewer than {THIN} items on average: no interval, and kappa is unreliable"


class AnnotatorPairs:
    """The pairs of judgments of a table by pair of annotators: R pairs of judgments, P pairs of annotators.

    `kappas` (P), NaN where not defined, `shared` (P) items, and `chance` (P): the disagreement expected by chance. With
    `only` (a place in `table.annotators`), the pairs in which that annotator is one of the two.
    """

    def __init__(self, table: RatingTable, only: int | None = None):
        first, second = table.pair_indices()
        if only is not None:
            with_them = (table.annotator[first] == only) | (table.annotator[second] == only)
            first, second = first[with_them], second[with_them]
        codes = table.annotator[first] * len(table.annotators) + table.annotator[second]
        _, self.pair = np.unique(codes, return_inverse=True)
        self.item = table.item[first]
        self.shared = np.bincount(self.pair)
        self.is_kappa = table.scale.level != RANK  # and not tau-b
        one, other = table.label[first], table.label[second]
        if table.scale.level == NOMINAL:
            self._count(one, other, len(table.labels))
        else:
            self._add_up(scale_terms(table, one, other))

    def _count(self, one: Array, other: Array, labels: int) -> None:
        n, pairs = self.shared.astype(float), len(self.shared)
        of_first, of_second = self.pair * labels + one, self.pair * labels + other
        first, second = (np.bincount(of, minlength=pairs * labels) for of in (of_first, of_second))
        same = np.bincount(self.pair, weights=one == other, minlength=pairs)
        chance = (first * second).reshape(pairs, labels).sum(axis=1).astype(float)
        self.kappas = _kappas(n, same, chance)
        self.chance = 1 - chance / n**2
        less = chance[self.pair] - second[of_first] - first[of_second] + (one == other)
        self.without = _kappas(n[self.pair] - 1, same[self.pair] - (one == other), less)

    def _add_up(self, terms: list[Array]) -> None:
        sums = [np.bincount(self.pair, weights=term, minlength=len(self.shared)) for term in terms]
        self.kappas = scale_kappas(*sums)
        self.without = scale_kappas(*(whole[self.pair] - term for whole, term in zip(sums, terms, strict=True)))
        self.chance = np.full(len(self.shared), 0.5)
        if self.is_kappa:
            n, one, other, _, squares = sums
            self.chance = (n * squares - 2 * one * other) / n**2

    @property
    def is_thin(self) -> bool:
        return self.is_kappa and len(self.shared) > 0 and float(self.shared.mean()) < THIN

    def interval(self) -> Span | None:
        """Of the mean of the kappas that are defined, over items; None where that is thin or there is no kappa. Kappas
        of few items are biased downwards, most of which the jackknife takes off.
        """
        if self.is_thin:
            return None
        defined = ~np.isnan(self.kappas)
        rows, pairs = defined[self.pair], int(defined.sum())
        items, item = np.unique(self.item[rows], return_inverse=True)
        if len(items) < 2:
            return None
        pair, mean = self.pair[rows], self.kappas[defined].mean()
        less = self.kappas[pair] - self.without[rows]
        less[np.isnan(less)] = 0
        away = np.bincount(item, weights=less) / pairs
        variance = float(((away - away.mean()) ** 2).sum()) * (len(items) - 1) / len(items)
        bias = -float((less * (1 - 1 / self.shared[pair])).sum()) / pairs
        if mean * mean < 1 and variance > 0:
            effective = (1 - mean**2) / variance
        else:  # of a kappa of 1, one item that differs takes 1 / (2 chance n) of the way to -1
            effective = 2 * len(items) / (1 / self.chance[defined]).mean()
        return jackknife.span(max(-1.0, min(1.0, mean - bias)), effective, len(items))


def _kappas(n: Array, same: Array, chance: Array) -> Array:
    """Cohen (1960); `chance` is n² times the agreement expected by chance. NaN where that is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n * n > chance, (n * same - chance) / (n * n - chance), np.nan)
