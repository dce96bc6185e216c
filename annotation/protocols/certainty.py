"""Adaptive overlap: how certain the leading answer of a task is, and whether another judgment is worth requesting.

Among potential annotators, a share θ would prefer the leading answer to the runner-up. With a uniform
prior, θ given a judgments for the first and b for the second is Beta(a + 1, b + 1), and the leading answer is also that
of the majority of all annotators with probability

    P(θ > 1/2 | a, b) = Σ_{j ≤ a} C(a + b + 1, j) / 2^(a + b + 1)

This is the label uncertainty of Sheng, Provost and Ipeirotis (Get another label?, KDD 2008). More than two answers do
not change it: with a uniform prior on all shares, those of two answers depend on their own counts only.

The guarantee: looking at a posterior after each judgment does not change it. So if the shares of a stage's items
were spread as in the prior, at most 1 − c of the tasks that stopped at certainty c would get another answer from the
majority of all annotators. It is not a bound for a single task, nor for a crowd that errs together. Tasks that stopped
because the judgments up to the cap could not change the lead have the outcome that a vote of the whole cap would have.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb


def leading_counts(votes: Iterable[str]) -> tuple[int, int]:
    """Return how many votes each of the two most frequent answers has; 0 if there is none."""
    counts = sorted(Counter(votes).values(), reverse=True)
    return (counts[0] if counts else 0, counts[1] if len(counts) > 1 else 0)


def certainty(votes: Iterable[str]) -> float:
    """Return the probability that most annotators would give the leading answer; 1/2 if there is a tie."""
    first, second = leading_counts(votes)
    n = first + second + 1
    return sum(comb(n, j) for j in range(first + 1)) / (1 << n)


def wants_more(votes: Sequence[str], least: float, cap: int) -> bool:
    """Return whether a task with these votes gets another: it has fewer than `cap`, the leading answer is less certain
    than `least`, and the judgments up to the cap could still change the lead or make a tie.
    """
    first, second = leading_counts(votes)
    left = cap - len(votes)
    return 0 < left >= first - second and certainty(votes) < least
