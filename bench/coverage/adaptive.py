"""Adaptive overlap: how often the estimated error's interval contains the error that the crowd really leaves.

Items differ in the share of annotators who give the majority's answer, as in docs/design/evidence.md; two judgments
at least, nine at most, a certainty of 80%. The truth is the error over 100,000 tasks of the same crowd.
"""

from collections.abc import Callable, Iterator

import numpy as np

from annotation.measures import adaptive_overlap
from annotation.measures.types import Array
from annotation.protocols.certainty import wants_more

SEED = 20240606
STOPS = adaptive_overlap.Stops(2, 0.8, 9)
Crowd = Callable[[np.random.Generator, int], Array]  # how many items → their shares


def _two(share: float, many: float, few: float) -> Crowd:
    return lambda dice, n: np.where(dice.random(n) < share, many, few)


CROWDS: dict[str, Crowd] = {
    "alike": _two(1, 0.9, 0.9),
    "noisy": _two(1, 0.75, 0.75),
    "hard tail": _two(0.8, 0.97, 0.6),
    "easy": _two(0.95, 0.99, 0.7),
    "spread": lambda dice, n: np.maximum(one := dice.beta(0.5, 0.5, n), 1 - one),
}
HEADS = ("crowd", "tasks", "error", "mean estimate", "covers", "mean width")


def rows(studies: int) -> Iterator[list[str]]:
    for name, crowd in CROWDS.items():
        for tasks in (20, 100, 400):
            true, estimate, held, width = coverage(crowd, tasks, studies)
            cells = (f"{100 * one:.1f}%" for one in (true, estimate, held, width))
            yield [name, f"{tasks}", *cells]


def coverage(crowd: Crowd, tasks: int, studies: int) -> tuple[float, float, float, float]:
    """Return the crowd's error, the mean estimate, the share of intervals that contain it, and their mean width."""
    dice = np.random.default_rng(SEED)
    true = float(np.mean([_error(votes) for votes in _votes(crowd, 100_000, dice)]))
    found = []
    for _ in range(studies):
        given = [["a" if vote else "b" for vote in votes] for votes in _votes(crowd, tasks, dice)]
        one = adaptive_overlap.figures(given, given, STOPS)
        found.append((one["estimated_error"], one["error_low"], one["error_high"]))
    estimate, low, high = np.array(found).T
    return true, float(estimate.mean()), float(((low <= true) & (true <= high)).mean()), float((high - low).mean())


def _votes(crowd: Crowd, tasks: int, dice: np.random.Generator) -> Iterator[list[bool]]:
    for share, given in zip(crowd(dice, tasks), dice.random((tasks, STOPS.cap)), strict=True):
        votes = (given < share).tolist()
        n = STOPS.least
        while _wants_more(votes[:n]):
            n += 1
        yield votes[:n]


_KNOWN: dict[tuple[int, int], bool] = {}


def _wants_more(votes: list[bool]) -> bool:
    """Return whether a task with this many votes for and against gets more; computed once."""
    key = sum(votes), len(votes)
    if key not in _KNOWN:
        _KNOWN[key] = wants_more(["a" if vote else "b" for vote in votes], STOPS.certainty, STOPS.cap)
    return _KNOWN[key]


def _error(votes: list[bool]) -> float:
    right = sum(votes)
    return 0.5 if 2 * right == len(votes) else float(2 * right < len(votes))
