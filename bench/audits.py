"""Measure how often audits' intervals contain the truth, and how many items audits judge, in made-up benchmarks.

`python -m bench.audits` prints a row for each size and share of wrong items: by width and at any look, stopped at
± 2 points, without scores and with scores that are worth nothing (random), correlate 0.8 (good) or 0.99 (perfect) with
the truth. At any look a run counts as a miss if any look misses the truth, the worst that stopping can do; with scores
any look until the audit stops. `--runs 2000` is the full grid; `--exact` computes the column by width without chance.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from annotation.measures.audits import intervals, side_information
from annotation.measures.audits.intervals import Bounds
from annotation.measures.audits.plan import EVERY, Target
from annotation.measures.types import Array

SHARES = (0.005, 0.01, 0.02, 0.05, 0.12, 0.3)
SIZES = (500, 2933, 7511, 8782)
HALF_WIDTH = 0.02
CORRELATIONS = {"random": 0, "good": 0.8, "perfect": 0.99}
_FIRST = 400  # draws
METHODS = [base + quality for base in ("width", "any_look") for quality in ("", *(f"-{one}" for one in CORRELATIONS))]


@dataclass(frozen=True, slots=True)
class Found:
    """The share of runs whose interval has the truth, and the mean number of items judged."""

    coverage: float
    mean_n: float


def benchmark(size: int, share: float) -> Array:
    return (np.arange(size) < round(size * share)).astype(int)


def scores(wrong: Array, correlation: float, dice: np.random.Generator) -> Array:
    """Return normal noise with a shifted mean for wrong items, so that the scores correlate this much with them."""
    spread = wrong.std() or 1
    noise = dice.standard_normal(len(wrong))
    return noise if not correlation else wrong / spread * correlation + noise * np.sqrt(1 - correlation**2)


def simulated(size: int, share: float, method: str, runs: int, seed: int = 1, half_width: float = HALF_WIDTH) -> Found:
    """Simulate audits; `method` is one of `METHODS`."""
    dice, all_wrong = np.random.default_rng([seed, size, round(share * 1000)]), benchmark(size, share)
    truth, n = all_wrong.mean(), np.arange(1, size + 1)
    held, judged = 0, 0
    base, _, quality = method.partition("-")
    target = Target(half_width=half_width, at_any_look=base == "any_look")
    for _ in range(runs):
        wrong = dice.permutation(all_wrong)
        if quality:
            known = scores(wrong, CORRELATIONS[quality], dice)
            found = until_it_stops(wrong, known, target)
        elif target.at_any_look:
            found = intervals.narrowing(intervals.any_look(n, np.cumsum(wrong), size))
        else:
            found = intervals.by_width(n, np.cumsum(wrong), size)
        stop = target.stop(found, size) or size
        inside = (found.low - 1e-12 <= truth) & (truth <= found.high + 1e-12)
        held += bool(inside.all() if target.at_any_look else inside[stop - 1])
        judged += stop
    return Found(held / runs, judged / runs)


def until_it_stops(wrong: Array, known: Array, target: Target) -> Bounds:
    """Return looks at audits with scores, of enough draws for the audit to stop."""
    by = side_information.any_look if target.at_any_look else side_information.by_width
    drawn = _FIRST
    while target.stop(found := by(wrong[:drawn], known[:drawn], known), len(wrong)) is None:
        drawn *= 2
    return found


def by_width_exactly(size: int, share: float, half_width: float = HALF_WIDTH) -> Found:
    """Compute the column by width over all orders: the probability of each number of wrong items, look by look."""
    count = int(benchmark(size, share).sum())
    target, wrong = Target(half_width=half_width), np.arange(count + 1)
    chance, held, judged = (wrong == 0).astype(float), 0.0, 0.0
    for n in range(1, size + 1):
        moved = chance * np.clip((count - wrong) / (size - n + 1), 0, 1)
        chance = chance - moved + np.concatenate([[0], moved[:-1]])
        if n % EVERY == 0 or n == size:
            there = np.flatnonzero(chance > 1e-15)
            found = intervals.by_width(np.full(len(there), n), there, size)
            stopped = there[target.met(found) | (n == size)]
            inside = there[(found.low - 1e-12 <= count / size) & (count / size <= found.high + 1e-12)]
            held += chance[np.intersect1d(stopped, inside)].sum()
            judged += n * chance[stopped].sum()
            chance[stopped] = 0
            if chance.sum() < 1e-12:
                break
    return Found(float(held), float(judged))


def main(argv: list[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    options.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options.add_argument("--shares", type=float, nargs="*", default=SHARES)
    options.add_argument("--half-width", type=float, default=HALF_WIDTH)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--exact", action="store_true", help="by width alone, computed over all orders")
    asked = options.parse_args(argv)
    for size in asked.sizes:
        for share in asked.shares:
            begun = time.monotonic()
            cells = []
            for method in ["width"] if asked.exact else asked.methods:
                if asked.exact:
                    found = by_width_exactly(size, share, asked.half_width)
                else:
                    found = simulated(size, share, method, asked.runs, asked.seed, asked.half_width)
                cells.append(f"{method} {found.coverage:.1%} {found.mean_n:,.0f}")
            print(f"{size:,} {share:.1%}: {'  '.join(cells)}  ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
