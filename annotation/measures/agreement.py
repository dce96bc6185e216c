"""The table of ratings from which agreement is computed, and comparisons that need no coefficient.

The input is a long table with a row for each judgment: (item, annotator, label). An annotator judges an item at most
once; not every annotator judges every item. A value that is not defined is None, with the reason in words.
`agreement_measures.py` has the measures, docs/reference/measures.md the formulas and their sources.
"""

import copy
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from annotation.measures.jackknife import Span
from annotation.measures.rank_agreement import tau_b
from annotation.measures.ratings import Rating, RatingColumns, distinct, distinct_rows, in_order, rows_by
from annotation.measures.ratings import codes as codes_of
from annotation.measures.types import Array, Figures
from annotation.protocols import marks
from annotation.protocols.base import BOXES, NEAR, NOMINAL, POINTS, RANK, SET, Projection, Scale, View
from annotation.protocols.option_sets import chosen, jaccard
from annotation.protocols.rankings import mean_ranks, ranks_of

NO_PAIRS = "no item has two judgments"
NO_SHARED_ITEMS = "no two annotators judged the same item"
ONE_LABEL = "every label is the same, so agreement by chance is certain"
NO_OTHERS = "nobody else judged the same items, or the others were level"
ONE_TIES_ALL = "no two rankings of one item could be compared"
FEW_ITEMS = "fewer than two items have two judgments"
_FEW_POINTS = 4  # points on a scale; with this few, one step is a large difference


def figure(value: float | None, span: Span | None, n: int, note: str = "") -> Figures:
    """Return a measure of agreement for JSON: its `value`, its 95% interval (`low`, `high`), its number of units (`n`),
    and a `note` that explains a missing value or a caveat.
    """
    low, high = span or (None, None)
    return {"value": value, "low": low, "high": high, "n": n, "note": note}


class RatingTable:
    """Ratings as integer codes.

    `item`, `annotator` and `label` have one entry for each of R ratings: positions in the sorted lists `items`,
    `annotators` and `labels`. `counts` (items × labels) has how often each item was given each label. ValueError if an
    annotator rated an item twice.

    With a `scale`, the labels are in its order; ratings off the scale are not in the table, and `aside` counts them by
    label. `tasks` has the task of each of `items`: in a check, each statement (`unit`) is an item.
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
        self._pairs: list[tuple[Array, Array]] = []  # once computed; projections share the list
        self._count()

    def _count(self) -> None:
        shape = (len(self.items), len(self.labels))
        places = self.item.astype(np.int64) * shape[1] + self.label
        self.counts = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)

    def projected(self, view: Projection) -> "RatingTable":
        """Return the same ratings under a projection of their labels; if the view has a scale, only those on it."""
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
        other.scale, other.aside, other.unit, other._pairs = scale, Counter(), view.unit, []
        times = np.bincount(self.label, minlength=len(said)).tolist()
        for one, of_label, count in zip(said, parts, times, strict=True):
            if one and not of_label:  # leave out those who were not asked
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
        given = {one for of_label in parts for one in of_label}
        other.labels = list(scale.order) or sorted(given, key=float if scale.ends else None)
        places = {label: number for number, label in enumerate(other.labels)}
        to = np.zeros((len(parts), most), dtype=int)
        for row, of_label in zip(to, parts, strict=True):
            row[: len(of_label)] = [places[one] for one in of_label]
        other.label = to[self.label[rows], place] if len(rows) else np.empty(0, int)
        other._count()
        return other

    def for_items(self, items: Collection[Any]) -> "RatingTable":
        """Return only the ratings of these items; in a check, those of all their statements."""
        return self.subset(np.array([task in items for task in self.tasks], dtype=bool)[self.item])

    def subset(self, rows: Array) -> "RatingTable":
        """Keep only some ratings, by a mask (R) or by positions in order, and their items; annotators and labels keep
        their positions.
        """
        other = copy.copy(self)
        places, other.item = distinct(self.item[rows])
        other.items = [self.items[place] for place in places]
        other.tasks = [self.tasks[place] for place in places]
        other.annotator, other.label, other._pairs = self.annotator[rows], self.label[rows], []
        other._count()
        return other

    @property
    def shares(self) -> list[float]:
        """Return the share of each label, the most common first."""
        return sorted((self.counts.sum(axis=0) / max(self.counts.sum(), 1)).tolist(), reverse=True)

    def patterns(self) -> tuple[Array, Array]:
        """Return the distinct label counts of items (P × L), in order, and the number of items with each (P)."""
        return distinct_rows(self.counts)

    def pairs(self) -> tuple[Array, Array, Array, Array]:
        """Return pairs of ratings of one item: first annotator, second, first's label, second's; sorted."""
        first, second = self.pair_indices()
        label = self.label.astype(np.int32)  # millions of pairs
        return self.annotator[first], self.annotator[second], label[first], label[second]

    def code_of_pairs(self, first: Array, second: Array) -> Array:
        """Encode each pair of annotators as one number: first position × number of annotators + second position."""
        return first.astype(np.int64) * max(1, len(self.annotators)) + second

    def pair_indices(self, only: int | None = None) -> tuple[Array, Array]:
        """Return the same pairs as positions of ratings: (first, second). With `only`, the position of an annotator,
        return only that annotator's pairs.
        """
        if not self._pairs:
            order = np.lexsort((self.annotator, self.item)).astype(np.int32)
            items, firsts, seconds = self.item[order], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
            for step in range(1, int(self.counts.sum(axis=1).max(initial=0))):
                at = np.flatnonzero(items[step:] == items[:-step])
                firsts.append(order[at])
                seconds.append(order[at + step])
            self._pairs.append((np.concatenate(firsts), np.concatenate(seconds)))
        ((first, second),) = self._pairs
        if only is None:
            return first, second
        theirs = (self.annotator[first] == only) | (self.annotator[second] == only)
        return first[theirs], second[theirs]

    def rated_with(self) -> Iterator[Array]:
        """Return, for each of `annotators`, all ratings of the items they rated, as positions in order."""
        of_item, sizes = np.argsort(self.item, kind="stable"), self.counts.sum(axis=1)
        ends, own, none = np.cumsum(sizes), rows_by(self.annotator), np.empty(0, np.int64)
        for place in range(len(self.annotators)):
            items = self.item[own.get(place, none)]
            many = sizes[items]
            yield np.sort(of_item[np.repeat(ends[items] - np.cumsum(many), many) + np.arange(many.sum())])


def agreement_with_majority(table: RatingTable) -> dict[int | str, tuple[int, int]]:
    """Return how often each annotator gave the label most others gave to the item, and the number of ratings compared.

    A rating is compared if the other ratings of its item have a single most frequent label. On an ordered scale a
    rating agrees if it is at most one step from the others' median (half a step on four points or fewer, a tenth of the
    range for typed numbers); a ranking, if more pairs of options have the order of the others' mean ranks than the
    reverse; a set, if its overlap with what more than half of the others chose is at least half; marks on a picture, if
    their mean similarity to the others' is at least 0.5.
    """
    same, compared = (_is_near if table.scale.level != NOMINAL else _is_majority)(table)
    people = len(table.annotators)
    n = np.bincount(table.annotator[compared], minlength=people).tolist()
    agreed = np.bincount(table.annotator[same], minlength=people).tolist()
    return dict(zip(table.annotators, zip(agreed, n, strict=True), strict=True))


def _is_majority(table: RatingTable) -> tuple[Array, Array]:
    """Return masks (R each) of the ratings that agree and of the ratings compared."""
    rows = np.arange(len(table.item))
    others = table.counts[table.item]
    others[rows, table.label] -= 1
    most = others.max(axis=1, initial=0)
    compared = (most > 0) & ((others == most[:, None]).sum(axis=1) == 1)
    return compared & (others[rows, table.label] == most), compared


def _is_near(table: RatingTable) -> tuple[Array, Array]:
    """Return the same masks for a scale."""
    of_item: dict[int, list[int]] = defaultdict(list)
    for item, label in zip(table.item.tolist(), table.label.tolist(), strict=True):
        of_item[item].append(label)
    found: list[bool | None] = []
    known: dict[tuple[int, tuple[int, ...]], bool | None] = {}
    for item, label in zip(table.item.tolist(), table.label.tolist(), strict=True):
        others = list(of_item[item])
        others.remove(label)
        key = label, tuple(sorted(others))
        if key not in known:
            known[key] = agrees_on_scale(table.scale, table.labels[label], [table.labels[one] for one in others])
        found.append(known[key])
    return np.array([one is True for one in found], dtype=bool), np.array(
        [one is not None for one in found], dtype=bool
    )


def agrees_on_scale(scale: Scale, own: str, others: Sequence[str]) -> bool | None:
    """Return whether a rating is near the others' (see `agreement_with_majority`); None if there are no others."""
    if not others:
        return None
    if scale.level == RANK:
        mine, ranks = ranks_of(own), mean_ranks(others)
        if mine.keys() != ranks.keys():
            return None
        options = sorted(mine)
        tau = tau_b([mine[one] for one in options], [ranks[one] for one in options])
        return None if tau is None else tau > 0
    if scale.level == SET:
        counts = Counter(option for one in others for option in chosen(one))
        most = {option for option, n in counts.items() if n * 2 > len(others)}
        return jaccard(chosen(own), most) >= 0.5 if most else None
    if scale.ends:
        return scale.share(float(own), median(map(float, others))) <= NEAR
    if scale.level in (POINTS, BOXES):
        return fmean(marks.likeness(scale.level, own, one, scale.radius) for one in others) >= marks.HALF
    places = [scale.order.index(one) for one in others]
    return abs(scale.order.index(own) - median(places)) <= (1 if len(scale.order) > _FEW_POINTS else 0.5)


def count_disagreements(table: RatingTable) -> int:
    """Count the items with two or more different labels; in a check, with different answers to a statement."""
    differ = np.flatnonzero((table.counts > 0).sum(axis=1) > 1).tolist()
    return len({table.tasks[place] for place in differ})


def shared_items(table: RatingTable) -> dict[tuple[int, int], int]:
    """Map (first annotator's position, second's) to the number of items both rated, largest first."""
    first, second = table.pair_indices()
    people = max(1, len(table.annotators))
    both = table.code_of_pairs(table.annotator[first], table.annotator[second])
    codes, times = np.unique(both, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return {divmod(code, people): n for code, n in zip(codes[order].tolist(), times[order].tolist(), strict=True)}
