"""How far sets of options, and points and boxes on a picture agree.

By the published formulas: the index of Jaccard (1912), α with its distance (Krippendorff 2011, Passonneau 2006), the
best pairs of marks (Kuhn 1955) with F1 and IoU.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from tests.independent import agreeing
from tests.independent.agreeing import Said, number
from tests.independent.deciding import CANNOT_JUDGE
from tests.independent.reading import TASK

SET, POINTS, BOXES, NOMINAL = "set", "points", "boxes", "nominal"
MEANS = {SET: "jaccard_mean", POINTS: "point_f1_mean", BOXES: "box_iou_mean"}
CHIEF = {SET: "alpha_jaccard", POINTS: "point_f1", BOXES: "box_iou"}


@dataclass(frozen=True)
class View:
    """What an answer is compared by: its `level`, the name in `project`, and of each option whether it was chosen."""

    project: Callable[[str], str]
    level: str = NOMINAL
    radius: float = 0
    options: Callable[[str], list[str]] | None = None

    def __call__(self, label: str) -> str:
        return self.project(label)

    def like(self, one: str, other: str) -> float:
        if self.level == SET:
            return jaccard(chosen(one), chosen(other))
        return points_f1(one, other, self.radius) if self.level == POINTS else boxes_iou(one, other)

    def said(self, rows: pd.DataFrame) -> Said:
        """Of each task; where options are compared, of each of them. Who cannot judge says nothing on a level."""
        found: Said = defaultdict(list)
        for *task, who, label in rows[[*TASK, "annotator", "answer"]].itertuples(index=False, name=None):
            if self.options and label != CANNOT_JUDGE:
                given = chosen(self(label))
                for place, option in enumerate(self.options(label)):
                    found[*task, place].append((who, "yes" if option in given else "no"))
            elif not self.options and (self.level == NOMINAL or label != CANNOT_JUDGE):
                found[tuple(task)].append((who, self(label)))
        return dict(found)


def chosen(said: str) -> frozenset[str]:
    return frozenset(filter(None, said.partition(";")[0].split(",")))


def jaccard(one: frozenset, other: frozenset) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def marks(said: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, one.split(":"))) for one in said.split(",")] if said not in ("", "none") else []


def best(one: list, other: list, worth: Callable) -> list[float]:
    if not one or not other:
        return []
    table = np.array([[worth(mine, theirs) for theirs in other] for mine in one])
    return table[linear_sum_assignment(table, maximize=True)].tolist()


def points_f1(one: str, other: str, radius: float) -> float:
    mine, theirs = marks(one), marks(other)
    pairs = sum(best(mine, theirs, lambda a, b: float(math.dist(a, b) <= radius * 10_000 + 1e-9)))
    return 2 * pairs / (len(mine) + len(theirs)) if mine or theirs else 1.0


def boxes_iou(one: str, other: str) -> float:
    mine, theirs = marks(one), marks(other)
    return sum(best(mine, theirs, iou)) / max(len(mine), len(theirs)) if mine or theirs else 1.0


def iou(one: Sequence[int], other: Sequence[int]) -> float:
    def area(left: int, top: int, right: int, bottom: int) -> int:
        return max(0, right - left) * max(0, bottom - top)

    both = area(*map(max, one[:2], other[:2]), *map(min, one[2:], other[2:]))
    return both / (area(*one) + area(*other) - both)


def differing(said: Said) -> int:
    """Tasks with two different labels, of options as of whole answers."""
    return len({task[:3] for task, given in said.items() if len({label for _, label in given}) > 1})


def near(view: View, said: Said) -> dict[str, tuple[int, int]]:
    """How often each shared half with what more than half of the others chose, or was half like their marks."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for given in said.values():
        for place, (who, own) in enumerate(given):
            others = [label for other, (_, label) in enumerate(given) if other != place]
            if view.level == SET:
                votes = Counter(option for label in others for option in chosen(label))
                most = frozenset(option for option, count in votes.items() if 2 * count > len(others))
                same = jaccard(chosen(own), most) >= 0.5 if most else None
            else:
                same = np.mean([view.like(own, label) for label in others]) >= 0.5 if others else None
            if same is not None:
                found[who][0] += bool(same)
                found[who][1] += 1
    return {who: (same, n) for who, (same, n) in found.items()}


def on_level(view: View, said: Said) -> dict:
    several = {task: sorted(given, key=lambda one: number(one[0])) for task, given in said.items() if len(given) > 1}
    pairs: dict[tuple[int, int], dict[tuple, tuple[float, bool]]] = defaultdict(dict)
    for task, given in several.items():
        for (first, one), (second, other) in itertools.combinations(given, 2):
            pairs[number(first), number(second)][task] = view.like(one, other), one == other
    units = agreeing.units(said)
    rows = [
        {"first": first, "second": second, "value": float(np.mean([like for like, _ in of.values()])), "n": len(of),
         "percent": sum(same for _, same in of.values()) / len(of)}
        for (first, second), of in sorted(pairs.items())
    ]  # fmt: skip
    chief = of_sets(units) if view.level == SET else of_judgments(pairs)
    measures = {"percent": agreeing.percent(units), MEANS[view.level]: of_annotators(pairs), CHIEF[view.level]: chief}
    return {"measures": measures, "kappa_pairs": rows}


def of_annotators(pairs: Mapping[tuple, Mapping[tuple, tuple[float, bool]]]) -> dict:
    """The mean of the pairs' means, with the jackknife over tasks, less its bias."""
    likes = {pair: {task: like for task, (like, _) in of.items()} for pair, of in pairs.items()}
    means = {pair: np.mean(list(of.values())) for pair, of in likes.items()}
    if not means:
        return {"value": None, "low": None, "high": None, "n": 0, "left_out": 0}
    value, bias, lost = float(np.mean(list(means.values()))), 0.0, defaultdict(float)
    for pair, of in likes.items():
        for task, like in of.items():
            less = (means[pair] * len(of) - like) / (len(of) - 1) if len(of) > 1 else means[pair]
            lost[task] += (means[pair] - less) / len(means)
            bias -= (means[pair] - less) * (1 - 1 / len(of)) / len(means)
    n, found = len(lost), {"value": value, "n": len(means), "left_out": 0}
    if n < 2:
        return found | {"low": None, "high": None}
    variance = np.var(list(lost.values())) * (n - 1)
    effective = value * (1 - value) / variance if 0 < value < 1 and variance > agreeing.TINY else n
    low, high = agreeing.wilson(min(1, max(0, value - bias)), effective, n, 0.0)
    return found | {"low": low, "high": high}


def of_judgments(pairs: Mapping[tuple, Mapping[tuple, tuple[float, bool]]]) -> dict:
    """The mean over the pairs of judgments of each task."""
    likes: dict[tuple, list[float]] = defaultdict(list)
    for of in pairs.values():
        for task, (like, _) in of.items():
            likes[task].append(like)
    found = [(round(math.fsum(of), 12), len(of)) for of in likes.values()]

    def mean(some: Sequence[tuple[float, int]]) -> float | None:
        n = sum(count for _, count in some)
        return sum(like for like, _ in some) / n if n else None

    low, high = agreeing.interval(found, mean, (0.0, 1), 0.0)
    return {"value": mean(found), "low": low, "high": high, "n": sum(count for _, count in found), "left_out": 0}


def of_sets(units: Sequence[agreeing.Labels]) -> dict:
    low, high = agreeing.interval(units, alpha_of_sets, agreeing.mixed(units))
    return {"value": alpha_of_sets(units), "low": low, "high": high, "n": len(units)}


def alpha_of_sets(units: Sequence[agreeing.Labels]) -> float | None:
    """1 - D_o / D_e, where two sets are as far apart as their index of Jaccard is from 1."""

    def apart(one: str, other: str) -> float:
        return 1 - jaccard(chosen(one), chosen(other))

    totals, observed = Counter(label for unit in units for label in unit), 0.0
    for unit, times in Counter(units).items():
        observed += times * sum(apart(*pair) for pair in itertools.permutations(unit, 2)) / (len(unit) - 1)
    n = totals.total()
    expected = sum(
        totals[one] * totals[other] * apart(one, other) for one, other in itertools.permutations(totals, 2)
    ) / max(1, n - 1)
    return None if len(totals) < 2 else 1 - observed / expected
