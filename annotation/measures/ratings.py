"""Ratings in columns of integer codes, so that a million of them fit in memory. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.measures.types import Array

Rating = tuple[Any, Any, str]  # item and annotator, each of any sortable type, and the label


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """R ratings in the order given. `item`, `annotator` and `label` (shape R) are positions in `items`, `annotators`
    and `labels`, whose values are distinct, in order of first appearance if made from rows.
    """

    items: list[Any]
    annotators: list[Any]
    labels: list[str]
    item: Array
    annotator: Array
    label: Array

    @classmethod
    def of(cls, ratings: "Iterable[Rating] | RatingColumns") -> "RatingColumns":
        """Return rows as columns; columns are returned as they are."""
        if isinstance(ratings, RatingColumns):
            return ratings
        columns = list(zip(*ratings, strict=True)) or [(), (), ()]
        (items, item), (annotators, annotator), (labels, label) = map(codes, columns)
        return cls(items, annotators, labels, item, annotator, label)

    def __len__(self) -> int:
        return len(self.item)

    def earliest(self) -> Array:
        """Return, for each rating, the position of the first one of the same item and annotator (shape R)."""
        same = self.item.astype(np.int64) * max(1, len(self.annotators)) + self.annotator
        _, first, back = np.unique(same, return_index=True, return_inverse=True)
        found: Array = first[back]
        return found

    def once(self, last: bool = False) -> "RatingColumns":
        """Keep only an annotator's first rating of each item or, in its position, the `last`."""
        first = self.earliest()
        chosen = np.unique(first)
        if last:
            latest = np.zeros(len(self), dtype=np.int64)
            np.maximum.at(latest, first, np.arange(len(self)))
            chosen = latest[chosen]
        labels, label = _in_use(self.labels, self.label[chosen])
        return RatingColumns(self.items, self.annotators, labels, self.item[chosen], self.annotator[chosen], label)


def in_order(values: Sequence[Any], at: Array) -> tuple[list[Any], Array]:
    """Sort the distinct `values`, and return the positions `at` as positions among them."""
    by_value = sorted(range(len(values)), key=values.__getitem__)
    places = np.empty(len(values), dtype=np.int32)
    places[by_value] = np.arange(len(values))
    return [values[place] for place in by_value], places[at]


def codes(values: Sequence[Any]) -> tuple[list[Any], Array]:
    """Return the distinct values in order of first appearance, and each value's position among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))


def distinct(numbers: Array) -> tuple[Array, Array]:
    """Return the distinct numbers (shape D), sorted, and the position of each of R numbers among them (shape R).

    Same result as `np.unique`, which sorts. Marking the numbers that occur is faster and takes less memory, unless they
    are sparse.
    """
    end = int(numbers.max(initial=-1)) + 1
    if end > 4 * len(numbers) or numbers.min(initial=0) < 0:
        values, at = np.unique(numbers, return_inverse=True)
        return values, at.astype(np.int32)
    there = np.zeros(end, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - 1)[numbers]


def rows_by(numbers: Array) -> dict[int, Array]:
    """Return the positions of each distinct number, in order."""
    values, at = distinct(numbers)
    rows, ends = np.argsort(at, kind="stable"), np.cumsum(np.bincount(at, minlength=len(values)))
    return dict(zip(values.tolist(), np.split(rows, ends)[:-1], strict=True))


def distinct_rows(counts: Array) -> tuple[Array, Array]:
    """Return the distinct rows of integers from 0 on, in order, and the count of each (`np.unique`)."""
    base, width = int(counts.max(initial=0)) + 1, counts.shape[1]
    if base**width > 2**62:
        return np.unique(counts, axis=0, return_counts=True)
    digits = base ** np.arange(width)[::-1]  # each row as one number, which is much faster to look up
    codes, which = distinct(counts @ digits)
    return codes[:, None] // digits % base, np.bincount(which, minlength=len(codes))


def _in_use(values: Sequence[str], at: Array) -> tuple[list[str], Array]:
    """Keep only the values used by a position, in order of first appearance, and renumber the positions."""
    used, first = np.unique(at, return_index=True)
    used = used[np.argsort(first)]
    places = np.zeros(len(values), dtype=np.int64)
    places[used] = np.arange(len(used))
    return [values[place] for place in used], places[at]
