"""The share of wrong items corrected for annotators' errors, beside the raw share of items judged wrong.

Each judgment independently misses a wrong item with one probability and takes a right item for wrong with another (a
false alarm): the two latent classes of Hui and Walter (1980), with the same rates for all annotators. Items with a
known answer reveal the rates, and so do differences among three or more judgments of an item. The estimate is that of
maximum likelihood from both. With one judgment per item and known answers it is Rogan and Gladen's (1978), (p +
specificity − 1) / (sensitivity + specificity − 1), within 0 and 1.

The interval has the shares whose profile likelihood is within χ² = 3.84 of the largest, so the uncertainty of the
sample and that of the rates are both in it; the sample's is then corrected for a finite population. It leaves out that
some items are harder than others and some annotators better (docs/design/evidence.md has what that does).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.measures.types import Array
from annotation.protocols.base import CANNOT_JUDGE, Protocol
from benchmarks.metrics.base import Z

UNDECIDED = frozenset({CANNOT_JUDGE, "tie_unresolved"})  # reasons that leave open whether an item is wrong
NO_RATES = "no item has three judgments, and no wrong and right items with a known answer were judged"
_SHARES = np.linspace(0, 1, 201) ** 2  # shares of wrong items at which the profile likelihood is computed
_WITHIN = Z**2 / 2  # distance from the largest log-likelihood
_STEPS, _OF_PROFILE = 1000, 200  # steps of expectation–maximisation
_LEAST, _MOST = 0.5, 1 - 1e-6  # sensitivity and specificity: better than chance
_BY_VALUE = ("majority", "unanimous", "at_least")  # decision rules of protocol files
_IDENTIFIES = 3  # judgments of one item needed to separate errors from wrong items

Known = tuple[Sequence[str] | None, str]  # an item's right answers (None if not public), and the answer given


@dataclass(frozen=True, slots=True)
class Corrected:
    """Shares of the benchmark; the share of wrong items a judgment `missed`, and of right ones it took for wrong
    (`false_alarms`). Based on `gold` judgments of items with a known answer and `overlapping` items with three or more
    judgments. None with a `reason`.
    """

    estimate: float | None
    low: float | None
    high: float | None
    missed: float | None
    false_alarms: float | None
    gold: int
    overlapping: int
    reason: str = ""


def can_correct(protocol: Protocol) -> bool:
    """Return whether a single judgment shows that its item is wrong or right; protocol files may differ."""
    if protocol.file is None:
        return True
    answer, rules = protocol.file.answers[0], protocol.file.decide
    is_one_pick = len(protocol.file.answers) == 1 and answer.kind == "pick" and not answer.many
    return is_one_pick and [rule.rule in _BY_VALUE for rule in rules] == [True]


def verdict(reason: str, wrong_reasons: Collection[str]) -> bool | None:
    """Return whether a judgment calls its item wrong, given the reason for which its answer would drop it, or ""; None
    if the answer leaves that open.
    """
    if not wrong_reasons or not reason:
        return bool(reason)
    return True if reason in wrong_reasons else None


def corrected(
    items: Iterable[Sequence[str]], known: Iterable[Known], reason: Callable[[str], str],
    wrong_reasons: Collection[str], size: int,
) -> Corrected:  # fmt: skip
    """Correct an audit's result. `items` has the answers to each item it is based on, of `size` items in all; `known`
    those to items with a known answer. `reason` returns why an answer would drop an item.
    """
    votes = Counter(_votes([verdict(reason(one), wrong_reasons) for one in of]) for of in items)
    del votes[0, 0]
    rates, gold = np.zeros((2, 2)), 0  # right or wrong items × judged right or wrong
    for right, given in known:
        gold += 1
        true = {verdict(reason(one), wrong_reasons) for one in right or ()}
        said = verdict(reason(given), wrong_reasons)
        if len(true) == 1 and None not in true and said is not None:
            rates[int(true == {True}), int(said)] += 1
    overlapping = sum(n for of, n in votes.items() if sum(of) >= _IDENTIFIES)
    if not votes or not (overlapping or rates.sum(axis=1).all()):
        return Corrected(None, None, None, None, None, gold, overlapping, NO_RATES)
    patterns, times = np.array(sorted(votes)), np.array([votes[of] for of in sorted(votes)], float)
    share, missed, alarms = (float(one) for one in _most_likely(patterns, times, rates))
    low, high = _interval(patterns, times, rates, share, missed, alarms)
    low, high = (_finite(share, end, int(times.sum()), size) for end in (low, high))
    return Corrected(share, low, high, missed, alarms, gold, overlapping)


def _votes(said: Sequence[bool | None]) -> tuple[int, int]:
    return said.count(True), said.count(False)


def _likelihood(patterns: Array, missed: Array, alarms: Array) -> tuple[Array, Array]:
    """Return each pattern's likelihood if the item is wrong, and if right, for each of the rates (G × P)."""
    logs = np.log(np.stack([1 - missed, missed, alarms, 1 - alarms]))
    return np.exp(logs[:2].T @ patterns.T), np.exp(logs[2:].T @ patterns.T)


def _rates(patterns: Array, times: Array, rates: Array, belongs: Array) -> tuple[Array, Array]:
    """Re-estimate misses and false alarms, given each pattern's probability of being wrong (G × P)."""
    (a, b), wrong, right = patterns.T, times * belongs, times * (1 - belongs)
    missed = (rates[1, 0] + wrong @ b) / np.maximum(rates[1].sum() + wrong @ (a + b), 1e-12)
    alarms = (rates[0, 1] + right @ a) / np.maximum(rates[0].sum() + right @ (a + b), 1e-12)
    return np.clip(missed, 1 - _MOST, 1 - _LEAST), np.clip(alarms, 1 - _MOST, 1 - _LEAST)


def _most_likely(patterns: Array, times: Array, rates: Array) -> tuple[Array, Array, Array]:
    """Return the share of wrong items, the rate of misses and the rate of false alarms."""
    share, missed, alarms = np.array([0.2]), np.array([0.1]), np.array([0.1])
    for _ in range(_STEPS):
        wrong, right = _likelihood(patterns, missed, alarms)
        belongs = share[:, None] * wrong / (share[:, None] * wrong + (1 - share[:, None]) * right)
        missed, alarms = _rates(patterns, times, rates, belongs)
        share = belongs @ times / times.sum()
    return share[0], missed[0], alarms[0]


def _log_likelihood(patterns: Array, times: Array, rates: Array, share: Array, missed: Array, alarms: Array) -> Array:
    wrong, right = _likelihood(patterns, missed, alarms)
    of_items = np.log(np.maximum(share[:, None] * wrong + (1 - share[:, None]) * right, 1e-300)) @ times
    of_wrong = rates[1, 0] * np.log(missed) + rates[1, 1] * np.log(1 - missed)
    return np.asarray(of_items + of_wrong + rates[0, 1] * np.log(alarms) + rates[0, 0] * np.log(1 - alarms))


def _interval(
    patterns: Array, times: Array, rates: Array, share: float, missed: float, alarms: float
) -> tuple[float, float]:
    misses, false = np.full(len(_SHARES), missed), np.full(len(_SHARES), alarms)
    for _ in range(_OF_PROFILE):
        wrong, right = _likelihood(patterns, misses, false)
        both = _SHARES[:, None] * wrong + (1 - _SHARES[:, None]) * right
        misses, false = _rates(patterns, times, rates, _SHARES[:, None] * wrong / np.maximum(both, 1e-300))
    likely = _log_likelihood(patterns, times, rates, _SHARES, misses, false)
    best = _log_likelihood(patterns, times, rates, *(np.array([one]) for one in (share, missed, alarms)))
    most = max(float(likely.max()), float(best[0]))
    inside = np.flatnonzero(likely >= most - _WITHIN)
    if not len(inside):
        return share, share
    low = _crossing(likely, most - _WITHIN, int(inside[0]), -1)
    high = _crossing(likely, most - _WITHIN, int(inside[-1]), 1)
    return min(low, share), max(high, share)


def _crossing(likely: Array, bound: float, inside: int, step: int) -> float:
    """Return the share at which the profile, linear between its points, falls below the bound."""
    outside = inside + step
    if not 0 <= outside < len(_SHARES):
        return float(_SHARES[inside])
    part = (likely[inside] - bound) / (likely[inside] - likely[outside])
    return float(_SHARES[inside] + part * (_SHARES[outside] - _SHARES[inside]))


def _finite(share: float, end: float, n: int, size: int) -> float:
    """Return an end of the interval without the part of the sample's variance that a finite population lacks."""
    variance, of_sample = ((end - share) / Z) ** 2, share * (1 - share) / n
    known = (n - 1) / (size - 1) if size > 1 else 1.0
    kept = 1 - known * min(1.0, of_sample / variance) if variance else 1.0
    return float(share + (end - share) * np.sqrt(kept))
