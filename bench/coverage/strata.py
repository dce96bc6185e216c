"""Audits by width in strata: how often the interval contains the truth when the audit stops, and after how many items.

A design's strata have shares of the benchmark and of wrong items; the order is random and proportional in the strata.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.measures.audits import intervals, stratified
from annotation.measures.audits.intervals import Bounds
from annotation.measures.audits.plan import Target
from annotation.measures.types import Array

SEED = 20240605
_FIRST = 400  # draws


@dataclass(frozen=True, slots=True)
class Design:
    """`wrong` has the share of wrong items in each stratum, `sizes` the items."""

    sizes: tuple[int, ...]
    wrong: tuple[float, ...]
    half_width: float = 0.03


DESIGNS = (
    Design((4000, 1000), (0.01, 0.93)),
    Design((4500, 500), (0.005, 0.9), 0.02),
    Design((500,) * 10, (0.01,) * 5 + (0.95,) * 5),
    Design((2500, 2500), (0.02, 0.98)),
    Design((1700, 1650, 1650), (0.0, 0.5, 1.0)),
    Design((4000, 1000), (0.03, 0.6), 0.02),
    Design((4000, 1000), (0.1, 0.3)),
    Design((1250,) * 4, (0.05, 0.1, 0.1, 0.15)),
    Design((400, 100), (0.01, 0.93)),
)
HEADS = ("items in strata", "wrong", "±", "covers", "items judged", "without strata")


def rows(studies: int) -> Iterator[list[str]]:
    for one in DESIGNS:
        found, plain = coverage(one, studies), coverage(one, studies, by_strata=False)
        sizes, wrong = (", ".join(f"{part:g}" for part in parts) for parts in (one.sizes, one.wrong))
        cells = f"{100 * found[0]:.1f}%", f"{found[1]:,.0f}", f"{plain[1]:,.0f}"
        yield [sizes, wrong, f"{one.half_width:g}", *cells]


def coverage(design: Design, studies: int, *, by_strata: bool = True) -> tuple[float, float]:
    """Return the share of orders whose interval contains the truth, and the mean number of items judged."""
    dice, target = np.random.default_rng(SEED), Target(half_width=design.half_width)
    strata = np.repeat(np.arange(len(design.sizes)), design.sizes)
    counts = np.round(np.array(design.sizes) * design.wrong).astype(int)
    wrong = np.concatenate([np.arange(size) < count for size, count in zip(design.sizes, counts, strict=True)])
    held, judged = 0, 0
    for _ in range(studies):
        order = proportional(strata, dice) if by_strata else dice.permutation(len(strata))
        n, found = _stopped(wrong[order].astype(int), strata[order] if by_strata else None, target)
        held += bool(found.low[n - 1] - 1e-12 <= wrong.mean() <= found.high[n - 1] + 1e-12)
        judged += n
    return held / studies, judged / studies


def proportional(strata: Array, dice: np.random.Generator) -> Array:
    """Return an order like `annotation.measures.audits.order`, with random numbers for hashes."""
    drawn, place = dice.permutation(len(strata)), np.empty(len(strata))
    for stratum in np.unique(strata):
        mine = drawn[strata[drawn] == stratum]
        place[mine] = (2 * np.arange(len(mine)) + 1) / (2 * len(mine))
    return drawn[np.argsort(place[drawn], kind="stable")]


def _stopped(wrong: Array, strata: Array | None, target: Target) -> tuple[int, Bounds]:
    drawn = _FIRST
    while True:
        some = wrong[:drawn]
        if strata is not None:
            found = stratified.by_width(some, strata)
        else:
            found = intervals.by_width(np.arange(1, len(some) + 1), np.cumsum(some), len(wrong))
        if (n := target.stop(found, len(wrong))) is not None:
            return n, found
        drawn *= 2
