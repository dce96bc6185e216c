"""How well annotators agree: percent agreement, Cohen's kappa for each pair, Krippendorff's alpha. Pure.

The input is a long table, a row for each judgment: (item, annotator, label). An annotator judges an item at most once;
not everybody judges everything. A value that is not defined comes back as None with the reason in words.
docs/measures.md has the formulas and their sources.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import krippendorff
import numpy as np

Row = tuple[int | str, int | str, str]  # item, annotator, label

NO_PAIRS = "no item has two judgments"
NO_COMMON = "no two annotators judged the same item"
ONE_LABEL = "every label is the same, so agreement by chance is certain"
FEW_ITEMS = "fewer than two items have two judgments"
RESAMPLES = 500
SEED = 20240601
BLOCK = 2_000_000  # draws held at a time by the bootstrap


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with the count that it rests on; `value` is None where it is not defined, and `reason` says why."""

    value: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval; both ends are None where there is none."""

    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PairKappa:
    """Cohen's kappa of two annotators over the `n` items that both judged; `percent` is their agreement there."""

    first: int | str
    second: int | str
    value: float | None
    n: int
    percent: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KappaMean:
    """The unweighted mean over the pairs whose kappa is defined; `left_out` pairs have none."""

    value: float | None
    pairs: int
    left_out: int
    reason: str = ""


class Table:
    """The long table as integers: `counts[item, label]`, and a row for each pair of judgments on one item."""

    def __init__(self, rows: Iterable[Row]):
        rows = list(rows)
        self.items, items = _codes([row[0] for row in rows])
        self.annotators, annotators = _codes([row[1] for row in rows])
        self.labels, labels = _codes([row[2] for row in rows])
        if len(np.unique(items * max(1, len(self.annotators)) + annotators)) != len(rows):
            raise ValueError("an annotator judged an item twice")
        shape = (len(self.items), len(self.labels))
        self.counts = np.bincount(items * shape[1] + labels, minlength=shape[0] * shape[1]).reshape(shape)
        self._rows = items, annotators, labels

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(first annotator, second, first's label, second's label) of each pair, first before second in sort order."""
        items, annotators, labels = self._rows
        order = np.lexsort((annotators, items))
        items, annotators, labels = items[order], annotators[order], labels[order]
        firsts, seconds = [], []
        for step in range(1, int(self.counts.sum(axis=1).max(initial=0))):
            at = np.flatnonzero(items[step:] == items[:-step])
            firsts.append(at)
            seconds.append(at + step)
        first = np.concatenate(firsts) if firsts else np.empty(0, int)
        second = np.concatenate(seconds) if seconds else np.empty(0, int)
        return annotators[first], annotators[second], labels[first], labels[second]


def _codes(values: Sequence) -> tuple[list, np.ndarray]:
    """The distinct values in sort order, and each value's place among them."""
    distinct = sorted(set(values))
    places = {value: place for place, value in enumerate(distinct)}
    return distinct, np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))


def percent(table: Table) -> Value:
    """The share of pairs of judgments on the same item that carry the same label; n is the number of pairs."""
    of_item = table.counts.sum(axis=1)
    pairs = int((of_item * (of_item - 1) // 2).sum())
    if pairs == 0:
        return Value(None, 0, NO_PAIRS)
    same = int((table.counts * (table.counts - 1) // 2).sum())
    return Value(same / pairs, pairs)


def cohen_kappas(table: Table) -> list[PairKappa]:
    """One for each two annotators with an item in common, in their order (Cohen 1960, unweighted)."""
    first, second, first_label, second_label = table.pairs()
    people, labels = len(table.annotators), len(table.labels)
    codes, pair = np.unique(first * people + second, return_inverse=True)
    n = np.bincount(pair, minlength=len(codes))
    same = np.bincount(pair, weights=first_label == second_label, minlength=len(codes)).astype(np.int64)
    of_first = np.bincount(pair * labels + first_label, minlength=len(codes) * labels).reshape(len(codes), labels)
    of_second = np.bincount(pair * labels + second_label, minlength=len(codes) * labels).reshape(len(codes), labels)
    chance = (of_first * of_second).sum(axis=1)  # times n²
    names = table.annotators
    return [
        _pair(names[code // people], names[code % people], *counts)
        for code, *counts in zip(codes.tolist(), n.tolist(), same.tolist(), chance.tolist(), strict=True)
    ]


def _pair(first, second, n: int, same: int, chance: int) -> PairKappa:
    if chance == n * n:
        return PairKappa(first, second, None, n, same / n, ONE_LABEL)
    return PairKappa(first, second, (same / n - chance / n**2) / (1 - chance / n**2), n, same / n)


def mean_kappa(pairs: Sequence[PairKappa]) -> KappaMean:
    defined = [pair.value for pair in pairs if pair.value is not None]
    left_out = len(pairs) - len(defined)
    if not pairs:
        return KappaMean(None, 0, 0, NO_COMMON)
    if not defined:
        return KappaMean(None, 0, left_out, ONE_LABEL)
    return KappaMean(sum(defined) / len(defined), len(defined), left_out)


def _pairable(table: Table) -> np.ndarray:
    """Label counts of the items with two judgments or more, in the items' order."""
    return table.counts[table.counts.sum(axis=1) >= 2]


def alpha(table: Table) -> Value:
    """Krippendorff's alpha, nominal, gaps allowed; n is the number of items with two judgments or more."""
    counts = _pairable(table)
    if len(counts) == 0:
        return Value(None, 0, NO_PAIRS)
    if (counts.sum(axis=0) > 0).sum() < 2:
        return Value(None, len(counts), ONE_LABEL)
    return Value(float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")), len(counts))


def alpha_interval(table: Table, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The 95 % percentile interval of alpha over resampled items, from a stated seed.

    Resample r takes row r of `default_rng(seed).integers(0, n, (resamples, n))` as places among the n pairable items in
    sort order. A resample in which every label is the same has no alpha and is left out.
    """
    counts = _pairable(table)
    if len(counts) < 2:
        return Interval(None, None, FEW_ITEMS)
    values = _resampled_alphas(counts, resamples, np.random.default_rng(seed))
    if len(values) == 0:
        return Interval(None, None, ONE_LABEL)
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))


def _resampled_alphas(counts: np.ndarray, resamples: int, generator: np.random.Generator) -> np.ndarray:
    """alpha = 1 - (N - 1) · Σ_u (m_u² - Σ_l c_ul²) / (m_u - 1) / (N² - Σ_l n_l²), all of them sums over items."""
    n = len(counts)
    size = counts.sum(axis=1)
    disagreement = (size**2 - (counts**2).sum(axis=1)) / (size - 1)
    sums = np.column_stack([disagreement, counts]).astype(float)
    totals = np.vstack([_sampled(block, n) @ sums for block in _blocks(generator, resamples, n)])
    total = totals[:, 1:].sum(axis=1)
    expected = total**2 - (totals[:, 1:] ** 2).sum(axis=1)
    defined = expected > 0
    return 1 - (total[defined] - 1) * totals[defined, 0] / expected[defined]


def _blocks(generator: np.random.Generator, resamples: int, n: int) -> Iterable[np.ndarray]:
    """The draws, some resamples at a time: the same numbers as in one call, in bounded memory."""
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        yield generator.integers(0, n, (min(step, resamples - start), n))


def _sampled(draws: np.ndarray, n: int) -> np.ndarray:
    """How often each item was drawn in each resample."""
    offsets = np.arange(len(draws))[:, None] * n
    return np.bincount((draws + offsets).ravel(), minlength=len(draws) * n).reshape(len(draws), n).astype(float)
