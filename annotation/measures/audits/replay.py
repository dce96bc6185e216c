"""An audit of a benchmark whose truth is known: where it would have stopped, and whether its interval has the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.measures.audits import intervals, side_information
from annotation.measures.audits.intervals import Bounds
from annotation.measures.audits.order import Order, sampling_order
from annotation.measures.types import Array

SEED = 0
EVERY = 10  # items: a look by width; with a look at each item it would stop a little too early too often


@dataclass(frozen=True, slots=True)
class Audited:
    """`n` items judged, `wrong` of them wrong; `low` and `high` are shares; `covers`: the truth lies between."""

    order: Order
    n: int
    wrong: int
    low: float
    high: float
    covers: bool


@dataclass(frozen=True, slots=True)
class Truth:
    """Item → whether it is wrong, and for those asked for: its stratum, and its score from 0 to 1."""

    wrong: Mapping[str, bool]
    strata: Mapping[str, str] | None = None
    scores: Mapping[str, float] | None = None


def looks(truth: Truth, order: Sequence[str], *, valid_at_any_look: bool) -> Bounds:
    """The interval after each item of the order."""
    wrong = np.array([truth.wrong[key] for key in order], dtype=int)
    n = np.arange(1, len(wrong) + 1)
    if truth.scores is not None:
        scores = np.array([truth.scores[key] for key in order])
        by = side_information.any_look if valid_at_any_look else side_information.by_width
        return by(wrong, scores, scores)
    if valid_at_any_look:
        return intervals.narrowing(intervals.any_look(n, np.cumsum(wrong), len(wrong)))
    return intervals.by_width(n, np.cumsum(wrong), len(wrong))


def replay(truth: Truth, half_width: float, *, valid_at_any_look: bool, seed: int = SEED) -> Audited:
    """The first look at which the interval is as narrow as wanted."""
    order = sampling_order(list(truth.wrong), seed, None if valid_at_any_look else truth.strata)
    found = looks(truth, order.keys, valid_at_any_look=valid_at_any_look)
    stop = first_narrow(found, half_width, 1 if valid_at_any_look else EVERY)
    wrong = np.cumsum([truth.wrong[key] for key in order.keys])
    share = wrong[-1] / len(wrong)
    low, high = float(found.low[stop]), float(found.high[stop])
    return Audited(order, stop + 1, int(wrong[stop]), low, high, bool(low <= share + 1e-12 and share - 1e-12 <= high))


def first_narrow(found: Bounds, half_width: float, every: int = 1) -> int:
    """The place of the first look that is narrow enough; the last is, since its ends are the truth. `every` so many
    items there is a look.
    """
    narrow: Array = found.half_width <= half_width + 1e-12
    narrow[np.arange(1, len(narrow) + 1) % every != 0] = False
    return int(np.argmax(narrow)) if narrow.any() else len(narrow) - 1


def replays(truth: Truth, half_width: float, *, valid_at_any_look: bool, seed: int, runs: int) -> dict[str, Any]:
    """JSON-able summary over `runs` orders, from the seed on."""
    found = [
        replay(truth, half_width, valid_at_any_look=valid_at_any_look, seed=seed + number) for number in range(runs)
    ]
    return {
        "items": len(truth.wrong),
        "truth": sum(truth.wrong.values()) / len(truth.wrong),
        "mean_n": float(np.mean([one.n for one in found])),
        "max_n": max(one.n for one in found),
        "coverage": float(np.mean([one.covers for one in found])),
    }
