"""How often the intervals of audits hold the truth, and how many items audits judge, in made-up benchmarks.

`python -m bench.audits` prints a row for each size and share of wrong items: by width, stopped at ± 2 points, at any
look, stopped by the worst adversary (any look that misses the truth is a miss), and both with scores that are worth
nothing or correlate 0.8 with the truth. `--runs 2000` is the full grid. Bets take seconds a run: `--bet-runs`.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from annotation.measures.audits import intervals, side_information
from annotation.measures.audits.plan import Target
from annotation.measures.types import Array

SHARES = (0.005, 0.01, 0.02, 0.05, 0.12, 0.3)
SIZES = (500, 2933, 7511, 8782)
HALF_WIDTH = 0.02
CORRELATION = 0.8


@dataclass(frozen=True, slots=True)
class Found:
    """The share of runs whose interval has the truth, and the mean number of items judged."""

    coverage: float
    mean_n: float


def benchmark(size: int, share: float) -> Array:
    return (np.arange(size) < round(size * share)).astype(int)


def scores(wrong: Array, correlation: float, dice: np.random.Generator) -> Array:
    """Normal noise with the mean moved for wrong items, so that the scores correlate so much with them."""
    spread = wrong.std() or 1
    noise = dice.standard_normal(len(wrong))
    return noise if not correlation else wrong / spread * correlation + noise * np.sqrt(1 - correlation**2)


def simulated(size: int, share: float, method: str, runs: int, seed: int = 1, half_width: float = HALF_WIDTH) -> Found:
    """`method`: width, any_look, or either of them with _random or _good scores."""
    dice, all_wrong = np.random.default_rng([seed, size, round(share * 1000)]), benchmark(size, share)
    truth, n = all_wrong.mean(), np.arange(1, size + 1)
    held, judged = 0, 0
    base, _, quality = method.partition("-")
    target = Target(half_width=half_width, at_any_look=base == "any_look")
    for _ in range(runs):
        wrong = dice.permutation(all_wrong)
        if quality:
            known = scores(wrong, CORRELATION if quality == "good" else 0, dice)
            by = side_information.any_look if target.at_any_look else side_information.by_width
            found = by(wrong, known, known)
        elif target.at_any_look:
            found = intervals.narrowing(intervals.any_look(n, np.cumsum(wrong), size))
        else:
            found = intervals.by_width(n, np.cumsum(wrong), size)
        stop = target.stop(found, size) or size
        inside = (found.low - 1e-12 <= truth) & (truth <= found.high + 1e-12)
        held += bool(inside.all() if target.at_any_look else inside[stop - 1])
        judged += stop
    return Found(held / runs, judged / runs)


def main(argv: list[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--bet-runs", type=int, default=0, help="runs with scores at any look; 0: none")
    options.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options.add_argument("--shares", type=float, nargs="*", default=SHARES)
    options.add_argument("--half-width", type=float, default=HALF_WIDTH)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(argv)
    runs = dict.fromkeys(("width", "any_look", "width-random", "width-good"), asked.runs)
    runs |= dict.fromkeys(("any_look-random", "any_look-good"), asked.bet_runs)
    for size in asked.sizes:
        for share in asked.shares:
            begun = time.monotonic()
            cells = [
                f"{method} {found.coverage:.1%} {found.mean_n:,.0f}"
                for method, times in runs.items()
                if times and (found := simulated(size, share, method, times, asked.seed, asked.half_width))
            ]
            print(f"{size:,} {share:.1%}: {'  '.join(cells)}  ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
