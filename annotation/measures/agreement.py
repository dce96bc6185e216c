"""How well annotators agree: percent agreement, Cohen's kappa for each pair, Krippendorff's alpha.

The input is a long table with a row for each judgment: (item, annotator, label). An annotator judges an item at most
once; not every annotator judges every item. A value that is not defined is None, with the reason in words.
docs/reference/measures.md has the formulas and their sources.
"""

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from annotation.measures import coefficients, jackknife
from annotation.measures.jackknife import Span
from annotation.measures.rank_agreement import tau_b
from annotation.measures.ratings import Rating, RatingColumns, distinct, in_order
from annotation.measures.ratings import codes as codes_of
from annotation.measures.types import Array, Figures
from annotation.protocols.base import NOMINAL, ORDINAL, RANK, Projection, Scale, View
from annotation.protocols.decisions import mean_ranks
from annotation.protocols.measuring import ranks_of

NO_PAIRS = "no item has two judgments"
NO_SHARED_ITEMS = "no two annotators judged the same item"
ONE_LABEL = "every label is the same, so agreement by chance is certain"
NO_OTHERS = "nobody else judged the same items, or the others were level"
NO_ALPHA = "rankings are compared by Kendall’s τ-b"
ONE_TIES_ALL = "no two rankings of one item could be compared"
FEW_ITEMS = "fewer than two items have two judgments"
_FEW_POINTS = 4  # of a scale, on which one step is far


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with its number of units. `value` is None if it is not defined; `reason` says why."""

    value: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval. Both ends are None if there is none; `reason` says why."""

    low: float | None
    high: float | None
    reason: str = ""

    @classmethod
    def of(cls, span: Span | None, why_none: str) -> "Interval":
        return cls(None, None, why_none) if span is None else cls(*span)


@dataclass
class PairKappa:
    """Cohen's kappa of two annotators over the `n` items that both judged; `percent` is their agreement on them.

    500 annotators make 124,750 pairs. A frozen one would take five times as long to make, and `vars` of one without
    slots is half as large as a dictionary made from one with slots.
    """

    first: int | str
    second: int | str
    value: float | None
    n: int
    percent: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KappaMean:
    """The unweighted mean kappa of the `pairs` for which it is defined; `left_out` is the number of other pairs."""

    value: float | None
    pairs: int
    left_out: int
    reason: str = ""


class RatingTable:
    """Ratings as integer codes.

    `item`, `annotator` and `label` have one entry for each of R ratings: positions in the sorted lists `items`,
    `annotators` and `labels`. `counts` (items × labels) says how often each item was given each label. ValueError if
    an annotator rated an item twice.

    `scale` is that of the labels, which are in its order then; ratings off the scale are not in the table, and `aside`
    counts them by label. `tasks` has for each of `items` what was asked: of a check, each statement (`unit`) is an
    item.
    """

    scale = Scale()
    aside: Counter[str] = Counter()
    unit = ""

    def __init__(self, ratings: Iterable[Rating] | RatingColumns):
        given = RatingColumns.of(ratings)
        self.items, self.item = in_order(given.items, given.item)
        self.tasks = self.items
        self.annotators, self.annotator = in_order(given.annotators, given.annotator)
        self.labels, self.label = in_order(given.labels, given.label)
        who = self.item.astype(np.int64) * max(1, len(self.annotators)) + self.annotator
        who.sort()
        if (who[1:] == who[:-1]).any():
            raise ValueError("an annotator judged an item twice")
        self._count()

    def _count(self) -> None:
        shape = (len(self.items), len(self.labels))
        places = self.item.astype(np.int64) * shape[1] + self.label
        self.counts = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)

    def projected(self, view: Projection) -> "RatingTable":
        """The same ratings under a projection of their labels; under a view with a scale, those that are on it."""
        if isinstance(view, View):
            return self._on_scale(view)
        other = copy.copy(self)
        other.labels, to = in_order(*codes_of([view(label) for label in self.labels]))
        other.label = to[self.label] if len(to) else self.label
        other._count()
        return other

    def _on_scale(self, view: View) -> "RatingTable":
        other, scale = copy.copy(self), view.scale
        said = [view(label) for label in self.labels]
        parts = [view.on_scale(one) for one in said]
        other.scale, other.aside, other.unit = scale, Counter(), view.unit
        times = np.bincount(self.label, minlength=len(said)).tolist()
        for one, of_label, count in zip(said, parts, times, strict=True):
            if one and not of_label:  # who was not asked said nothing
                other.aside[one] += count
        sizes = np.array([len(one) for one in parts], dtype=int)[self.label]
        rows = np.repeat(np.arange(len(self.item)), sizes)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        most = max(1, sizes.max(initial=1))
        codes, other.item = distinct(self.item[rows].astype(np.int64) * most + place)
        other.tasks = [self.items[code // most] for code in codes.tolist()]
        if view.parts is None:
            other.items = other.tasks
        else:
            other.items = [(self.items[code // most], code % most + 1) for code in codes.tolist()]
        other.annotators, other.annotator = self.annotators, self.annotator[rows]
        other.labels = list(scale.order) or sorted({one for of_label in parts for one in of_label})
        places = {label: number for number, label in enumerate(other.labels)}
        to = np.zeros((len(parts), most), dtype=int)
        for row, of_label in zip(to, parts, strict=True):
            row[: len(of_label)] = [places[one] for one in of_label]
        other.label = to[self.label[rows], place] if len(rows) else np.empty(0, int)
        other._count()
        return other

    def for_items(self, items: Collection[Any]) -> "RatingTable":
        """Only the ratings of these items; of a check, those of all its statements."""
        return self.subset(np.array([task in items for task in self.tasks], dtype=bool)[self.item])

    def subset(self, rows: Array) -> "RatingTable":
        """Only the ratings of a mask (R), and their items; annotators and labels keep their positions."""
        other = copy.copy(self)
        places, other.item = distinct(self.item[rows])
        other.items = [self.items[place] for place in places]
        other.tasks = [self.tasks[place] for place in places]
        other.annotator, other.label = self.annotator[rows], self.label[rows]
        other._count()
        return other

    def pairs(self) -> tuple[Array, Array, Array, Array]:
        """(first annotator, second, first's label, second's) of each pair of ratings of one item, annotators sorted."""
        first, second = self.pair_indices()
        label = self.label.astype(np.int32)  # millions of pairs
        return self.annotator[first], self.annotator[second], label[first], label[second]

    def code_of_pairs(self, first: Array, second: Array) -> Array:
        """A number for each two annotators: the first's position times how many there are, plus the second's."""
        return first.astype(np.int64) * max(1, len(self.annotators)) + second

    def pair_indices(self) -> tuple[Array, Array]:
        """The same pairs as positions among the ratings: (first, second)."""
        order = np.lexsort((self.annotator, self.item)).astype(np.int32)
        items, firsts, seconds = self.item[order], [], []
        for step in range(1, int(self.counts.sum(axis=1).max(initial=0))):
            at = np.flatnonzero(items[step:] == items[:-step])
            firsts.append(order[at])
            seconds.append(order[at + step])
        none = [np.empty(0, np.int32)]
        return np.concatenate(firsts or none), np.concatenate(seconds or none)


def percent_agreement(table: RatingTable) -> Value:
    """The share of pairs of ratings of one item that have the same label; `n` is the number of pairs."""
    of_item = table.counts.sum(axis=1)
    pairs = int((of_item * (of_item - 1) // 2).sum())
    if pairs == 0:
        return Value(None, 0, NO_PAIRS)
    same = int((table.counts * (table.counts - 1) // 2).sum())
    return Value(same / pairs, pairs)


def percent_interval(table: RatingTable) -> Span | None:
    return jackknife.interval(coefficients.percent, *_patterns(table))


def cohen_kappas(table: RatingTable) -> list[PairKappa]:
    """Cohen's kappa of every two annotators with an item in common, in their order: unweighted (Cohen 1960), on an
    ordered scale with quadratic weights (Cohen 1968). Of rankings, the mean of their tau-b.
    """
    if table.scale.level != NOMINAL:
        return _kappas_on_scale(table)
    first, second, first_label, second_label = table.pairs()
    people, labels = len(table.annotators), len(table.labels)
    codes = table.code_of_pairs(first, second)
    del first, second  # long, with many judgments
    codes, pair = distinct(codes)
    n = np.bincount(pair, minlength=len(codes))
    same = np.bincount(pair, weights=first_label == second_label, minlength=len(codes)).astype(np.int64)
    shape, row = (len(codes), labels), pair.astype(np.int64) * labels
    of_first = np.bincount(row + first_label, minlength=len(codes) * labels).reshape(shape)
    of_second = np.bincount(row + second_label, minlength=len(codes) * labels).reshape(shape)
    chance = (of_first * of_second).sum(axis=1)  # times n²
    names, percent, by_chance = table.annotators, same / n, chance / n**2
    defined = chance < n**2
    value = np.full(len(codes), math.nan)
    np.divide(percent - by_chance, 1 - by_chance, out=value, where=defined)
    told = zip(*(column.tolist() for column in (codes, value, n, percent, defined)), strict=True)
    return [
        PairKappa(
            names[code // people], names[code % people], kappa if there else None, both, share,
            "" if there else ONE_LABEL,
        )
        for code, kappa, both, share, there in told
    ]  # fmt: skip


def _kappas_on_scale(table: RatingTable) -> list[PairKappa]:
    first, second, one, other = table.pairs()
    people, names = len(table.annotators), table.annotators
    codes, pair = distinct(table.code_of_pairs(first, second))
    terms = scale_terms(table, one, other)
    kappas = scale_kappas(*(np.bincount(pair, weights=term, minlength=len(codes)) for term in terms)).tolist()
    n = np.bincount(pair, minlength=len(codes)).tolist()
    same = np.bincount(pair, weights=one == other, minlength=len(codes)).tolist()
    why = ONE_TIES_ALL if table.scale.level == RANK else ONE_LABEL
    found = []
    for code, value, count, hits in zip(codes.tolist(), kappas, n, same, strict=True):
        defined = not math.isnan(value)
        both = names[code // people], names[code % people]
        found.append(PairKappa(*both, value if defined else None, count, hits / count, "" if defined else why))
    return found


def scale_terms(table: RatingTable, one: Array, other: Array) -> list[Array]:
    """What `scale_kappas` needs of pairs of labels, each to be summed over a pair of annotators."""
    if table.scale.level == RANK:
        taus = taus_of(table.labels, one, other)
        defined = ~np.isnan(taus)
        return [np.where(defined, taus, 0), defined.astype(float)]
    ones = np.ones(len(one))
    return [ones, *(part.astype(float) for part in (one, other, (one - other) ** 2, one**2 + other**2))]


def scale_kappas(*sums: Array) -> Array:
    """Sums of the terms of `scale_terms` → the mean tau-b, or kappa with quadratic weights; NaN where not defined.

    The mean squared distance expected by chance is E x² + E y² - 2 E x E y, by the labels' places x and y.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(sums) == 2:
            taus, defined = sums
            return np.where(defined > 0, taus / defined, np.nan)
        n, one, other, apart, squares = sums
        expected = n * squares - 2 * one * other
        return np.where(expected > 0, 1 - n * apart / expected, np.nan)


def taus_of(labels: Sequence[str], one: Array, other: Array) -> Array:
    """tau-b of pairs of rankings, NaN where there is none or they rank different options."""
    ranks = [ranks_of(label) for label in labels]
    codes, at = np.unique(one * max(1, len(labels)) + other, return_inverse=True)
    found = []
    for first, second in (divmod(code, len(labels)) for code in codes.tolist()):
        options = sorted(ranks[first])
        same = options == sorted(ranks[second])
        found.append(tau_b(*([of[name] for name in options] for of in (ranks[first], ranks[second]))) if same else None)
    return np.array([math.nan if value is None else value for value in found], dtype=float)[at]


def mean_tau(table: RatingTable, only: int | None = None) -> Figures:
    """The mean tau-b over all pairs of rankings of one item, its 95 % interval over items (`alpha_interval`), `n` pairs
    and how many of them have none (`left_out`). With `only` (a place in `table.annotators`), the pairs with them.
    """
    first, second = table.pair_indices()
    if only is not None:
        theirs = (table.annotator[first] == only) | (table.annotator[second] == only)
        first, second = first[theirs], second[theirs]
    taus = taus_of(table.labels, table.label[first], table.label[second])
    defined = ~np.isnan(taus)
    n = int(defined.sum())
    if not n:
        none = asdict(Interval(None, None, NO_PAIRS))
        return {"value": None, "n": 0, "left_out": len(taus), "reason": ONE_TIES_ALL, "interval": none}
    sums = np.zeros((len(table.items), 2))
    np.add.at(sums, table.item[first][defined], np.column_stack([taus[defined], np.ones(n)]))
    kinds, times = np.unique(sums[sums[:, 1] > 0], axis=0, return_counts=True)
    span = jackknife.interval_of_parts(coefficients.mean, kinds, times, np.array([[-1.0, 1.0]]))
    interval = Interval.of(span, FEW_ITEMS)
    value = float(sums[:, 0].sum() / n)
    return {"value": value, "n": n, "left_out": len(taus) - n, "reason": "", "interval": asdict(interval)}


def confusion_matrix(table: RatingTable, first: int | str, second: int | str) -> Array:
    """L × L counts over the items of both: rows are the first annotator's labels, columns the second's."""
    labels = np.full((2, len(table.items)), -1)
    for place, name in enumerate((first, second)):
        rows = table.annotator == table.annotators.index(name)
        labels[place, table.item[rows]] = table.label[rows]
    both = (labels >= 0).all(axis=0)
    size = len(table.labels)
    counts: Array = np.bincount(labels[0, both] * size + labels[1, both], minlength=size**2)
    return counts.reshape(size, size)


def mean_kappa(pairs: Sequence[PairKappa]) -> KappaMean:
    defined = [pair.value for pair in pairs if pair.value is not None]
    left_out = len(pairs) - len(defined)
    if not pairs:
        return KappaMean(None, 0, 0, NO_SHARED_ITEMS)
    if not defined:
        return KappaMean(None, 0, left_out, ONE_LABEL)
    return KappaMean(sum(defined) / len(defined), len(defined), left_out)


def mean_kappas(pairs: Iterable[tuple[int | str, int | str, float | None]]) -> dict[int | str, float]:
    """annotator → the mean of their defined kappas with all others; `pairs` are (first, second, kappa)."""
    found: dict[int | str, list[float]] = defaultdict(list)
    for first, second, value in pairs:
        if value is not None:
            found[first].append(value)
            found[second].append(value)
    return {name: sum(kappas) / len(kappas) for name, kappas in found.items()}


def _patterns(table: RatingTable) -> tuple[Array, Array]:
    """The distinct label counts of items with two judgments or more (P × L), in order, and how many items have each
    (P).
    """
    counts = table.counts[table.counts.sum(axis=1) >= 2]
    base, labels = int(counts.max(initial=0)) + 1, counts.shape[1]
    if base**labels > 2**62:
        return np.unique(counts, axis=0, return_counts=True)
    digits = base ** np.arange(labels)[::-1]  # each row as a number, which is much faster to find again
    codes, which = distinct(counts @ digits)
    return codes[:, None] // digits % base, np.bincount(which)


def alpha_of(table: RatingTable) -> coefficients.Coefficient:
    """Krippendorff's alpha by the table's scale, on which its labels stand in their order."""
    if table.scale.level == ORDINAL:
        return coefficients.alpha(coefficients.ordinal)
    if table.scale.level == NOMINAL:
        return coefficients.alpha_nominal
    return coefficients.alpha(coefficients.interval(np.array([float(label) for label in table.labels])))


def alpha(table: RatingTable) -> Value:
    """Krippendorff's alpha by the table's scale, with missing ratings; `n` is the number of items with two ratings or
    more.
    """
    if table.scale.level == RANK:
        return Value(None, 0, NO_ALPHA)
    counts, times = _patterns(table)
    items = int(times.sum())
    if items == 0:
        return Value(None, 0, NO_PAIRS)
    if (counts.sum(axis=0) > 0).sum() < 2:
        return Value(None, items, ONE_LABEL)
    return Value(alpha_of(table).value(counts, times), items)


def alpha_interval(table: RatingTable) -> Interval:
    """The 95 % interval of alpha over the items with two ratings or more, from the jackknife."""
    if table.scale.level == RANK:
        return Interval(None, None, NO_ALPHA)
    counts, times = _patterns(table)
    if times.sum() < 2:
        return Interval(None, None, FEW_ITEMS)
    return Interval.of(jackknife.interval(alpha_of(table), counts, times), ONE_LABEL)


def agreement_with_majority(table: RatingTable) -> dict[int | str, Value]:
    """For each annotator, how often they gave the label that most of the others on the item gave.

    A rating is compared if the other ratings of its item have one most frequent label; `n` counts those ratings. On an
    ordered scale, how often they were at most one step from the others' median (on four points or fewer: half a step),
    and of rankings, how often more pairs of options had the order of the others' mean ranks than the reverse.
    """
    if table.scale.level != NOMINAL:
        return _agreement_with_others(table)
    rows = np.arange(len(table.item))
    others = table.counts[table.item]
    others[rows, table.label] -= 1
    most = others.max(axis=1, initial=0)
    compared = (most > 0) & ((others == most[:, None]).sum(axis=1) == 1)
    same = compared & (others[rows, table.label] == most)
    people = len(table.annotators)
    n = np.bincount(table.annotator[compared], minlength=people).tolist()
    agreed = np.bincount(table.annotator[same], minlength=people).tolist()
    return {
        name: Value(agreed[place] / n[place], n[place]) if n[place] else Value(None, 0, NO_OTHERS)
        for place, name in enumerate(table.annotators)
    }


def _agreement_with_others(table: RatingTable) -> dict[int | str, Value]:
    of_item: dict[int, list[int]] = defaultdict(list)
    for item, label in zip(table.item.tolist(), table.label.tolist(), strict=True):
        of_item[item].append(label)
    found: dict[int, list[bool]] = defaultdict(list)
    known: dict[tuple[int, tuple[int, ...]], bool | None] = {}
    for item, who, label in zip(table.item.tolist(), table.annotator.tolist(), table.label.tolist(), strict=True):
        others = list(of_item[item])
        others.remove(label)
        key = label, tuple(sorted(others))
        if key not in known:
            known[key] = agrees_on_scale(table.scale, table.labels[label], [table.labels[one] for one in others])
        if (agreed := known[key]) is not None:
            found[who].append(agreed)
    return {
        name: Value(sum(found[place]) / len(found[place]), len(found[place]))
        if found[place]
        else Value(None, 0, NO_OTHERS)
        for place, name in enumerate(table.annotators)
    }


def agrees_on_scale(scale: Scale, own: str, others: Sequence[str]) -> bool | None:
    """Whether a rating is near those of the others (`agreement_with_majority`); None where there are none."""
    if not others:
        return None
    if scale.level == RANK:
        mine, ranks = ranks_of(own), mean_ranks(others)
        if mine.keys() != ranks.keys():
            return None
        options = sorted(mine)
        tau = tau_b([mine[one] for one in options], [ranks[one] for one in options])
        return None if tau is None else tau > 0
    places = [scale.order.index(one) for one in others]
    return abs(scale.order.index(own) - median(places)) <= (1 if len(scale.order) > _FEW_POINTS else 0.5)


def count_disagreements(table: RatingTable) -> int:
    """The number of items with two different labels or more; of a check, with different answers to a statement."""
    differ = np.flatnonzero((table.counts > 0).sum(axis=1) > 1).tolist()
    return len({table.tasks[place] for place in differ})


def shared_items(table: RatingTable) -> dict[tuple[int, int], int]:
    """(position of the first annotator, of the second) → the number of items that both rated, largest first."""
    first, second = table.pair_indices()
    people = max(1, len(table.annotators))
    both = table.code_of_pairs(table.annotator[first], table.annotator[second])
    codes, times = np.unique(both, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return {divmod(code, people): n for code, n in zip(codes[order].tolist(), times[order].tolist(), strict=True)}


MATRIX_ANNOTATORS = 25  # annotators: a field of the matrix stays large enough to be read


def kappa_matrix(table: RatingTable) -> Figures:
    """The kappas of the annotators who share most items with others, for the matrix that a page shows.

    `annotators` are those shown, in order; `of` is how many share an item with another annotator; `pairs` has
    {first, second, value, n, reason} as `PairKappa`. Those shown have the largest sums of shared items over all others.
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
