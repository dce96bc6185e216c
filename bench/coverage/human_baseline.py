"""Intervals of the human baseline if annotators differ, over items and over annotators.

An annotator gives a right answer with a probability of their own: its logit is normal, with the standard deviation
`sd`, around the one that makes it p on average. The truth is the share that other annotators would get as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from annotation.measures.over_annotators import effective_n
from benchmarks.metrics.base import wilson

SEED = 20240604
SD, P = (0.0, 0.5, 1.0), (0.868, 0.95)


@dataclass(frozen=True, slots=True)
class Design:
    """`loads`: items of each annotator, who alone judges them. With `answers` above 1, as many of the annotators, drawn
    for each item, give an answer each, and the item is right if `needed` of them are.
    """

    name: str
    loads: tuple[int, ...]
    answers: int = 1
    needed: int = 1
    sd: float = 0.0
    p: float = 0.868


UNEVEN = (250, 100, 50, 25, 25, 25, 25)
DESIGNS = (
    Design("500 items, 25 per annotator", (25,) * 20),
    Design("500 items, 100 per annotator", (100,) * 5),
    Design("500 items, 250, 100, 50 and 4 × 25 per annotator", UNEVEN),
    Design("100 items, 5 per annotator", (5,) * 20),
    Design("100 items, 25 per annotator", (25,) * 4),
    Design("50 items, 5 per annotator", (5,) * 10),
    Design("50 items, 25 per annotator", (25,) * 2),
    Design("500 items, the majority of 3 of 20 annotators", (25,) * 20, answers=3, needed=2),
    Design("500 items, the majority of 3 of 10 annotators", (50,) * 10, answers=3, needed=2),
    Design("500 items, four questions to 4 of 50 annotators", (10,) * 50, answers=4, needed=4),
    Design("500 items, four questions to 4 of 20 annotators", (25,) * 20, answers=4, needed=4),
)
HEADS = ("design", "p", *(f"sd {sd:g}" for sd in SD))


def rows(studies: int) -> Iterator[list[str]]:
    """Yield coverage over items → over annotators, and the mean width of both, for each sd."""
    for design, p in product(DESIGNS, P):
        yield [design.name, f"{p:g}", *(_cell(coverage(replace(design, sd=sd, p=p), studies)) for sd in SD)]


def _cell(found: dict[str, tuple[float, float]]) -> str:
    (before, narrow), (now, wide) = found["items"], found["annotators"]
    return f"{100 * before:.1f} → {100 * now:.1f}% ({100 * narrow:.1f} → {100 * wide:.1f})"


def coverage(design: Design, studies: int, seed: int = SEED) -> dict[str, tuple[float, float]]:
    """Return, for intervals over items and over annotators, the share that contains the truth, and the mean width."""
    dice, true, middle = np.random.default_rng(seed), truth(design), centre(design.p, design.sd)
    items, people = sum(design.loads), len(design.loads)
    share = np.full((items, design.answers), 1 / design.answers)
    found: dict[str, list[tuple[bool, float]]] = {"items": [], "annotators": []}
    for _ in range(studies):
        who = np.repeat(np.arange(people), design.loads)[:, None]
        if design.answers > 1:
            who = np.argsort(dice.random((items, people)), axis=1)[:, : design.answers]
        ability = 1 / (1 + np.exp(-middle - design.sd * dice.standard_normal(people)))
        right = ((dice.random(who.shape) < ability[who]).sum(axis=1) >= design.needed).astype(float)
        for over, n in (("items", items), ("annotators", effective_n(right, who, share).n)):
            low, high = wilson(right.mean() * n, n)
            found[over].append((low <= true <= high, high - low))
    return {over: tuple(np.mean(one, axis=0)) for over, one in found.items()}


def truth(design: Design) -> float:
    """Return the probability that enough answers by an item's annotators, drawn from all possible ones, are right."""
    k, p = design.answers, design.p
    return math.fsum(math.comb(k, right) * p**right * (1 - p) ** (k - right) for right in range(design.needed, k + 1))


def centre(p: float, sd: float) -> float:
    """Return the mean of normal logits with this standard deviation whose probabilities have the mean p."""
    places, weights = np.polynomial.hermite_e.hermegauss(80)
    low, high = -20.0, 20.0
    while low < (middle := (low + high) / 2) < high:
        mean = (weights / (1 + np.exp(-middle - sd * places))).sum() / weights.sum()
        low, high = (middle, high) if mean < p else (low, middle)
    return low
