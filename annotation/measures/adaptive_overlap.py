"""The judgments that adaptive overlap uses, its error, and what a fixed overlap would use for the same error. Pure.

Items differ in how clear they are: a share q ≥ 1/2 of all annotators gives an item's majority answer, the others give
the runner-up. The distribution of q, w over CLARITY, is estimated from all votes by maximum likelihood (the mixture of
Kiefer and Wolfowitz 1956, by STEPS steps of expectation–maximisation from equal weights). Which of the two answers is
the majority's is not known, so a task whose two most frequent answers have a ≥ b votes has the likelihood

    Σ_q w(q) (q^a (1 − q)^b + q^b (1 − q)^a) / 2,

whatever rule ended it. An item of clarity q ends with the wrong leader with probability r(q) = Σ m(a, b) q^b (1 − q)^a,
over the votes (a, b), a ≥ b, at which the stage's rule ends a task, with m(a, b) the number of orders that lead to
them, halved for a tie. The stage's error is Σ_q w(q) r(q). With a fixed overlap of k it is E(k) = Σ_q w(q) (P(X < k/2)
+ P(X = k/2) / 2), X ~ Binomial(k, q).

The interval has the errors of all mixtures whose likelihood is within χ² = 3.84 of the largest (the profile likelihood
of an error). If few tasks are contested, little is known about w. This interval shows it; the mixture's own variance
would not, because the most likely w then has few or no items that annotators would ever disagree on.

The error is relative to the majority of all annotators, not to the truth, so it does not reveal a crowd that errs
together. The estimate assumes that annotators are interchangeable and that only the two leading answers matter.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from annotation.measures.counts import TaskRow
from annotation.measures.exact_tests import binomial_distribution
from annotation.measures.judgments import JudgmentRow, TaskKey
from annotation.measures.types import Array, Figures
from annotation.protocols.certainty import leading_counts, wants_more
from annotation.protocols.decision_rule import Rule
from benchmarks.metrics.base import Z

CLARITY = np.arange(50, 101, 2) / 100
STEPS = 1000
FEW = 20  # with fewer tasks, there are no estimates
_GAP = 1e-10  # at most this far from the exact ends of the interval
_MOST_STEPS, _TO_THE_EDGE = 200, 0.99  # of the interior-point method; fraction of the way to the boundary per step

_Counts = Mapping[tuple[int, int], int]  # (votes for the leading answer, for the runner-up) → tasks


class Stops(NamedTuple):
    """The stopping rule of a task: from `least` judgments on once the certainty is reached, and always at the cap."""

    least: int
    certainty: float
    cap: int


@cache
def errors_by_clarity(stops: Stops) -> Array:
    """Return r(q) for each of CLARITY."""
    errors: Array = np.zeros(len(CLARITY))
    orders = {(0, 0): 1}  # ways to reach the votes (majority's, others') of unfinished tasks
    while orders:
        longer: dict[tuple[int, int], int] = defaultdict(int)
        for (right, wrong), times in orders.items():
            n = right + wrong
            if n < stops.least or wants_more(["a"] * right + ["b"] * wrong, stops.certainty, stops.cap):
                longer[right + 1, wrong] += times
                longer[right, wrong + 1] += times
            elif wrong >= right:
                errors += times * CLARITY**right * (1 - CLARITY) ** wrong / (1 + (wrong == right))
        orders = longer
    return errors


def _likely(patterns: Sequence[tuple[int, int]]) -> Array:
    """Return twice the likelihood of each vote pattern at each clarity (P × Q)."""
    return np.array([CLARITY**a * (1 - CLARITY) ** b + CLARITY**b * (1 - CLARITY) ** a for a, b in patterns])


def clarity_shares(counts: _Counts) -> Array:
    """Return the share of items at each of CLARITY."""
    likely, tasks = _likely(sorted(counts)), np.array([counts[votes] for votes in sorted(counts)], dtype=float)
    shares: Array = np.full(len(CLARITY), 1 / len(CLARITY))
    for _ in range(STEPS):
        shares = shares * ((tasks / (likely @ shares)) @ likely) / tasks.sum()
    return shares


def interval(counts: _Counts, shares: Array, errors: Array) -> tuple[float, float]:
    """Return the extreme means of `errors` over mixtures nearly as likely as `shares`, the most likely one."""
    likely, tasks = _likely(sorted(counts)), np.array([counts[votes] for votes in sorted(counts)], dtype=float)
    low, high = (float(errors @ _furthest(likely, tasks, shares, sign * errors)) for sign in (-1, 1))
    return max(0.0, low), high


def _furthest(likely: Array, tasks: Array, shares: Array, gain: Array) -> Array:
    """Return the sufficiently likely mixture w with the largest gain @ w, by a primal-dual interior-point method (Boyd
    and Vandenberghe, Convex Optimization, §11.7). At the end gain + m · slope + z = v, w z = 0 and m · room = 0: z are
    the multipliers of w ≥ 0, m that of room ≥ 0, the likelihood above the floor, and v that of Σ w = 1.
    """
    floor, size = tasks @ np.log(likely @ shares) - Z**2 / 2, len(shares)
    inside = shares + (1 / size - shares) / tasks.sum()
    state = np.concatenate([inside, 0.01 / inside, [0.01, 1.0, 0.0]])
    for _ in range(_MOST_STEPS):
        w, z, (m, room, v) = np.split(state, [size, 2 * size])
        chance, gap = likely @ w, w @ z + m * room
        above = tasks @ np.log(chance) - floor
        if gap < _GAP and abs(above - room) < _GAP:
            break
        aim, slope = gap / size / 10, w * ((tasks / chance) @ likely)
        # Newton's step in units of w, which keeps the equations well scaled where w is near 0.
        left = np.zeros((size + 2, size + 2))
        left[:size, :size] = -m * (likely * w).T @ ((likely * w).T * (tasks / chance**2)).T - np.diag(w * z)
        left[:size, size:] = np.stack([slope, -w], axis=1)
        left[size, :size], left[size, size], left[size + 1, :size] = m * slope, room, w
        right = np.concatenate([w * (v - gain) - m * slope - aim, [aim - m * above, 1 - w.sum()]])
        by = np.linalg.solve(left, right)
        more_room = slope @ by[:size] + above - room
        change = np.concatenate([w * by[:size], aim / w - z * (1 + by[:size]), [by[-2], more_room, by[-1]]])
        shrinks = (-change[:-1] / state[:-1]).max()
        state = state + min(1.0, _TO_THE_EDGE / max(_GAP, shrinks)) * change
    return np.asarray(state[:size])


def fixed_error(overlap: int, shares: Array) -> float:
    """Return E(k)."""
    votes = np.arange(overlap + 1)
    loses = (2 * votes < overlap) + (2 * votes == overlap) / 2
    return float(sum(w * (binomial_distribution(overlap, q) @ loses) for w, q in zip(shares, CLARITY, strict=True)))


def figures(votes: Iterable[Sequence[str]], finished: Sequence[Sequence[str]], stops: Stops) -> Figures:
    """Return the statistics, JSON-able. `votes` has every task's, `finished` those of finished tasks.

    `estimated_error` is the stage's error once all tasks are finished, with its 95% interval from `error_low` to
    `error_high`. `fixed` has each overlap up to the most judgments of any task; `same_error` is the smallest of these
    whose error is no larger, or else the largest: that many judgments for every task cannot be worse. There are no
    estimates while fewer than FEW tasks are finished.
    """
    tasks, spent = len(finished), sum(map(len, finished))
    if tasks < FEW:
        none = dict.fromkeys(("estimated_error", "error_low", "error_high", "same_error"))
        return {"tasks": tasks, "judgments": spent, **none, "fixed": []}
    counts, errors = Counter(map(leading_counts, votes)), errors_by_clarity(stops)
    shares = clarity_shares(counts)
    error = float(errors @ shares)
    low, high = interval(counts, shares, errors)
    fixed = [
        {"overlap": k, "judgments": k * tasks, "estimated_error": fixed_error(k, shares)}
        for k in range(1, max(map(len, finished)) + 1)
    ]
    return {
        "tasks": tasks,
        "judgments": spent,
        "estimated_error": error,
        "error_low": low,
        "error_high": high,
        "same_error": next((one for one in fixed if one["estimated_error"] <= error + 1e-9), fixed[-1]),
        "fixed": fixed,
    }


def of_stage(
    rule: Rule, certainty: float | None, judgments: Iterable[JudgmentRow], tasks: Sequence[TaskRow]
) -> dict[str, Figures]:
    """Return the statistics of a stage with adaptive overlap, as `adaptive`; {} for other stages. `judgments` are all
    of the stage's, `tasks` the live ones. `at_most` is how many more judgments the unfinished tasks can get.
    """
    if certainty is None:
        return {}
    said: dict[TaskKey, list[str]] = {task.task: [] for task in tasks}
    for row in judgments:
        if row.counted and row.task in said:
            said[row.task].append(row.answer)
    votes = {place: rule.votes(answers) for place, answers in said.items() if answers}
    cap = max(rule.cap or 0, rule.overlap)
    waiting = {task.task: max(cap, task.overlap) for task in tasks if len(said[task.task]) < task.overlap}
    finished = [of_task for place, of_task in votes.items() if place not in waiting]
    found = figures(votes.values(), finished, Stops(rule.overlap, certainty, cap))
    at_most = sum(most - len(said[place]) for place, most in waiting.items())
    return {"adaptive": {**found, "at_most": at_most}}
