"""What adaptive overlap spends, the error it leaves, and what a fixed overlap would spend for the same error. Pure.

Items differ in how clear they are: a share q ≥ 1/2 of all annotators gives an item's majority answer, the others give
the runner-up. The distribution of q, w over CLARITY, is estimated from all votes by maximum likelihood (the mixture of
Kiefer and Wolfowitz 1956, by expectation–maximisation from equal weights, STEPS steps). Which of the two answers is the
majority's is not known, so a task whose two most frequent answers have a ≥ b votes has the likelihood

    Σ_q w(q) (q^a (1 − q)^b + q^b (1 − q)^a) / 2,

whatever rule ended it, and its leading answer is not the majority's with probability

    e(a, b) = Σ_q w(q) q^b (1 − q)^a / Σ_q w(q) (q^a (1 − q)^b + q^b (1 − q)^a),

which is 1/2 for a tie. With a fixed overlap of k the error is E(k) = Σ_q w(q) (P(X < k/2) + P(X = k/2) / 2), X ~
Binomial(k, q).

The error is against the majority of all annotators, not against the truth: it does not show a crowd that errs together.
The estimate assumes that annotators are interchangeable and that other answers than the leading two do not matter. It
is no bound; docs/reference/measures.md says how near it comes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from annotation.measures import jackknife
from annotation.measures.counts import TaskRow
from annotation.measures.exact_tests import binomial_distribution
from annotation.measures.judgments import JudgmentRow, TaskKey
from annotation.measures.types import Array, Figures
from annotation.protocols.certainty import leading_counts
from annotation.protocols.decision_rule import Rule

CLARITY = np.arange(50, 101, 2) / 100
STEPS = 1000
FEW = 20  # tasks; fewer say too little

_Counts = Mapping[tuple[int, int], int]  # (votes for the leading answer, for the runner-up) → tasks


def _likelihood(first: int, second: int) -> tuple[Array, Array]:
    """Of the votes by clarity, if the leading answer is the majority's and if it is not."""
    return CLARITY**first * (1 - CLARITY) ** second, CLARITY**second * (1 - CLARITY) ** first


def clarity_shares(counts: _Counts) -> Array:
    """The share of items at each of CLARITY."""
    tasks = np.array([[counts[votes] for votes in sorted(counts)]], dtype=float)
    return np.asarray(_mixtures(sorted(counts), tasks)[0])


def _mixtures(patterns: Sequence[tuple[int, int]], tasks: Array) -> Array:
    """For each row of `tasks` (K × P), how many have each pattern of votes, the share of items at each of CLARITY."""
    likely = np.array([np.add(*_likelihood(*votes)) for votes in patterns])
    shares: Array = np.full((len(tasks), len(CLARITY)), 1 / len(CLARITY))
    for _ in range(STEPS):
        shares = shares * ((tasks / (shares @ likely.T)) @ likely) / tasks.sum(axis=1, keepdims=True)
    return shares


def _mean_error(done: _Counts, shares: Array) -> float:
    return sum(n * error_of(*of_task, shares) for of_task, n in sorted(done.items())) / sum(done.values())


def _interval(counts: _Counts, done: _Counts, error: float) -> jackknife.Span:
    """Wilson's, with the jackknife's variance over tasks: without each in turn, mixture and error of the rest."""
    patterns = sorted(counts)
    tasks = np.array([counts[votes] for votes in patterns], dtype=float) - np.eye(len(patterns))
    away, times = [], []
    for votes, shares in zip(patterns, _mixtures(patterns, tasks), strict=True):
        for less, n in ((1, done.get(votes, 0)), (0, counts[votes] - done.get(votes, 0))):
            away.append(_mean_error({**done, votes: done.get(votes, 0) - less}, shares) if n else error)
            times.append(n)
    items, weights = sum(times), np.array(times)
    apart = np.array(away) - weights @ np.array(away) / items
    variance = float((items - 1) / items * (weights @ apart**2))
    effective = error * (1 - error) / variance if variance > jackknife.ROUNDING else items
    return jackknife.span(error, effective, items, 0.0)


def error_of(first: int, second: int, shares: Array) -> float:
    """e(a, b)"""
    right, wrong = (float(part @ shares) for part in _likelihood(first, second))
    return wrong / (right + wrong)


def fixed_error(overlap: int, shares: Array) -> float:
    """E(k)"""
    votes = np.arange(overlap + 1)
    loses = (2 * votes < overlap) + (2 * votes == overlap) / 2
    return float(sum(w * (binomial_distribution(overlap, q) @ loses) for w, q in zip(shares, CLARITY, strict=True)))


def figures(votes: Iterable[Sequence[str]], finished: Sequence[Sequence[str]]) -> Figures:
    """`votes` are those of every task that has some, `finished` those of the tasks that need no more. JSON-able.

    `estimated_error` is the mean over the finished tasks, from `error_low` to `error_high` with 95 % confidence.
    `fixed` has each overlap up to the most judgments that one of the tasks has had, `same_error` the least of these
    whose error is no larger, or the largest: as many judgments of every task cannot be worse. Without estimates while
    fewer than FEW tasks are finished.
    """
    tasks, spent = len(finished), sum(map(len, finished))
    if tasks < FEW:
        none = dict.fromkeys(("estimated_error", "error_low", "error_high", "same_error"))
        return {"tasks": tasks, "judgments": spent, **none, "fixed": []}
    counts, done = Counter(map(leading_counts, votes)), Counter(map(leading_counts, finished))
    shares = clarity_shares(counts)
    error = _mean_error(done, shares)
    low, high = _interval(counts, done, error)
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
    """Under `adaptive`, the figures of a stage with this setting; {} for other stages. `judgments` are all, `tasks` the
    live ones. `at_most` is how many more judgments the tasks that are not finished can get.
    """
    if certainty is None:
        return {}
    said: dict[TaskKey, list[str]] = {task.task: [] for task in tasks}
    for row in judgments:
        if row.counted and row.task in said:
            said[row.task].append(row.answer)
    votes = {place: rule.votes(answers) for place, answers in said.items() if answers}
    waiting = {task.task: max(rule.cap or 0, task.overlap) for task in tasks if len(said[task.task]) < task.overlap}
    found = figures(votes.values(), [of_task for place, of_task in votes.items() if place not in waiting])
    at_most = sum(most - len(said[place]) for place, most in waiting.items())
    return {"adaptive": {**found, "at_most": at_most}}
