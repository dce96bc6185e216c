"""Chance-corrected agreement over patterns of labels, for one sample or for many resamples at once.

`patterns` has a row for each pattern of label counts that some item has (shape P × L, labels in their order), `times`
how often each pattern comes up in each sample (shape S × P). Every function returns S values, NaN for a sample
that has none. Items with one judgment do not count where pairs are compared.
"""

from collections.abc import Callable

import numpy as np

from annotation.measures.types import Array

Distances = Callable[[Array], Array]  # label totals (S × L) → squared distances of labels (S × L × L, or 1 × L × L)


def percent(patterns: Array, times: Array) -> Array:
    """The share of pairs of judgments on one item that have the same label, all pairs weighted equally."""
    size = patterns.sum(axis=1)
    same = times @ (patterns * (patterns - 1)).sum(axis=1)
    return _ratio(same, times @ (size * (size - 1)))


def fleiss(patterns: Array, times: Array) -> Array:
    """Fleiss (1971), equation 7. Defined where every item has the same number of judgments, two or more."""
    size = patterns.sum(axis=1)
    if len(set(size.tolist())) != 1 or size[0] < 2:
        return np.full(len(times), np.nan)
    items, judges = times.sum(axis=1), size[0]
    observed = _ratio(times @ ((patterns * (patterns - 1)).sum(axis=1) / (judges * (judges - 1))), items)
    shares = (times @ patterns) / (items * judges)[:, None]
    chance = (shares**2).sum(axis=1)
    return _ratio(observed - chance, 1 - chance)


def ac1(patterns: Array, times: Array) -> Array:
    """Gwet (2008): chance is that of a random label for a hard item. Items with one judgment count for the labels'
    shares and not for the agreement (Gwet 2014, §2.4 on missing ratings). One label alone: not defined.
    """
    size = patterns.sum(axis=1)
    compared = size >= 2
    pairs = np.where(compared, size * (size - 1), 1)
    agreed = np.where(compared, (patterns * (patterns - 1)).sum(axis=1) / pairs, 0)
    observed = _ratio(times @ agreed, times @ compared)
    shares = (times @ (patterns / size[:, None])) / times.sum(axis=1)[:, None]
    labels = patterns.shape[1]
    if labels < 2:
        return np.full(len(times), np.nan)
    chance = (shares * (1 - shares)).sum(axis=1) / (labels - 1)
    return np.where((shares > 0).sum(axis=1) < 2, np.nan, _ratio(observed - chance, 1 - chance))


def alpha(patterns: Array, times: Array, distances: Distances) -> Array:
    """Krippendorff (2011): 1 - observed / expected disagreement, gaps allowed."""
    compared = patterns.sum(axis=1) >= 2
    patterns, times = patterns[compared].astype(float), times[:, compared]
    size = patterns.sum(axis=1)
    together = patterns[:, :, None] * patterns[:, None, :]
    own = np.arange(patterns.shape[1])
    together[:, own, own] -= patterns
    coincidences = np.einsum("sp,pij->sij", times, together / (size - 1)[:, None, None])
    totals = times @ patterns
    apart = distances(totals)
    expected = ((totals[:, :, None] * totals[:, None, :]) * apart).sum(axis=(1, 2))
    observed = (coincidences * apart).sum(axis=(1, 2))
    found = 1 - _ratio((totals.sum(axis=1) - 1) * observed, expected)
    return np.where(expected > 0, found, np.nan)


def nominal(totals: Array) -> Array:
    """0 for the same label, 1 for another."""
    labels = totals.shape[1]
    return (1 - np.eye(labels))[None]


def ordinal(totals: Array) -> Array:
    """The squared number of judgments from one label to the other, half of both ends (Krippendorff 2011, D)."""
    upto = np.cumsum(totals, axis=1) - totals / 2
    return (upto[:, :, None] - upto[:, None, :]) ** 2


def interval(values: Array) -> Distances:
    """The squared differences of the labels' `values` (L)."""
    apart = (values[:, None] - values[None, :]) ** 2
    return lambda totals: apart[None]


def _ratio(part: Array, whole: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole != 0, part / whole, np.nan)
