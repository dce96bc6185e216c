"""Means of a five-point scale near its end, and Bradley–Terry strengths of few items, for the annotators at hand.

Of a scale, an item is 5, or with the probability `rare` 1, and three annotators give an item's value. Of strengths, b
beats a with the probability that a distance of 0.6 makes, or ties; the number of comparisons is that of an item.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from annotation.measures.bradley_terry import Compared, NoStrengths, bradley_terry
from annotation.measures.scored import Range, Scored, summary

SEED = 20240606
RARE, TIES = (0.0, 0.005, 0.02, 0.1), (0.0, 0.5, 1.0)
ITEMS, EACH = (10, 20, 50, 200), (1, 3)
HEADS = ("design", *(f"{items} items" for items in ITEMS))
Found = tuple[float, float]


def rows(studies: int) -> Iterator[list[str]]:
    """Coverage, and the share of studies without an interval."""
    for rare in RARE:
        yield [f"5, rarely ({rare:g}) 1", *(_cell(mean_of_scale(items, rare, studies)) for items in ITEMS)]
    for ties, each in product(TIES, EACH):
        name = f"strengths, {100 * ties:g} % ties, {each} an item"
        yield [name, *(_cell(strengths(items, each, ties, studies)) for items in ITEMS)]


def _cell(found: Found) -> str:
    held, none = found
    return f"none given ({100 * none:.1f} %)" if none == 1 else f"{100 * held:.1f} % ({100 * none:.1f} %)"


def mean_of_scale(items: int, rare: float, studies: int) -> Found:
    dice, spans = np.random.default_rng(SEED), []
    for _ in range(studies):
        low = dice.random(items) < rare
        found = summary(
            [Scored(item, "", "", "", 1.0 if low[item] else 5.0) for item in range(items) for _ in range(3)],
            Range(1.0, 5.0),
        )
        spans.append((found["low"], found["high"]))
    return _held(spans, 5 - 4 * rare)


def strengths(items: int, each: int, ties: float, studies: int) -> Found:
    dice, spans = np.random.default_rng(SEED), []
    wins = 1 / (1 + np.exp(-0.6))
    share = ties / 2 + (1 - ties) * wins
    for _ in range(studies):
        scores = np.where(dice.random((items, each)) < ties, 0.5, dice.random((items, each)) < wins)
        try:
            found = bradley_terry(
                [Compared(item, "b", "a", float(one)) for item, of in enumerate(scores) for one in of]
            )
        except NoStrengths:
            spans.append((None, None))
            continue
        spans += [(one.low, one.high) for one in found if one.name == "b"]
    return _held(spans, np.log(share / (1 - share)) / 2)


def _held(spans: Sequence[tuple[float | None, float | None]], true: float) -> Found:
    given = [(low, high) for low, high in spans if low is not None and high is not None]
    held = [low - 1e-12 <= true <= high + 1e-12 for low, high in given]
    return (float(np.mean(held)) if held else 0.0), 1 - len(given) / len(spans)
