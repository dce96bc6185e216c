"""Audits with side information: scores that a model gave to every item before the first judgment, high for wrong ones.

The scores enter as a control variate. They can make the interval narrower, and never invalid: they are known for all
items, so the mean score of the items that are left is known at every draw.

- `by_width`: the regression estimate of the share (Cochran 1977, §7) with Wilson's interval on the sample that a plain
  estimate would need for the same variance. Nominal if one stops by width alone. Until five wrong and five right
  items are drawn it is the plain interval.
- `any_look`: bets against every share (Shekhar, Xu and Ramdas 2023) on f − g + mean of g among what is left, where f is
  1 for a wrong item and g is its probability by a logistic regression of f on the score, fitted to the draws before.
  The mean of this is the share among what is left, whatever the scores are worth. If a share is true, the
  wealth of a bettor on more wrong items is a martingale, and so is that of a bettor on fewer; a share is left out when
  either has grown beyond 2 / α (Ville). Most of the money follows the draws so far (aGRAPA, Waudby-Smith and Ramdas
  2024, §B.3), the rest is spread over fixed parts of the largest allowed bet. Draws are uniform, not weighted by the
  scores, so that the same draws also give the prior-posterior ratio: of α, `_FOR_BETS` goes to the bets and the rest
  to the ratio, and the interval is what both leave. A useless score therefore costs no more than that part of α.
"""

import numpy as np

from annotation.measures.audits import intervals
from annotation.measures.audits.intervals import ALPHA, Bounds
from annotation.measures.types import Array

_FOR_BETS = 0.2  # of α
ALPHA_OF_RATIO = ALPHA * (1 - _FOR_BETS)
_PARTS = np.array([0.2, 0.5, 0.95])  # of the largest allowed bet
_FOLLOWING, _MOST = 0.8, 0.9  # the part of the money that follows the draws, and the part of the largest bet it stakes
_BEFORE, _SHARE_BEFORE, _VARIANCE_BEFORE = 10, 0.1, 0.05  # draws, mean and variance that the first are averaged with
_FIRST_FIT, _GROWTH = 16, 1.25  # draws before the first regression, and their growth from one to the next
_PENALTIES = np.array([0.01, 0.25])  # on the squares of the intercept and of the slope of standardized scores
_GRID = 250  # shares against which bets are made; ends are rounded outwards to them
_BLOCK = 256  # draws at a time
_STEADY = 4.0  # added to the regression's denominator, in variances of the scores


def by_width(wrong: Array, scores: Array, all_scores: Array) -> Bounds:
    """After each draw: `wrong` (0 or 1) and `scores` in the order drawn, and the scores of all N items in any order."""
    size, n = len(all_scores), np.arange(1, len(wrong) + 1)
    seen = _Moments(wrong, scores)
    share = np.cumsum(wrong) / n
    slope = seen.slope(all_scores)
    estimate = np.clip(share - slope * (np.cumsum(scores) / n - all_scores.mean()), 0, 1)
    spread = np.maximum(seen.residual(slope), 1e-12)
    gain = np.maximum(1, share * (1 - share) / spread)
    enough = np.minimum(np.cumsum(wrong), n - np.cumsum(wrong)) >= 5
    effective = intervals.effective(n, size) * np.where(enough, gain, 1)
    return intervals.wilson(np.where(enough, estimate, share), effective)


class _Moments:
    """Of what was drawn up to each draw, that one included."""

    def __init__(self, wrong: Array, scores: Array):
        n = np.arange(1, len(wrong) + 1)
        self.n = n
        self.scores = np.maximum(np.cumsum(scores**2) / n - (np.cumsum(scores) / n) ** 2, 0)
        self.both = np.cumsum(scores * wrong) / n - np.cumsum(scores) * np.cumsum(wrong) / n**2
        share = np.cumsum(wrong) / n
        self.wrong = share * (1 - share)

    def slope(self, all_scores: Array) -> Array:
        """The regression of wrong on scores, drawn towards 0 as long as little was seen."""
        return np.asarray(self.both / (self.scores + _STEADY * (all_scores.var() or 1) / self.n))

    def residual(self, slope: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self.wrong - 2 * slope * self.both + slope**2 * self.scores
            return np.asarray(left * self.n / np.maximum(self.n - 2, 1))


def any_look(wrong: Array, scores: Array, all_scores: Array, alpha: float = ALPHA) -> Bounds:
    """After each draw, what all draws so far leave."""
    size, n = len(all_scores), np.arange(1, len(wrong) + 1)
    plain = intervals.any_look(n, np.cumsum(wrong), size, alpha * (1 - _FOR_BETS))
    bets = _bets(wrong, scores, all_scores, alpha * _FOR_BETS)
    return intervals.narrowing(intervals.both(plain, bets))


def _bets(wrong: Array, scores: Array, all_scores: Array, alpha: float) -> Bounds:
    """The shares against which neither the bets on more nor those on fewer have grown beyond 2 / α.

    A count of wrong items between two of the grid is bet against as its neighbour is: those who bet on more take the
    upper one, whose wealth is then the lower. So a count is left out only where its own wealth has grown as much.
    """
    size, drawn = len(all_scores), len(wrong)
    n = np.arange(1, drawn + 1)
    before = np.concatenate([[0], np.cumsum(wrong)[:-1]])  # wrong ones drawn before
    left = size - np.arange(drawn)
    added, lowest, highest = _guesses(wrong, scores, all_scores)
    value = wrong + added
    share, variance = _so_far(value)
    counts = np.unique(np.round(np.linspace(0, size, _GRID + 1)).astype(int))
    more, fewer = (np.zeros((len(_PARTS) + 1, len(counts))) for _ in range(2))  # log wealth
    weights = np.log([_FOLLOWING, *[(1 - _FOLLOWING) / len(_PARTS)] * len(_PARTS)])[:, None, None]
    low, high = np.empty(drawn, int), np.empty(drawn, int)
    bound = np.log(2 / alpha)
    for start in range(0, drawn, _BLOCK):
        block = slice(start, start + _BLOCK)
        mean = np.clip((counts[:, None] - before[None, block]) / left[None, block], 0, 1)
        apart, ahead = value[None, block] - mean, share[None, block] - mean
        wanted = ahead / (variance[None, block] + ahead**2)
        most_up = 1 / np.maximum(mean - lowest[None, block], 1e-12)
        most_down = 1 / np.maximum(highest[None, block] - mean, 1e-12)
        grown_more = _grown(more, np.clip(wanted, 0, _MOST * most_up), most_up, apart)
        grown_fewer = _grown(fewer, np.clip(-wanted, 0, _MOST * most_down), most_down, -apart)
        more, fewer = grown_more[:, :, -1], grown_fewer[:, :, -1]
        too_few = np.logaddexp.reduce(grown_more + weights, axis=0) > bound  # counts × draws: the truth is more
        too_many = np.logaddexp.reduce(grown_fewer + weights, axis=0) > bound
        first = np.where(too_few.all(axis=0), len(counts) - 1, too_few.argmin(axis=0))
        last = len(counts) - 1 - np.where(too_many.all(axis=0), len(counts) - 1, too_many[::-1].argmin(axis=0))
        low[block], high[block] = counts[np.maximum(first - 1, 0)], counts[np.minimum(last + 1, len(counts) - 1)]
    return Bounds(low / size, high / size, np.cumsum(wrong) / n)


def _grown(wealth: Array, following: Array, most: Array, apart: Array) -> Array:
    """Bets × counts × draws: log wealth after each draw, of the bets that follow the draws and of the fixed parts."""
    stakes = np.stack([following, *(part * most for part in _PARTS)])
    return np.asarray(wealth[:, :, None] + np.cumsum(np.log1p(stakes * apart), axis=2))


def _so_far(value: Array) -> tuple[Array, Array]:
    """Mean and variance of the draws before each."""
    n = np.arange(len(value)) + _BEFORE
    mean = (_BEFORE * _SHARE_BEFORE + np.cumsum(value) - value) / n
    apart = (value - mean) ** 2
    return mean, (_BEFORE * _VARIANCE_BEFORE + np.cumsum(apart) - apart) / n


def _guesses(wrong: Array, scores: Array, all_scores: Array) -> tuple[Array, Array, Array]:
    """For each draw, from the draws before it alone: what is added to f, and the lowest and highest sums."""
    middle, spread = all_scores.mean(), all_scores.std() or 1
    own, everyone = (scores - middle) / spread, (all_scores - middle) / spread
    added, lowest, highest = np.zeros(len(wrong)), np.zeros(len(wrong)), np.ones(len(wrong))
    start = _FIRST_FIT
    while start < len(wrong):
        stop = min(len(wrong), max(start + 1, int(start * _GROWTH)))
        weights = _logistic(own[:start], wrong[:start])
        if min(wrong[:start].sum(), start - wrong[:start].sum()) < 3:
            weights[1] = 0
        guess, of_all = _chance(weights, own), _chance(weights, everyone)
        drawn = np.cumsum(guess)[start - 1 : stop - 1]
        mean = (of_all.sum() - drawn) / (len(everyone) - np.arange(start, stop))
        added[start:stop] = mean - guess[start:stop]
        lowest[start:stop], highest[start:stop] = mean - of_all.max(), 1 + mean - of_all.min()
        start = stop
    return added, lowest, highest


def _chance(weights: Array, scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(weights[0] + weights[1] * scores, -30, 30))))


def _logistic(scores: Array, wrong: Array) -> Array:
    """Intercept and slope, by Newton's method, with penalties so that they are finite."""
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
