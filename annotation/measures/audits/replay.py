"""Replay an audit of a benchmark with a known truth: when it would stop, and whether its interval is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.measures.audits import intervals
from annotation.measures.audits.order import Order, sampling_order
from annotation.measures.audits.plan import Target
from annotation.measures.audits.running import looks
from annotation.measures.types import Figures

SEED = 0


@dataclass(frozen=True, slots=True)
class Audited:
    """`n` items judged, `wrong` of them wrong; `estimate`, `low` and `high` are shares. `met`: whether the target is
    met. `missed_after`: after how many items an unmet bound was out of reach.
    """

    order: Order
    n: int
    wrong: int
    estimate: float
    low: float
    high: float
    covers: bool
    met: bool
    missed_after: int | None
    futile: bool = False

    @property
    def items(self) -> int:
        return len(self.order.keys)

    @property
    def ended(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether each item is wrong and, if known, its stratum and its score."""

    wrong: Mapping[str, bool]
    strata: Mapping[str, str] | None = None
    scores: Mapping[str, float] | None = None

    @property
    def share(self) -> float:
        return sum(self.wrong.values()) / len(self.wrong)


def replay(truth: Truth, target: Target, seed: int = SEED) -> Audited:
    """Replay an audit. Strata make the order proportional, except at any look, which needs a uniform one."""
    order = sampling_order(list(truth.wrong), seed, None if target.at_any_look else truth.strata)
    known = np.array([truth.wrong[key] for key in order.keys], dtype=int)
    strata = [truth.strata[key] for key in order.keys] if truth.strata else None
    scores = np.array([truth.scores[key] for key in order.keys]) if truth.scores else None
    found = looks(known, len(known), target, strata, scores)
    n = target.stop(found, len(order.keys)) or len(order.keys)
    futile = target.is_futile(float(found.low[n - 1]))
    missed = np.flatnonzero([target.is_missed(int(so_far), len(known)) for so_far in np.cumsum(known[:n])])
    low, high = float(found.low[n - 1]), float(found.high[n - 1])
    covers = low - 1e-12 <= truth.share <= high + 1e-12
    return Audited(
        order, n, int(known[:n].sum()), float(found.estimate[n - 1]), low, high, covers,
        not len(missed) and not futile, int(missed[0]) + 1 if len(missed) else None, futile,
    )  # fmt: skip


def replays(truth: Truth, target: Target, *, seed: int, runs: int) -> Figures:
    """Summarise `runs` orders, JSON-able, with seeds from `seed` on; for a bound, include the share that meets it."""
    found = [replay(truth, target, seed + number) for number in range(runs)]
    return {
        "items": len(truth.wrong),
        "truth": truth.share,
        "mean_n": float(np.mean([one.n for one in found])),
        "max_n": max(one.n for one in found),
        "coverage": float(np.mean([one.covers for one in found])),
        **({} if target.at_most is None else {"met": float(np.mean([one.met for one in found]))}),
    }


def by_stratum(truth: Truth, order: Sequence[str], n: int) -> list[dict[str, Any]]:
    """Return each stratum's items, how many are judged and wrong, and its interval by width; nothing without strata."""
    rows = []
    for stratum in sorted(set((truth.strata or {}).values())):
        judged = [truth.wrong[key] for key in order[:n] if (truth.strata or {})[key] == stratum]
        size = sum(one == stratum for one in (truth.strata or {}).values())
        row: dict[str, Any] = {"stratum": stratum, "items": size, "n": len(judged), "wrong": sum(judged)}
        if judged:
            bounds = intervals.by_width(np.array([len(judged)]), np.array([sum(judged)]), size)
            row |= {"low": float(bounds.low[0]), "high": float(bounds.high[0])}
        rows.append(row)
    return rows
