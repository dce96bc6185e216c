"""SugarCrepe's adversarial refinement (App. D.3): balance out what the text itself reveals. Pure.

Two text models score each caption between 0 and 1. The plane of their gaps, positive minus negative, is cut into equal
cells; a cell and its mirror image about the origin keep the same number of items, so that each model prefers the
positive caption in half of the items kept.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

CELLS = 100  # per side of the grid over [-1, 1]; even, because a strip around 0 would be its own mirror
DIGITS = 9  # significant decimals of a gap
Gaps = tuple[float, float]
Cell = tuple[int, int]
TIED = "a gap of exactly 0"
UNMATCHED = "the mirror cell has fewer"
NOTHING_READ, NOTHING_STAYS = "no rows were read", "no rows stay"
Accuracy = tuple[float, float] | tuple[None, None]  # the two models' accuracies, in percent; None without items


@dataclass(frozen=True, slots=True)
class Refined:
    """`kept` and `dropped` are positions of the given gaps, in order; `before` and `after` are the accuracies."""

    kept: list[int]
    dropped: list[tuple[int, str]]
    before: Accuracy
    after: Accuracy

    @property
    def reasons(self) -> Counter[str]:
        return Counter(reason for _, reason in self.dropped)

    @property
    def note(self) -> str:
        """Explain why an accuracy is undefined; empty if both are defined."""
        return NOTHING_READ if self.before[0] is None else NOTHING_STAYS if self.after[0] is None else ""


def refine(gaps: Sequence[Gaps], seed: int) -> Refined:
    """Choose the items to keep (SugarCrepe App. D.3). A pair's fuller cell keeps as many as the other has, drawn by the
    seed.

    A positive gap g lies in cell k where (k-1)·2/CELLS < g ≤ k·2/CELLS; negative ones mirror that, so borders are not
    shared. Gaps are rounded to DIGITS decimals: 0.50 - 0.48 is 0.02, without the rounding error of binary fractions. A
    gap of 0 prefers neither caption and has no mirror: such items are dropped. Raises ValueError for gaps outside [-1,
    1].
    """
    members: dict[Cell, list[int]] = defaultdict(list)
    dropped = []
    gaps = [(round(first, DIGITS), round(second, DIGITS)) for first, second in gaps]
    for place, (first, second) in enumerate(gaps):
        where = cell(first), cell(second)
        if 0 in where:
            dropped.append((place, TIED))
        else:
            members[where].append(place)
    kept = sorted(place for where in members for place in _sample(where, members, seed))
    stays = set(kept)
    dropped += [(place, UNMATCHED) for places in members.values() for place in places if place not in stays]
    after = accuracy([gaps[place] for place in kept])
    return Refined(kept, sorted(dropped), accuracy(gaps), after)


def _sample(where: Cell, members: dict[Cell, list[int]], seed: int) -> list[int]:
    """Draw as many of this cell's items as its mirror cell has, or all if that has more."""
    places = members[where]
    mirror = len(members.get((-where[0], -where[1]), ()))
    if mirror >= len(places):
        return places
    return Random(f"{seed}/{where[0]}/{where[1]}").sample(places, mirror)


def cell(gap: float) -> int:
    """Return the cell: 1 … CELLS/2 from 0 outwards, negative below 0; 0 for a gap of exactly 0."""
    if not -1 <= gap <= 1:
        raise ValueError(f"A gap of {gap} is not between -1 and 1.")
    distance = ceil(round(abs(gap) * CELLS / 2, DIGITS))
    return distance if gap > 0 else -distance


def accuracy(gaps: Sequence[Gaps]) -> Accuracy:
    """Return how often each model scores the positive caption higher, in percent. Ties count as wrong."""
    if not gaps:
        return None, None
    first, second = (100 * sum(gap[model] > 0 for gap in gaps) / len(gaps) for model in (0, 1))
    return first, second
