"""Annotators' results on questions with known answers, and when they are a warning sign. Pure.

docs/guide/checks.md explains each rule.
"""

import math
from collections.abc import Collection, Sequence

from annotation.measures.exact_tests import binomial_at_most
from annotation.measures.types import Figures

SIGN_TEST = "binomial, one-sided, 5%"  # as pages name it
_SIGN_LEVEL = 0.05  # the largest rate at which a careful annotator shows the sign


def number_of_checks(screens: int, rate: float) -> int:
    """Return the number of checks for a `rate` among all screens, given the other screens; halves are rounded up."""
    return math.floor(screens * rate / (1 - rate) + 0.5)


def guess_rate(gold: Collection[str], answers: int) -> float:
    """Return how often a random pick among this many answers is right."""
    return min(1.0, len(gold) / answers) if answers else 1.0


def fails_checks(n: int, right: int, guess_rate: float) -> bool:
    """Return whether the checks are a sign: significantly fewer right than halfway between guessing and knowing.

    The exact binomial test, one-sided, at 5%: P(at most `right` of `n`) < 0.05 if each is right with probability (1 +
    guess_rate) / 2. An annotator at least that good shows the sign by bad luck in at most 5% of tests.
    """
    halfway = (1 + guess_rate) / 2
    return n > 0 and binomial_at_most(right, n, halfway) < _SIGN_LEVEL


def enough_right(right: int, n: int, share: float) -> bool:
    """Return whether at least `share` of `n` are right; 0.8 of 5 is 4, despite floating-point error."""
    return right >= math.ceil(share * n - 1e-9)


def required_right(n: int, share: float) -> int:
    return next(right for right in range(n + 1) if enough_right(right, n, share))


def answers_right(questions: Sequence[Figures], answers: Sequence[int | None]) -> list[bool]:
    """Return, for each comprehension question, whether it was answered correctly."""
    return [given == question["answer"] for question, given in zip(questions, answers, strict=True)]
