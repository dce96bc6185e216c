"""How well somebody did where the right answers are known, and when that is a sign. Pure.

docs/guide/checks.md says what each means.
"""

import math
from collections.abc import Collection, Sequence

from annotation.measures.exact_tests import binomial_at_most
from annotation.measures.types import Figures

_SIGN_LEVEL = 0.05  # a careful annotator shows the sign at most so often


def number_of_checks(screens: int, rate: float) -> int:
    """How many checks make `rate` of all screens, where there are so many others; halves are rounded up."""
    return math.floor(screens * rate / (1 - rate) + 0.5)


def guess_rate(gold: Collection[str], answers: int) -> float:
    """How often somebody who picks one of so many answers at random is right."""
    return min(1.0, len(gold) / answers) if answers else 1.0


def fails_checks(n: int, right: int, guess_rate: float) -> bool:
    """Whether the checks are a sign: significantly fewer right than somebody half way from guessing to knowing gets.

    The exact binomial test, one-sided, at 5 %: P(at most `right` of `n`) < 0.05 where each is right with probability
    (1 + guess_rate) / 2. Whoever does at least that well shows the sign by bad luck in at most 5 % of looks.
    """
    halfway = (1 + guess_rate) / 2
    return n > 0 and binomial_at_most(right, n, halfway) < _SIGN_LEVEL


def enough_right(right: int, n: int, share: float) -> bool:
    """Whether at least `share` of `n` were right; 0.8 of 5 are 4, whatever floating point makes of it."""
    return right >= math.ceil(share * n - 1e-9)


def required_right(n: int, share: float) -> int:
    return next(right for right in range(n + 1) if enough_right(right, n, share))


def answers_right(questions: Sequence[Figures], answers: Sequence[int | None]) -> list[bool]:
    """Of each comprehension question, whether it was answered rightly."""
    return [given == question["answer"] for question, given in zip(questions, answers, strict=True)]
