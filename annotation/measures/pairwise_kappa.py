"""The agreement of every two annotators: Cohen's kappa, weighted on a scale; Kendall's tau-b for rankings, Jaccard's
index for sets of options, F1 or IoU for marks on a picture; and the pairs' means with their intervals. Pure.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from annotation.measures import coefficients, jackknife
from annotation.measures.agreement import (
    FEW_ITEMS,
    NO_SHARED_ITEMS,
    ONE_LABEL,
    ONE_TIES_ALL,
    RatingTable,
    figure,
    shared_items,
)
from annotation.measures.jackknife import Span
from annotation.measures.rank_agreement import tau_b
from annotation.measures.ratings import distinct
from annotation.measures.types import Array, Figures
from annotation.protocols import marks
from annotation.protocols.base import NOMINAL, PAIRED, RANK, SET, Scale
from annotation.protocols.option_sets import chosen, jaccard
from annotation.protocols.rankings import ranks_of

THIN = 20  # shared items per pair on average; below this, kappas are biased by more than an interval can show
THIN_NOTE = f"fewer than {THIN} shared items per pair on average: no interval, and kappa is unreliable"
MATRIX_ANNOTATORS = 25  # annotators; with more, the cells of the matrix are too small to read
_BLOCK_SIZE = 250_000  # pairs of judgments at once: a million judgments make millions of pairs


@dataclass
class PairKappa:
    """Cohen's kappa of two annotators over the `n` items both judged; `percent` is their agreement on these.

    500 annotators make 124,750 pairs. A frozen dataclass would take five times as long to create, and `vars` without
    slots is half the size of a dictionary made with slots.
    """

    first: int | str
    second: int | str
    value: float | None
    n: int
    percent: float
    reason: str = ""


class AnnotatorPairs:
    """A table's pairs of judgments by pair of annotators: R pairs of judgments, P pairs of annotators.

    `kappas` (P) depend on the table's scale, NaN if undefined: unweighted (Cohen 1960), on an ordered scale with
    quadratic weights (Cohen 1968), for rankings the mean tau-b, for sets the mean Jaccard index, for marks their mean
    similarity. `shared` (P) items; `same` (P): those with the same label; `chance` (P): the disagreement expected by
    chance. `pairs` are those of `table.pair_indices`; none: all.
    """

    def __init__(self, table: RatingTable, pairs: tuple[Array, Array] | None = None):
        first, second = pairs or table.pair_indices()
        self.names, self.level = table.annotators, table.scale.level
        self.least = likeness_on(table.scale).least if self.level in PAIRED else -1.0
        codes, pair = distinct(table.code_of_pairs(table.annotator[first], table.annotator[second]))
        self.codes: list[int] = codes.tolist()
        self.pair, self.item = pair, table.item[first].astype(np.int32)  # long arrays if there are many judgments
        self.one, self.other = (table.label[which].astype(np.int32) for which in (first, second))
        del first, second
        self.shared = np.bincount(self.pair, minlength=len(codes))
        self.same = np.bincount(self.pair[self.one == self.other], minlength=len(codes))
        self.terms: list[Array] = []
        if self.level == NOMINAL:
            self._count(len(table.labels))
        else:
            self._add_up(scale_terms(table, self.one, self.other))

    def _count(self, labels: int) -> None:
        self.labels, n, size = labels, self.shared.astype(float), len(self.shared) * labels
        self.of_first = np.bincount(self.pair.astype(np.int64) * labels + self.one, minlength=size)
        self.of_second = np.bincount(self.pair.astype(np.int64) * labels + self.other, minlength=size)
        self.by_chance = (self.of_first * self.of_second).reshape(len(self.shared), labels).sum(axis=1).astype(float)
        self.kappas, self.chance = _kappas(n, self.same, self.by_chance), 1 - self.by_chance / n**2

    def _add_up(self, terms: list[Array]) -> None:
        self.terms = terms
        self.sums = [np.bincount(self.pair, weights=term, minlength=len(self.shared)) for term in terms]
        self.kappas, self.chance = scale_kappas(*self.sums), np.full(len(self.shared), 0.5)
        if self.level not in PAIRED:
            n, one, other, _, squares = self.sums
            self.chance = (n * squares - 2 * one * other) / n**2

    @property
    def why_undefined(self) -> str:
        """Explain why a pair has no kappa."""
        return ONE_TIES_ALL if self.level == RANK else ONE_LABEL

    def rows(self) -> list[PairKappa]:
        """Return each pair, in the order of the annotators."""
        people = max(1, len(self.names))
        columns = (self.codes, self.kappas.tolist(), self.shared.tolist(), (self.same / self.shared).tolist())
        return [
            PairKappa(self.names[code // people], self.names[code % people], kappa, n, percent)
            if kappa == kappa  # not NaN
            else PairKappa(self.names[code // people], self.names[code % people], None, n, percent, self.why_undefined)
            for code, kappa, n, percent in zip(*columns, strict=True)
        ]

    def without(self, rows: slice) -> Array:
        """Return the kappas of the pairs of some rows, each without the row's item."""
        pair = self.pair[rows]
        if self.terms:
            return scale_kappas(*(of[pair] - term[rows] for of, term in zip(self.sums, self.terms, strict=True)))
        one, other = self.one[rows], self.other[rows]
        of_first, of_second = (pair.astype(np.int64) * self.labels + label for label in (one, other))
        by_chance = self.by_chance[pair] - self.of_second[of_first] - self.of_first[of_second] + (one == other)
        return _kappas(self.shared[pair] - 1.0, self.same[pair] - (one == other), by_chance)

    def _losses(self) -> Iterator[tuple[slice, Array]]:
        """Yield how much the kappas of some rows drop without the row's item; 0 if one of the two is undefined."""
        for start in range(0, len(self.pair), _BLOCK_SIZE):
            rows = slice(start, start + _BLOCK_SIZE)
            yield rows, np.nan_to_num(self.kappas[self.pair[rows]] - self.without(rows), nan=0.0)

    @property
    def is_thin(self) -> bool:
        """Return whether the kappas rest on too few items for an interval."""
        return self.level not in PAIRED and len(self.shared) > 0 and float(self.shared.mean()) < THIN

    def interval(self) -> Span | None:
        """Return the interval of the mean of the defined kappas, over items; None if it is thin or there is no kappa.
        Kappas of few items are biased downwards; the jackknife removes most of the bias.
        """
        defined = ~np.isnan(self.kappas)
        items, _ = distinct(self.item[defined[self.pair]])
        if self.is_thin or len(items) < 2:
            return None
        pairs, mean, bias = int(defined.sum()), self.kappas[defined].mean(), 0.0
        away = np.zeros(int(items[-1]) + 1)
        for rows, loss in self._losses():
            away += np.bincount(self.item[rows], weights=loss, minlength=len(away))[: len(away)] / pairs
            bias -= float((loss * (1 - 1 / self.shared[self.pair[rows]])).sum()) / pairs
        away = away[items]
        variance = float(((away - away.mean()) ** 2).sum()) * (len(items) - 1) / len(items)
        least = self.least
        if least < mean < 1 and variance > jackknife.ROUNDING:
            effective = (mean - least) * (1 - mean) / variance
        else:  # from a kappa of 1, one differing item takes 1 / (2 chance n) of the way to -1
            effective = 2 * len(items) / (1 / self.chance[defined]).mean()
        return jackknife.span(mean - bias, effective, len(items), least)

    def mean(self) -> Figures:
        """Return the unweighted mean of the kappas; n pairs have a kappa, `left_out` have none."""
        defined = self.kappas[~np.isnan(self.kappas)]
        left_out = {"left_out": len(self.kappas) - len(defined)}
        if not len(defined):
            return {**figure(None, None, 0, self.why_undefined if len(self.kappas) else NO_SHARED_ITEMS), **left_out}
        span = self.interval()
        note = THIN_NOTE if self.is_thin else "" if span else FEW_ITEMS
        return {**figure(float(defined.mean()), span, len(defined), note), **left_out}


def _kappas(n: Array, same: Array, chance: Array) -> Array:
    """Return Cohen's kappas (1960); `chance` is n² times the agreement expected by chance. NaN if that is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n * n > chance, (n * same - chance) / (n * n - chance), np.nan)


def cohen_kappas(table: RatingTable) -> list[PairKappa]:
    """Return the kappa of every two annotators with an item in common, in their order (`AnnotatorPairs`)."""
    return AnnotatorPairs(table).rows()


def scale_terms(table: RatingTable, one: Array, other: Array) -> list[Array]:
    """Return the terms of pairs of labels for `scale_kappas`, each to be summed over a pair of annotators."""
    if table.scale.level in PAIRED:
        like = likeness_on(table.scale).of_pairs(table.labels, one, other)
        defined = ~np.isnan(like)
        return [np.where(defined, like, 0), defined.astype(float)]
    if table.scale.ends:
        numbers = np.array([float(label) - table.scale.ends[0] for label in table.labels])
        one, other = numbers[one], numbers[other]
    ones = np.ones(len(one))
    return [ones, *(part.astype(float) for part in (one, other, (one - other) ** 2, one**2 + other**2))]


def scale_kappas(*sums: Array) -> Array:
    """Turn sums of `scale_terms` into mean similarities or quadratically weighted kappas; NaN if undefined.

    The mean squared distance expected by chance is E x² + E y² - 2 E x E y, by the labels' places x and y.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(sums) == 2:
            taus, defined = sums
            return np.where(defined > 0, taus / defined, np.nan)
        n, one, other, apart, squares = sums
        expected = n * squares - 2 * one * other
        return np.where(expected > 0, 1 - n * apart / expected, np.nan)


@dataclass(frozen=True)
class Likeness:
    """How far two labels agree, from `least` to 1: `of_two` compares values that were `read`; None if undefined."""

    of_two: Callable[[Any, Any], float | None]
    read: Callable[[str], Any] = str
    least: float = 0.0

    def of_pairs(self, labels: Sequence[str], one: Array, other: Array) -> Array:
        """Return the agreement of pairs of labels, by their positions; NaN if undefined."""
        parsed = [self.read(label) for label in labels]
        codes, at = np.unique(one.astype(np.int64) * max(1, len(parsed)) + other, return_inverse=True)
        pairs = (divmod(code, len(parsed)) for code in codes.tolist())
        found = [self.of_two(parsed[first], parsed[second]) for first, second in pairs]
        return np.array([math.nan if value is None else value for value in found], dtype=float)[at]


def likeness_on(scale: Scale) -> Likeness:
    """Return tau-b for rankings, undefined if they rank different options; Jaccard's index for sets; F1 for points,
    mean IoU for boxes.
    """
    if scale.level == RANK:
        return Likeness(_tau_of, ranks_of, least=-1.0)
    if scale.level == SET:
        return Likeness(jaccard, chosen)
    return Likeness(partial(marks.likeness, scale.level, radius=scale.radius))


def _tau_of(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    options = sorted(one)
    return tau_b(*([of[name] for name in options] for of in (one, other))) if options == sorted(other) else None


def mean_likeness(table: RatingTable, likeness: Likeness, pairs: tuple[Array, Array]) -> Figures:
    """Return the mean similarity of the pairs of judgments (`table.pair_indices`); `n` have one, `left_out` none."""
    first, second = pairs
    like = likeness.of_pairs(table.labels, table.label[first], table.label[second])
    defined = ~np.isnan(like)
    n = int(defined.sum())
    left_out = {"left_out": len(like) - n}
    if not n:
        return {**figure(None, None, 0, ONE_TIES_ALL), **left_out}
    sums = np.zeros((len(table.items), 2))
    np.add.at(sums, table.item[first][defined], np.column_stack([like[defined], np.ones(n)]))
    kinds, times = np.unique(sums[sums[:, 1] > 0], axis=0, return_counts=True)
    mean = replace(coefficients.mean, least=likeness.least)
    span = jackknife.interval_of_parts(mean, kinds, times, np.array([[likeness.least, 1.0]]))
    return {**figure(float(sums[:, 0].sum() / n), span, n, "" if span else FEW_ITEMS), **left_out}


def mean_kappas(pairs: Iterable[tuple[int | str, int | str, float | None]]) -> dict[int | str, float]:
    """Map each annotator to the mean of their defined kappas with all others; `pairs` are (first, second, kappa)."""
    found: dict[int | str, list[float]] = defaultdict(list)
    for first, second, value in pairs:
        if value is not None:
            found[first].append(value)
            found[second].append(value)
    return {name: sum(kappas) / len(kappas) for name, kappas in found.items()}


def kappa_matrix(table: RatingTable) -> Figures:
    """Return the kappas of the annotators who share most items with others, for the matrix on a page.

    `annotators` are those shown, in order; `of` is how many share an item with another annotator; `pairs` has {first,
    second, value, n, reason} as `PairKappa`. They have the largest sums of shared items over all others.
    """
    shared: Counter[int] = Counter()
    for (first, second), n in shared_items(table).items():
        shared[first] += n
        shared[second] += n
    chosen = sorted(sorted(shared, key=lambda place: (-shared[place], place))[:MATRIX_ANNOTATORS])
    pairs = cohen_kappas(table.subset(np.isin(table.annotator, chosen)))
    return {
        "annotators": [table.annotators[place] for place in chosen],
        "of": len(shared),
        "pairs": [
            {name: getattr(pair, name) for name in ("first", "second", "value", "n", "reason")} for pair in pairs
        ],
    }
