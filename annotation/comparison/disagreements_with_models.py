"""Tasks that people get right and models get wrong, on which models agree but not with people, or people disagree.
Pure.

For n tasks and m models; all counts are over the models that answered.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

MISSED, AGAINST, SPLIT, ALL = "missed", "against", "split", "all"
LISTS: Mapping[str, str] = {
    MISSED: "people right, most models wrong",
    AGAINST: "models agree, but not with people",
    SPLIT: "annotators disagree",
    ALL: "all",
}
WRONG, MARGIN, ENTROPY, ITEM = "wrong", "margin", "entropy", "item"
SORTS: Mapping[str, str] = {
    WRONG: "most models wrong first",
    MARGIN: "smallest margin first",
    ENTROPY: "most disagreement first",
    ITEM: "item order",
}
UNKNOWN = -1  # neither right nor wrong


@dataclass(frozen=True, slots=True)
class Table:
    """`tasks`, `people` (1 right, 0 wrong, -1 neither) and `entropy` (bits) have the shape (n,); `models` (1, 0, -1 not
    answered) and `margins` (in each model's own units, NaN if missing) the shape (m, n)."""

    tasks: np.ndarray
    people: np.ndarray
    entropy: np.ndarray
    models: np.ndarray
    margins: np.ndarray

    @property
    def answered(self) -> np.ndarray:
        """Return how many models answered each task, shape (n,)."""
        return (self.models != UNKNOWN).sum(0)

    @property
    def wrong(self) -> np.ndarray:
        return (self.models == 0).sum(0)

    @property
    def margin(self) -> np.ndarray:
        """Return the mean margin of the models that have one, shape (n,); NaN if none has."""
        there = np.isfinite(self.margins)
        count = there.sum(0)
        total = np.where(there, self.margins, 0.0).sum(0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def mask(self, which: str) -> np.ndarray:
        """Return a mask of the tasks on a list, shape (n,)."""
        if which == SPLIT:
            return self.entropy > 0
        if which == ALL:
            return np.ones(len(self.tasks), bool)
        answered, wrong = self.answered, self.wrong
        if which == MISSED:
            return (self.people == 1) & (2 * wrong > answered)
        enough = answered >= max(1, min(2, len(self.models)))  # two must agree, or else the only model decides
        all_wrong, all_right = wrong == answered, wrong == 0
        return enough & (((self.people == 1) & all_wrong) | ((self.people == 0) & all_right))

    def listed(self, which: str, sort: str) -> np.ndarray:
        """Return a list's tasks, sorted; ties stay in item order, as in the table."""
        keys = {
            WRONG: (self.margin, -self.wrong / np.maximum(self.answered, 1)),
            MARGIN: (self.margin,),
            ENTROPY: (self.margin, -self.entropy),
            ITEM: (),
        }[sort]
        places = np.flatnonzero(self.mask(which))
        order = np.lexsort([key[places] for key in keys]) if keys else np.arange(len(places))
        return self.tasks[places[order]]

    def counts(self) -> dict[str, int]:
        return {which: int(self.mask(which).sum()) for which in LISTS}
