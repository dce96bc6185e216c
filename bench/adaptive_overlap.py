"""Judgments and errors of adaptive overlap against a fixed overlap of 2, 3 and 5, on real ratings and made-up crowds.

`python -m bench.adaptive_overlap` prints a row for each crowd or file and each certainty. An error is an item whose
majority, a tie being half an error, is not the crowd's: in simulation the answer of more than half of all annotators,
in a file the most frequent answer of all its raters. In a file, raters answer in random order, as often as there are
ratings, so that no overlap is above that number. `equal` is the fixed overlap that has the same error, between whole
numbers by linear interpolation, and `saved` the share of its judgments that adaptive overlap does without.
"""

import argparse
import csv
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

from annotation.measures.adaptive_overlap import figures, replay

FIXED = (2, 3, 5)
CERTAINTIES = (0.8, 0.85, 0.9, 0.95, 1.0)
CROWDS: dict[str, Callable[[Random], float]] = {  # the share of annotators who give the majority's answer
    "alike": lambda dice: 0.9,
    "noisy": lambda dice: 0.75,
    "hard_tail": lambda dice: 0.97 if dice.random() < 0.8 else 0.6,
    "easy": lambda dice: 0.99 if dice.random() < 0.95 else 0.7,
    "spread": lambda dice: max(share := dice.betavariate(0.5, 0.5), 1 - share),
}


@dataclass(frozen=True, slots=True)
class Found:
    """`mean` judgments per item; `error` and, by overlap, `fixed` are shares of items. `estimated` is the page's."""

    mean: float
    error: float
    estimated: float | None
    fixed: dict[int, float]

    @property
    def equal(self) -> float | None:
        """The fixed overlap with the same error; None if it is less than 1 or above the largest tried."""
        known = sorted(self.fixed.items())
        for (few, worse), (many, better) in pairwise(known):
            if better <= self.error <= worse:
                return many if worse == better else few + (worse - self.error) / (worse - better) * (many - few)
        return None


def _wrong(votes: Sequence[str], truth: str) -> float:
    counts = Counter(votes)
    most = max(counts.values())
    leaders = [label for label, count in counts.items() if count == most]
    return 1 - (truth in leaders) / len(leaders)


def _replayed(items: Sequence[tuple[str, Callable[[], Callable[[], str]], int]], overlap: int, least: float) -> Found:
    """`items`: (the true answer, a function that starts a new sequence of annotators, the cap)."""
    votes = [replay(start(), overlap, least, cap) for _, start, cap in items]
    error = sum(_wrong(given, truth) for given, (truth, *_) in zip(votes, items, strict=True)) / len(items)
    fixed = {}
    for k in range(1, max(cap for *_, cap in items) + 1):
        found = [
            _wrong([give() for give in [start()] for _ in range(min(k, cap))], truth) for truth, start, cap in items
        ]
        fixed[k] = sum(found) / len(items)
    return Found(sum(map(len, votes)) / len(votes), error, figures(votes, votes)["estimated_error"], fixed)


def simulated(crowd: str, items: int, overlap: int, least: float, cap: int, seed: int) -> Found:
    dice = Random(seed)

    def item(share: float) -> tuple[str, Callable[[], Callable[[], str]], int]:
        return "right", lambda: lambda: "right" if dice.random() < share else "wrong", cap

    return _replayed([item(CROWDS[crowd](dice)) for _ in range(items)], overlap, least)


def ratings(path: Path) -> list[list[str]]:
    """The labels of each item that has at least three: of a table with a row per rating or a column per rater, or of
    VALSE, which has counts of votes.
    """
    if path.suffix == ".json":
        votes = [one["mturk"] for one in json.loads(path.read_text(encoding="utf-8")).values()]
        return [[label for label, n in one.items() for _ in range(n)] for one in votes]
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[str]] = defaultdict(list)
    for number, row in enumerate(rows):
        if "rating" in row:
            found[row["item"]].append(row["rating"])
        else:
            found[str(number)] += [label for name, label in row.items() if name.lower().startswith("rater") and label]
    return [labels for labels in found.values() if len(labels) > 2]


def replayed(labels: Sequence[Sequence[str]], overlap: int, least: float, orders: int, seed: int) -> Found:
    """Means over `orders` random orders of the raters of each item."""
    dice = Random(seed)

    def item(given: Sequence[str]) -> tuple[str, Callable[[], Callable[[], str]], int]:
        def start() -> Callable[[], str]:
            return iter(dice.sample(given, len(given))).__next__

        return Counter(given).most_common(1)[0][0], start, len(given)

    return _replayed([item(given) for _ in range(orders) for given in labels], overlap, least)


def row(name: str, least: float, found: Found) -> str:
    fixed = "  ".join(f"k={k} {found.fixed[k]:.2%}" for k in FIXED if k in found.fixed)
    estimated = "–" if found.estimated is None else f"{found.estimated:.2%}"
    equal = found.equal
    saving = "–" if not equal else f"equal {equal:.2f}, saved {1 - found.mean / equal:.0%}"
    adaptive = f"{found.mean:.2f} judgments, error {found.error:.2%} (estimated {estimated})"
    return f"{name:13} {least:4.0%}  {adaptive}  {fixed}  {saving}"


def main(argv: list[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", type=Path, nargs="*", help="ratings; without any, only made-up crowds")
    options.add_argument("--items", type=int, default=5000)
    options.add_argument("--overlap", type=int, default=2)
    options.add_argument("--cap", type=int, default=9, help="of made-up crowds; a file has its raters")
    options.add_argument("--orders", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(argv)
    for name in () if asked.files else CROWDS:
        for least in CERTAINTIES:
            print(
                row(name, least, simulated(name, asked.items, asked.overlap, least, asked.cap, asked.seed)), flush=True
            )
    for path in asked.files:
        if given := ratings(path):
            for least in CERTAINTIES:
                print(
                    row(path.stem, least, replayed(given, asked.overlap, least, asked.orders, asked.seed)), flush=True
                )


if __name__ == "__main__":
    main(sys.argv[1:])
