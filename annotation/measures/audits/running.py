"""An audit in progress: its result so far, whether it may stop, and how many items remain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from annotation.measures.audits import intervals, side_information, stratified
from annotation.measures.audits.intervals import Bounds
from annotation.measures.audits.plan import Plan, Target, plan
from annotation.measures.types import Array

_POINTS = 200  # points of the band that is drawn
_KEPT = 8  # results: one request or check often repeats the same computation


def looks(wrong: Array, size: int, target: Target, strata: Sequence[str] | None, scores: Array | None = None) -> Bounds:
    """Return the interval after each judged item. `wrong` has the judged items, `strata` and `scores` all, in order."""
    if scores is not None:
        by = side_information.any_look if target.at_any_look else side_information.by_width
        return by(wrong, scores[: len(wrong)], scores)
    n = np.arange(1, len(wrong) + 1)
    if target.at_any_look:
        return intervals.narrowing(intervals.any_look(n, np.cumsum(wrong), size))
    if strata:
        return stratified.by_width(wrong, np.unique(np.array(strata), return_inverse=True)[1])
    return intervals.by_width(n, np.cumsum(wrong), size)


@dataclass(frozen=True, slots=True)
class Ahead:
    """The first `items` of the order, up to the last settled one, of which `open` are not settled: the share of wrong
    items and the end of the interval if all open ones are right (`low`), or wrong (`high`).
    """

    items: int
    open: int
    if_right: float
    low: float
    if_wrong: float
    high: float


@dataclass(frozen=True, slots=True)
class Progress:
    """An audit of `items` items after the first `n` of its order, of which `wrong` are wrong.

    `n` counts the items until the audit `ended`, or otherwise up to the first that is still open. `met` is the target's
    state: True or False once it is certain, None until then. A bound that is out of reach does not end the audit, which
    still narrows the interval. It is `futile` once even the interval's lower end is above it. Shares are None before
    the first item. `plan` has the total number of items needed. `band`: (n, estimate, low, high) at points along the
    way. `later`: items settled after the first `n`, and while the audit runs, their effect (`ahead`).
    """

    items: int
    n: int
    wrong: int
    met: bool | None
    ended: bool
    estimate: float | None
    low: float | None
    high: float | None
    plan: Plan
    band: list[tuple[int, float, float, float]]
    futile: bool = False
    later: int = 0
    ahead: Ahead | None = None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def progress(
    settled: Sequence[bool | None], target: Target, strata: Sequence[str] | None = None, guess: float | None = None,
    scores: Sequence[float] | None = None,
) -> Progress:  # fmt: skip
    """Return an audit's progress. `settled` has whether each item in order is wrong, None while open; `strata` and
    `scores` are of all items. The plan ignores the scores, which can only reduce the number of items.
    """
    of_all = (None if one is None else tuple(one) for one in (strata or None, scores or None))
    return _progress(tuple(settled), target, guess, *of_all)


@lru_cache(_KEPT)
def _progress(
    settled: tuple[bool | None, ...], target: Target, guess: float | None, strata: tuple[str, ...] | None,
    scores: tuple[float, ...] | None,
) -> Progress:  # fmt: skip
    size, alpha = len(settled), side_information.ALPHA_OF_RATIO if scores and target.at_any_look else intervals.ALPHA
    first_open = next((place for place, one in enumerate(settled) if one is None), size)
    known = np.array(scores, float) if scores else None
    ahead = _ahead(settled, target, strata, known)
    if not first_open:
        later = ahead.items - ahead.open if ahead else 0
        needed = plan(size, target, guess, alpha=alpha)
        return Progress(size, 0, 0, None, False, None, None, None, needed, [], later=later, ahead=ahead)
    wrong = np.array(settled[:first_open], dtype=int)
    found = looks(wrong, size, target, strata, known)
    stop = target.stop(found, size)
    n = stop or first_open
    judged = int(wrong[:n].sum())
    estimate, low, high = (float(of[n - 1]) for of in (found.estimate, found.low, found.high))
    needed = Plan(n, n) if stop else plan(size, target, estimate, n=n, wrong=judged, alpha=alpha)
    places = np.unique(np.round(np.linspace(0, n - 1, min(n, _POINTS))).astype(int))
    band = [(int(at) + 1, float(found.estimate[at]), float(found.low[at]), float(found.high[at])) for at in places]
    futile = target.is_futile(low)
    met = False if target.is_missed(judged, size) or (stop and futile) else True if stop else None
    later = sum(one is not None for one in settled[n:])
    return Progress(
        size, n, judged, met, stop is not None, estimate, low, high, needed, band,
        futile, later, None if stop else ahead,
    )  # fmt: skip


def _ahead(
    settled: Sequence[bool | None], target: Target, strata: Sequence[str] | None, scores: Array | None
) -> Ahead | None:
    """Bound the result of the items settled after the first open one; None if there are none."""
    items = max((place for place, one in enumerate(settled, 1) if one is not None), default=0)
    some = settled[:items]
    if None not in some:
        return None
    right, wrong = (
        looks(np.array([as_if if one is None else one for one in some], int), len(settled), target, strata, scores)
        for as_if in (False, True)
    )
    ends = right.estimate[-1], right.low[-1], wrong.estimate[-1], wrong.high[-1]
    return Ahead(items, some.count(None), *map(float, ends))
