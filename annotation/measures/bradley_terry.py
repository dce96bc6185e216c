"""The strengths of things compared in pairs (Bradley and Terry 1952): P(i over j) = 1 / (1 + exp(s_j − s_i)).

A tie counts as half a win for each. Strengths are maximum-likelihood estimates by Newton's method with mean zero; they
exist if no group of things beats all others every time (Ford 1957). Standard errors are robust (White 1982): they
hold with ties, whose results vary less than wins and losses do, and if comparisons of one item, or by one annotator,
are dependent (`over_annotators.spread`). They need several items that differ: there is no interval for a thing compared
on fewer than `FEWEST` items, or with the expected result on each.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from annotation.measures.over_annotators import Spread, Spreads, spread
from annotation.measures.scored import COMPARED, NONE, Span, with_intervals
from annotation.measures.types import Array, Figures

FEWEST = 10  # the fewest items for an interval
FEW_ITEMS = f"compared on fewer than {FEWEST} items"
ALL_ALIKE = "all items had the same result, as with only ties, so nothing shows how much others would differ"
_MOST_STEPS, _PRECISION = 100, 1e-12
_ROUNDING = 1e-9  # rounding error in an item's score of 0


class Compared(NamedTuple):
    """`first` got `score` against `second`: 1, 0, or 0.5 for a tie. Comparisons of the same `item` belong together."""

    item: Hashable
    first: str
    second: str
    score: float
    annotator: int = 0


@dataclass(frozen=True, slots=True)
class Strength:
    """A strength on the logit scale: `measured` with its intervals (`scored.with_intervals`), from `n` comparisons. If
    it has no intervals, `reason` explains why.
    """

    name: str
    measured: Figures
    n: int
    reason: str = ""

    @property
    def value(self) -> float:
        return float(self.measured["value"])


class Strengths(NamedTuple):
    """Strengths, strongest first, and their differences from all later ones, if there are at most `COMPARED`."""

    rows: list[Strength]
    differences: list[Figures]


class NoStrengths(ValueError):
    """There is no estimate; the message explains why."""


def bradley_terry(compared: Sequence[Compared]) -> Strengths:
    """Estimate the strengths of everything compared. Raises NoStrengths."""
    names = sorted({name for one in compared for name in (one.first, one.second)})
    place = {name: number for number, name in enumerate(names)}
    first = np.array([place[one.first] for one in compared], dtype=int)
    second = np.array([place[one.second] for one in compared], dtype=int)
    score = np.array([one.score for one in compared], dtype=float)
    if len(names) < 2:
        raise NoStrengths("fewer than two were compared")
    wins = np.zeros((len(names), len(names)))
    np.add.at(wins, (first, second), score)
    np.add.at(wins, (second, first), 1 - score)
    if not _is_connected(wins > 0):
        raise NoStrengths("some lost or won all comparisons with the others, so their distance has no estimate")
    strengths = _most_likely(wins)
    away = score - 1 / (1 + np.exp(strengths[second] - strengths[first]))
    _, item = np.unique([hash(one.item) for one in compared], return_inverse=True)
    _, people = np.unique([one.annotator for one in compared], return_inverse=True)
    both = wins + wins.T
    reasons = _why_no_interval(
        np.concatenate([item, item]), np.concatenate([first, second]), np.concatenate([away, -away])
    )
    bread = np.linalg.pinv(_information(both, strengths))
    parts = away[:, None] * (bread[first] - bread[second])  # each comparison's share in each strength's error
    order, spreads = sorted(range(len(names)), key=lambda at: (-strengths[at], names[at])), spread(parts, item, people)
    rows = []
    for at in order:
        measured = _measured(strengths[at], None if reasons[at] else spreads, at)
        rows.append(Strength(names[at], measured, int(both[at].sum().round()), reasons[at]))
    pairs, differences = list(combinations(order, 2)) if len(names) <= COMPARED else [], []
    apart = spread(parts[:, [one for one, _ in pairs]] - parts[:, [other for _, other in pairs]], item, people)
    for at, (one, other) in enumerate(pairs):
        measured = _measured(strengths[one] - strengths[other], None if reasons[one] or reasons[other] else apart, at)
        named = {"first": names[one], "second": names[other], "n": int(both[one, other].round())}
        differences.append(named | measured)
    return Strengths(rows, differences)


def _measured(value: float, found: Spreads | None, at: int) -> Figures:
    """Return a value with the intervals of the estimate at this position in `found`."""

    def span(of: Spread) -> Span:
        return float(value - of.half(at)), float(value + of.half(at))

    if found is None or found.these is None:
        return with_intervals(float(value), NONE, None)
    return with_intervals(float(value), span(found.these), found.others and span(found.others))


def _why_no_interval(item: Array, of: Array, away: Array) -> list[str]:
    """Explain for each thing why it has no interval. For each part of a comparison, `item` has its item, `of` its
    thing's number, and `away` what it adds to the derivative of the likelihood.
    """
    scores = np.zeros((item.max() + 1, of.max() + 1))
    np.add.at(scores, (item, of), away)
    few = [len(np.unique(item[of == number])) < FEWEST for number in range(scores.shape[1])]
    alike = [bool((np.abs(own) <= _ROUNDING).all()) for own in scores.T]
    return [FEW_ITEMS if is_few else ALL_ALIKE if is_alike else "" for is_few, is_alike in zip(few, alike, strict=True)]


def _is_connected(beats: Array) -> bool:
    """Return whether a chain of wins leads from every thing to every other. `beats` is N × N."""
    reached = np.eye(len(beats), dtype=bool) | beats
    for step in range(len(beats)):
        reached |= reached[:, [step]] & reached[[step], :]
    return bool(reached.all())


def _most_likely(wins: Array) -> Array:
    """Return N strengths with mean zero. `wins` (N × N): how often the row beat the column."""
    both, won = wins + wins.T, wins.sum(axis=1)
    strengths = np.zeros(len(wins))
    for _ in range(_MOST_STEPS):
        expected = (both * _chances(strengths)).sum(axis=1)
        step = np.linalg.pinv(_information(both, strengths)) @ (won - expected)
        step *= min(1, 2 / max(np.abs(step).max(), 1e-300))  # a long step may overshoot the maximum
        strengths = strengths + step - (strengths + step).mean()
        if np.abs(step).max() < _PRECISION:
            break
    return strengths


def _chances(strengths: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(strengths[None, :] - strengths[:, None])))


def _information(both: Array, strengths: Array) -> Array:
    """Return the negative second derivative of the log-likelihood, N × N."""
    chances = _chances(strengths)
    weight = both * chances * (1 - chances)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)
