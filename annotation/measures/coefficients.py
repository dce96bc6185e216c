"""Chance-corrected agreement, as functions of sums over items.

An item's contribution to the sums depends only on its pattern of label counts, so computing the coefficient without an
item, or for a resample, does not need the items again. Items with one judgment do not count if pairs are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.measures.types import Array

Distances = Callable[[Array], Array]  # label totals (S × L) → squared distances of labels (S × L × L, or 1 × L × L)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """`parts`: label counts (items × L) → what each item adds (items × F). `of`: sums (S × F) → S values, NaN if
    undefined. `least` is the smallest possible value; the largest is 1.
    """

    parts: Callable[[Array], Array]
    of: Callable[[Array], Array]
    least: float = -1.0

    def value(self, counts: Array, times: Array) -> float:
        """Return the coefficient of patterns of label counts (P × L), each occurring `times` (P)."""
        return float(self.of((times @ self.parts(counts))[None])[0])


def _percent_parts(counts: Array) -> Array:
    size = counts.sum(axis=1)
    return np.column_stack([(counts * (counts - 1)).sum(axis=1), size * (size - 1)])


# The share of pairs of judgments on one item that have the same label, weighting all pairs equally.
percent = Coefficient(_percent_parts, lambda sums: _ratio(sums[:, 0], sums[:, 1]), least=0.0)


# The mean of the items' values, from the sum of the values and their number.
mean = Coefficient(lambda sums: sums, lambda sums: _ratio(sums[:, 0], sums[:, 1]))


def _item_parts(counts: Array) -> Array:
    """Return each item's agreement and whether it has any, 1 for the item, and its shares of the labels."""
    size = counts.sum(axis=1)
    compared = size >= 2
    pairs = np.where(compared, size * (size - 1), 1)
    agreed = np.where(compared, (counts * (counts - 1)).sum(axis=1) / pairs, 0)
    return np.column_stack([agreed, compared, np.ones(len(counts)), counts / size[:, None]])


def _beyond_chance(chance: Callable[[Array], Array]) -> Coefficient:
    """Return (p − p_e) / (1 − p_e) with the items' mean agreement p and the labels' `chance` agreement p_e (S × L → S).
    Items with one judgment count for the shares but not for p. Undefined if only one label occurs.
    """

    def of(sums: Array) -> Array:
        observed, shares = _ratio(sums[:, 0], sums[:, 1]), _ratio(sums[:, 3:], sums[:, 2:3])
        by_chance = chance(shares)
        return np.where(_several(shares), _ratio(observed - by_chance, 1 - by_chance), np.nan)

    return Coefficient(_item_parts, of)


# Fleiss (1971), equation 7. Only for items with the same number of judgments, two or more.
fleiss = _beyond_chance(lambda shares: (shares**2).sum(axis=1))


def ac1(choices: int = 0) -> Coefficient:
    """Return Gwet's AC1 (2008): chance is that of a random label for a hard item, among `choices` labels, or as many as
    the counts have. Items with one judgment count for the labels' shares (Gwet 2014, §2.4 on missing ratings).
    """

    def chance(shares: Array) -> Array:
        found: Array = (shares * (1 - shares)).sum(axis=1) / max(1, max(choices, shares.shape[1]) - 1)
        return found

    return _beyond_chance(chance)


def bennett(choices: int) -> Coefficient:
    """Return the S of Bennett, Alpert and Goldstein (1954), for several annotators Brennan and Prediger (1981): chance
    is that of labels drawn uniformly from two or more `choices`.
    """
    chance = 1 / choices

    def of(sums: Array) -> Array:
        found: Array = (_ratio(sums[:, 0], sums[:, 1]) - chance) / (1 - chance)
        return found

    return Coefficient(lambda counts: _item_parts(counts)[:, :2], of, least=-chance / (1 - chance))


def _alpha_parts(counts: Array) -> Array:
    size = counts.sum(axis=1, keepdims=True)
    counts = np.where(size >= 2, counts, 0)
    return np.hstack([(counts * (size - counts)).sum(axis=1, keepdims=True) / np.maximum(1, size - 1), counts])


def _alpha_of(sums: Array) -> Array:
    observed, totals = sums[:, 0], sums[:, 1:]
    n = totals.sum(axis=1)
    return np.where(_several(totals), 1 - _ratio((n - 1) * observed, n**2 - (totals**2).sum(axis=1)), np.nan)


# Krippendorff (2011): 1 - observed / expected disagreement, for labels without order; missing ratings allowed.
alpha_nominal = Coefficient(_alpha_parts, _alpha_of)


def alpha(distances: Distances, columns: Array | None = None) -> Coefficient:
    """Return alpha for labels at different distances from one another; only for those in `columns`, if given."""

    def parts(counts: Array) -> Array:
        if columns is not None:
            counts = counts[:, columns]
        size = counts.sum(axis=1)
        counts = np.where(size[:, None] >= 2, counts, 0).astype(float)
        together = counts[:, :, None] * counts[:, None, :]
        own = np.arange(counts.shape[1])
        together[:, own, own] -= counts
        together /= np.maximum(1, size - 1)[:, None, None]
        return together.reshape(len(counts), -1)

    def of(sums: Array) -> Array:
        labels = round(sums.shape[1] ** 0.5)
        coincidences = sums.reshape(len(sums), labels, labels)
        totals = coincidences.sum(axis=2)
        apart = distances(totals)
        expected = ((totals[:, :, None] * totals[:, None, :]) * apart).sum(axis=(1, 2))
        observed = (coincidences * apart).sum(axis=(1, 2))
        return np.where(_several(totals), 1 - _ratio((totals.sum(axis=1) - 1) * observed, expected), np.nan)

    return Coefficient(parts, of)


def alpha_of_sets(apart: Array, columns: Array) -> Coefficient:
    """Return alpha for the labels in these `columns` (L), given their distances `apart` (L × L), such as Jaccard's
    distance of sets. There can be thousands, so an item adds its disagreement and label counts rather than every pair
    of labels.
    """

    def parts(counts: Array) -> Array:
        counts = counts[:, columns]
        size = counts.sum(axis=1, keepdims=True)
        counts = np.where(size >= 2, counts, 0)
        within = ((counts @ apart) * counts).sum(axis=1, keepdims=True)
        return np.hstack([within / np.maximum(1, size - 1), counts])

    def of(sums: Array) -> Array:
        totals = sums[:, 1:]
        expected = ((totals @ apart) * totals).sum(axis=1)
        observed = (totals.sum(axis=1) - 1) * sums[:, 0]
        return np.where(_several(totals), 1 - _ratio(observed, expected), np.nan)

    return Coefficient(parts, of)


def ordinal(totals: Array) -> Array:
    """Return the squared number of judgments between two labels, counting half of both ends (Krippendorff 2011, D)."""
    upto = np.cumsum(totals, axis=1) - totals / 2
    return (upto[:, :, None] - upto[:, None, :]) ** 2


def interval(values: Array) -> Distances:
    """Return the squared differences of the labels' `values` (L)."""
    apart = (values[:, None] - values[None, :]) ** 2
    return lambda totals: apart[None]


def _several(of_labels: Array) -> Array:
    """Return whether two or more labels occur (S × L → S); subtraction may leave a residue of a sum that is 0."""
    several: Array = (of_labels > 1e-9).sum(axis=1) > 1
    return several


def _ratio(part: Array, whole: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole != 0, part / whole, np.nan)
