"""Audits with side information: scores that a model gave to every item before the first judgment, high for wrong ones.

The scores enter as a control variate. They can make the interval narrower, and never invalid: they are known for all
items, so the mean score of the items that are left is known at every draw.

- `by_width`: the regression estimate of the share (Cochran 1977, §7) with Wilson's interval on the sample that a plain
  estimate would need for the same variance. Nominal if one stops only by width. The audit would stop early whenever the
  scores happen to look good, so the variance includes that of ten more items without scores. Until five wrong and five
  right items are drawn it is the plain interval.
- `any_look`: money is bet against every number K of wrong items (Shekhar, Xu and Ramdas 2023), beginning with 1. Half
  of it (`_FOR_RATIO`) grows as the prior-posterior ratio of K, the rest by bets on f − g + mean of g among what is
  left: f is 1 for a wrong item, and g its probability by a logistic regression of f on the score, fitted to earlier
  draws. If K is true, the mean of this is the share of wrong items among what is left, however poor the scores. The
  money is then a martingale, and reaches 1 / α with probability at most α (Ville): then K is excluded. The interval is
  the truth at n = N and never wider than the ratio's at half of α (`ALPHA_OF_RATIO`). Bets follow the draws so far
  (aGRAPA, Waudby-Smith and Ramdas 2024, §B.3), cautiously while these are few. Draws are uniform, not weighted by the
  scores, as the ratio needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from annotation.measures.audits import intervals
from annotation.measures.audits.intervals import ALPHA, Bounds
from annotation.measures.types import Array

_FOR_RATIO = 0.5  # of the money
ALPHA_OF_RATIO = ALPHA * _FOR_RATIO
_MOST = 0.9  # share of the largest bet that could not lose everything
_BEFORE, _SHARE_BEFORE, _VARIANCE_BEFORE = 5, 0.05, 0.1  # draws, mean and variance averaged with the first real ones
_CAREFUL = 40  # the draw at which half of aGRAPA's recommended bet is placed
_FIRST_FIT, _GROWTH = 10, 1.15  # draws before the first regression, and their growth between regressions
_PENALTIES = np.array([0.01, 0.25])  # on the squares of the intercept and of the slope of standardized scores
_FINE = 50  # draws before the next look: one, or the draws so far divided by this
_KEPT = 8  # audits whose latest looks are kept
_CELLS = 4000  # at most this many ranges of K, each bet against as a whole
_TINY = 1e-6  # the smallest divisor of a largest bet
_STEADY = 4.0  # added to the regression's denominator, in variances of the scores


def by_width(wrong: Array, scores: Array, all_scores: Array) -> Bounds:
    """Return the interval after each draw, given `wrong` (0 or 1) and `scores` as drawn, and all N scores."""
    size, n = len(all_scores), np.arange(1, len(wrong) + 1)
    seen = _Moments(wrong, scores)
    share = np.cumsum(wrong) / n
    slope = seen.slope(all_scores)
    estimate = np.clip(share - slope * (np.cumsum(scores) / n - all_scores.mean()), 0, 1)
    spread = np.maximum(seen.residual(slope) + intervals.CAUTIOUS * seen.wrong / n, 1e-12)
    gain = np.maximum(1, share * (1 - share) / spread)
    enough = np.minimum(np.cumsum(wrong), n - np.cumsum(wrong)) >= 5
    effective = intervals.effective(n, size) * np.where(enough, gain, 1)
    return intervals.wilson(np.where(enough, estimate, share), effective)


class _Moments:
    """Moments of everything drawn up to and including each draw."""

    def __init__(self, wrong: Array, scores: Array):
        n = np.arange(1, len(wrong) + 1)
        self.n = n
        self.scores = np.maximum(np.cumsum(scores**2) / n - (np.cumsum(scores) / n) ** 2, 0)
        self.both = np.cumsum(scores * wrong) / n - np.cumsum(scores) * np.cumsum(wrong) / n**2
        share = np.cumsum(wrong) / n
        self.wrong = share * (1 - share)

    def slope(self, all_scores: Array) -> Array:
        """Return the slope of wrong regressed on scores, shrunk towards 0 while few draws were seen."""
        return np.asarray(self.both / (self.scores + _STEADY * (all_scores.var() or 1) / self.n))

    def residual(self, slope: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self.wrong - 2 * slope * self.both + slope**2 * self.scores
            return np.asarray(left * self.n / np.maximum(self.n - 2, 1))


def any_look(wrong: Array, scores: Array, all_scores: Array, alpha: float = ALPHA) -> Bounds:
    """Return the interval that all draws so far leave, after each draw. The estimate is as in `by_width`."""
    size, drawn = len(all_scores), len(wrong)
    low, high = np.zeros(drawn), np.ones(drawn)
    last = _last_look(drawn, size)
    given = (np.asarray(one, kind).tobytes() for one, kind in ((wrong[:last], int), (scores[:last], float)))
    for n, fewest, most in _bets(*given, np.asarray(all_scores, float).tobytes(), alpha):
        low[n - 1 :], high[n - 1 :] = fewest / size, most / size
    estimate = by_width(wrong, scores, all_scores).estimate
    ratio = intervals.any_look(np.arange(1, drawn + 1), np.cumsum(wrong), size, alpha * _FOR_RATIO)
    return intervals.narrowing(intervals.both(Bounds(low, high, estimate), ratio))


def _next_look(begun: int, size: int) -> int:
    return min(size, begun + max(1, begun // _FINE))


def _last_look(drawn: int, size: int) -> int:
    """Return the last look after at most this many draws; 0 if none yet."""
    begun = 0
    while begun < size and (following := _next_look(begun, size)) <= drawn:
        begun = following
    return begun


@lru_cache(_KEPT)
def _bets(wrong: bytes, scores: bytes, all_scores: bytes, alpha: float) -> list[tuple[int, int, int]]:
    """Return the looks (`_looks`) after these draws. They stay the same until the next look, hence the cache."""
    drawn, own, everyone = np.frombuffer(wrong, int), np.frombuffer(scores), np.frombuffer(all_scores)
    return list(_looks(drawn, _draws(drawn, own, everyone), len(everyone), alpha))


@dataclass(frozen=True, slots=True)
class _Draws:
    """For each draw f − g + mean of g (`value`); and, using only the draws before it: the smallest and largest possible
    value, an estimate of the benchmark's share of wrong items, and the variance of the value.
    """

    value: Array
    least: Array
    largest: Array
    share: Array
    variance: Array


def _draws(wrong: Array, scores: Array, all_scores: Array) -> _Draws:
    size, drawn = len(all_scores), len(wrong)
    middle, spread = all_scores.mean(), all_scores.std() or 1
    own, everyone = (scores - middle) / spread, (all_scores - middle) / spread
    value, least, largest, share, variance = (np.zeros(drawn) for _ in range(5))
    start, stop = 0, min(_FIRST_FIT, drawn)
    while start < drawn:
        new, seen = slice(start, stop), wrong[:start]
        guess, of_all = np.zeros(stop), np.zeros(size)
        if 0 < seen.sum() < start:
            weights = _logistic(own[:start], seen)
            guess, of_all = _chance(weights, own[:stop]), _chance(weights, everyone)
        n = np.arange(start, stop)
        mean = (of_all.sum() - _before(guess)[new]) / (size - n)
        value[new] = wrong[new] - guess[new] + mean
        least[new], largest[new] = mean - of_all.max(), 1 + mean - of_all.min()
        apart = wrong[:stop] - guess
        of_apart, of_squares = _before(apart)[new], _before(apart**2)[new]
        first = 0 if seen.any() else _BEFORE * _SHARE_BEFORE
        share[new] = np.clip(of_all.mean() + (of_apart + first) / (n + _BEFORE), 0, 1)
        variance[new] = (of_squares - of_apart**2 / np.maximum(n, 1) + _BEFORE * _VARIANCE_BEFORE) / (n + _BEFORE)
        start, stop = stop, min(drawn, max(stop + 1, int(stop * _GROWTH)))
    return _Draws(value, least, largest, share, variance)


def _looks(wrong: Array, draws: _Draws, size: int, alpha: float) -> Iterator[tuple[int, int, int]]:
    """Yield, for each look, the number of draws, and the fewest and most wrong items that the looks so far leave.

    A look that leaves nothing shows that some look missed the truth: it is the last, and the ratio takes over. In a
    large benchmark, neighbouring numbers of wrong items form a cell with a single stake. At each draw, the number in
    the cell that gains least counts, so that all have at least that money.
    """
    drawn, found, logs = len(wrong), np.concatenate([[0], np.cumsum(wrong)]), intervals.log_factorials(size)
    cell = -(-(size + 1) // _CELLS)
    first = np.arange(0, size + 1, cell)
    last = np.minimum(first + cell - 1, size)
    money, begun = np.zeros(len(first)), 0
    while (n := _next_look(begun, size)) <= drawn and begun < size:
        money += _gained(first, last, size, found, draws, np.arange(begun, n))
        look = np.asarray(n)
        counts = np.clip(intervals.most_likely(look, found[look], size), first, last)  # the least ratio of each cell
        ratio = -np.log(n + 1) - intervals.log_hypergeometric(logs, found[look], size, counts, look)
        all_money = np.logaddexp(ratio + np.log(_FOR_RATIO), money + np.log(1 - _FOR_RATIO))
        inside = np.flatnonzero(all_money < -np.log(alpha))
        if not len(inside):
            yield n, 0, size
            return
        kept = slice(inside[0], inside[-1] + 1)
        first, last, money, begun = first[kept], last[kept], money[kept], n
        yield n, max(int(first[0]), found[n]), min(int(last[-1]), size - n + found[n])


def _gained(first: Array, last: Array, size: int, found: Array, draws: _Draws, at: Array) -> Array:
    """Return how much these draws add to the log of the money bet against each cell."""
    left, before, value = size - at, found[at], draws.value[at]
    low, high = (np.clip((counts[:, None] - before) / left, 0, 1) for counts in (first, last))
    most_up = _MOST / np.maximum(high - draws.least[at], _TINY)
    most_down = _MOST / np.maximum(draws.largest[at] - low, _TINY)
    ahead = (size * draws.share[at] - (first + last)[:, None] / 2) / left
    advised = ahead / (draws.variance[at] + ahead**2) * (at / (at + _CAREFUL))
    bet = np.clip(advised, -most_down, most_up)
    return np.asarray(np.log1p(bet * (value - np.where(bet > 0, high, low))).sum(axis=1))


def _before(of: Array) -> Array:
    """Return, for each element, the sum of the elements before it."""
    return np.cumsum(of) - of


def _chance(weights: Array, scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(weights[0] + weights[1] * scores, -30, 30))))


def _logistic(scores: Array, wrong: Array) -> Array:
    """Fit intercept and slope by Newton's method, with penalties that keep them finite."""
    weights, design = np.zeros(2), np.stack([np.ones(len(scores)), scores], axis=1)
    for _ in range(12):
        chance = _chance(weights, scores)
        slope = design.T @ (wrong - chance) - _PENALTIES * weights
        curve = (design.T * (chance * (1 - chance))) @ design + np.diag(_PENALTIES)
        step = np.linalg.solve(curve, slope)
        weights = weights + np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-6:
            break
    return weights
