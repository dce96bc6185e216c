"""A model's answers to a question about each item, with their margins. Pure.

Scores are columns under the names that a metric compares (`benchmarks/metrics/`), each with the items that have it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from benchmarks.metrics.base import Pairs, Z, beats
from benchmarks.predictions.kinds import RIGHT, Kind

Column = tuple[np.ndarray, np.ndarray]  # items in ascending order, and the score of each


@dataclass(frozen=True, slots=True)
class AnsweredItems:
    """One model's answers to one question about n items in ascending order: shapes (n,).

    `margin`: the correct option's score minus those of the others, the smallest difference; above 0 is right. NaN for
    choices without scores.
    """

    items: np.ndarray
    right: np.ndarray
    margin: np.ndarray

    def about(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return 1 (right), 0 (not) or -1 (not answered) for these items, and the margins, NaN if there are none."""
        if not len(self.items):
            return np.full(len(items), -1, np.int8), np.full(len(items), np.nan)
        places = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        there = self.items[places] == items
        right = np.where(there, self.right[places], -1).astype(np.int8)
        return right, np.where(there, self.margin[places], np.nan)

    @property
    def scaled(self) -> "AnsweredItems":
        """Divide margins by their root mean square, to compare models of different scales; 0 stays 0."""
        there = self.margin[np.isfinite(self.margin)]
        size = float(np.sqrt(np.mean(there**2))) if len(there) else 0.0
        return AnsweredItems(self.items, self.right, self.margin / size if size else self.margin)


NOTHING = AnsweredItems(np.array([], np.int64), np.array([], bool), np.array([], float))


def of_scores(columns: Mapping[str, Column], pairs: Pairs) -> AnsweredItems:
    """Return answers for the items with every score that the pairs compare. A tie is not right."""
    names = sorted({name for pair in pairs for name in pair})
    if any(name not in columns for name in names):
        return NOTHING
    items = reduce(np.intersect1d, (columns[name][0] for name in names))
    scores = {name: columns[name][1][np.searchsorted(columns[name][0], items)] for name in names}
    with np.errstate(invalid="ignore"):  # two infinities have no difference
        margin = np.min([scores[one] - scores[other] for one, other in pairs], axis=0)
    return AnsweredItems(items, np.asarray(beats(scores, pairs)), margin)


def of_choices(chosen: Mapping[int, str], right: str) -> AnsweredItems:
    """Return answers from choices by item, for a question with this correct option."""
    items = np.array(sorted(chosen), np.int64)
    found = np.array([chosen[item] in (right, RIGHT) for item in items.tolist()], bool)
    return AnsweredItems(items, found, np.full(len(items), np.nan))


def _together(parts: Sequence[AnsweredItems]) -> AnsweredItems:
    """Join answers about different items."""
    items = np.concatenate([part.items for part in parts])
    order = np.argsort(items)
    right, margin = (np.concatenate([getattr(part, name) for part in parts]) for name in ("right", "margin"))
    return AnsweredItems(items[order], right[order], margin[order])


def _every(parts: Sequence[AnsweredItems]) -> AnsweredItems:
    """Combine: right if all parts are, with the smallest margin, for items that answer every part."""
    items = reduce(np.intersect1d, (part.items for part in parts))
    rows = [part.about(items) for part in parts]
    right = np.all([right == 1 for right, _ in rows], axis=0)
    return AnsweredItems(items, right, np.min([margin for _, margin in rows], axis=0))


def answers(
    kind: Kind, columns: Mapping[str, Column], choices: Mapping[str, Mapping[int, str]], questions: Collection[str]
) -> AnsweredItems:
    """Return the answers, in this kind of evaluation, to these questions, all of which must be right."""
    found = []
    for name in questions:
        by_choice = of_choices(choices.get(name, {}), kind.questions[name].right)
        found.append(_together([of_scores(columns, kind.measured.questions[name]), by_choice]))
    return _every(found)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1, shape (n,); equal values share the mean of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[group]


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's ρ: Pearson's correlation of these ranks, shapes (n,); neither may be constant."""
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))


def spearman(one: np.ndarray, other: np.ndarray) -> tuple[float, float, float] | None:
    """Return Spearman's rank correlation of n pairs with its 95% interval; None for n < 4, or if one is constant.

    The interval: Fisher's transformation with the variance (1 + ρ²/2)/(n − 3) (Bonett and Wright 2000). If one order is
    the other or its reverse, the interval is that of ranks with two neighbours swapped, extended to ρ.
    """
    n = len(one)
    if n < 4 or np.all(one == one[0]) or np.all(other == other[0]):
        return None
    rho = rank_correlation(ranks(one), ranks(other))
    near = rho * (1 - 12 / (n**3 - n)) if abs(rho) > 1 - 1e-12 else rho
    half = Z * np.sqrt((1 + near**2 / 2) / (n - 3))
    low, high = np.tanh(np.arctanh(near) - half), np.tanh(np.arctanh(near) + half)
    return rho, float(min(low, rho)), float(max(high, rho))
