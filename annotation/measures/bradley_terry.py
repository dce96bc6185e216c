"""Strengths of things that were compared in pairs (Bradley and Terry 1952): P(i over j) = 1 / (1 + exp(s_j − s_i)).

A tie counts as half a win for each. Strengths are of maximum likelihood, by Newton's method, and have the mean zero;
they exist where no group of things beats all others every time (Ford 1957). Standard errors are robust (White 1982):
they hold with ties, whose results vary less than wins and losses do, and where comparisons of one item depend on each
other, since they are summed by item, times √(n / (n − 1)) of n items, with Student's t of n − 1 degrees of freedom.
They need several items that differ: there is no interval for what was compared on fewer than `FEWEST` items, or came
out on each as expected.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.measures.exact_tests import student_t_95
from annotation.measures.types import Array

FEWEST = 10  # items behind an interval
FEW_ITEMS = f"compared on fewer than {FEWEST} items"
ALL_ALIKE = "all items came out alike, as with ties only, so nothing shows how much others would differ"
_MOST_STEPS, _PRECISION = 100, 1e-12
_ROUNDING = 1e-9  # what may be left of an item's score that is 0


class Compared(NamedTuple):
    """`first` got `score` against `second`: 1, 0, or 0.5 for a tie. `item` says which comparisons belong together."""

    item: Hashable
    first: str
    second: str
    score: float


@dataclass(frozen=True, slots=True)
class Strength:
    """On the logit scale, with its 95 % interval, and `n`, the comparisons that it was in. Where `low` and `high` are
    None, `reason` says why.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    n: int
    reason: str = ""


class NoStrengths(ValueError):
    """There is no estimate; the message says why."""


def bradley_terry(compared: Sequence[Compared]) -> list[Strength]:
    """The strengths of all that was compared, strongest first. Raises NoStrengths."""
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
    chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    _, item = np.unique([hash(one.item) for one in compared], return_inverse=True)
    scores = np.zeros((item.max() + 1, len(names)))
    np.add.at(scores, (item, first), score - chance)
    np.add.at(scores, (item, second), chance - score)
    bread = np.linalg.pinv(_information(wins + wins.T, strengths))
    items = len(scores)
    away = np.linalg.norm(scores @ bread, axis=0)  # of the sandwich's diagonal the root, never of less than zero
    away *= student_t_95(max(1, items - 1)) * np.sqrt(items / max(1, items - 1))
    n = (wins + wins.T).sum(axis=1).round().astype(int)
    reasons = _why_no_interval(np.concatenate([item, item]), np.concatenate([first, second]), scores)
    rows = zip(names, strengths.tolist(), away.tolist(), n.tolist(), reasons, strict=True)
    found = [
        Strength(name, value, None if why else value - width, None if why else value + width, count, why)
        for name, value, width, count, why in rows
    ]
    return sorted(found, key=lambda one: (-one.value, one.name))


def _why_no_interval(item: Array, of: Array, scores: Array) -> list[str]:
    """Of each of N: `item` and `of` have the item and the number of each part of a comparison; `scores` (items × N)
    what each adds to the derivative of the likelihood.
    """
    few = [len(np.unique(item[of == number])) < FEWEST for number in range(scores.shape[1])]
    alike = [bool((np.abs(own) <= _ROUNDING).all()) for own in scores.T]
    return [FEW_ITEMS if is_few else ALL_ALIKE if is_alike else "" for is_few, is_alike in zip(few, alike, strict=True)]


def _is_connected(beats: Array) -> bool:
    """Whether from each to each there is a chain of wins. `beats` is N × N."""
    reached = np.eye(len(beats), dtype=bool) | beats
    for step in range(len(beats)):
        reached |= reached[:, [step]] & reached[[step], :]
    return bool(reached.all())


def _most_likely(wins: Array) -> Array:
    """N strengths with the mean zero. `wins`: N × N, how often the row beat the column."""
    both, won = wins + wins.T, wins.sum(axis=1)
    strengths = np.zeros(len(wins))
    for _ in range(_MOST_STEPS):
        expected = (both * _chances(strengths)).sum(axis=1)
        step = np.linalg.pinv(_information(both, strengths)) @ (won - expected)
        step *= min(1, 2 / max(np.abs(step).max(), 1e-300))  # a long step may pass the summit
        strengths = strengths + step - (strengths + step).mean()
        if np.abs(step).max() < _PRECISION:
            break
    return strengths


def _chances(strengths: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(strengths[None, :] - strengths[:, None])))


def _information(both: Array, strengths: Array) -> Array:
    """The negative second derivative of the log-likelihood, N × N."""
    chances = _chances(strengths)
    weight = both * chances * (1 - chances)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)
