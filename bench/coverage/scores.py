"""Scores of protocol files near the end of a scale, with ties, and if annotators differ.

Of a five-point scale near its end, an item is 5, or with the probability `rare` 1, and three annotators give an item's
value. Of strengths, b beats a with the probability that a distance of 0.6 makes, or ties; the number of comparisons is
that of an item. Where annotators differ, three of so many, drawn for each item, judge it, and each adds to every
judgment a normal effect of their own with the standard deviation `sd`, as does the item with `ITEM`. The truth is what
ever more annotators of this kind would give about ever more items.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np

from annotation.measures import right_answers
from annotation.measures.bradley_terry import Compared, NoStrengths, bradley_terry
from annotation.measures.over_annotators import ANNOTATORS
from annotation.measures.scored import SHARE, Range, Scored, differences, summary
from annotation.measures.types import Array, Figures

SEED = 20240606
RARE, TIES = (0.0, 0.005, 0.02, 0.1), (0.0, 0.5, 1.0)
ITEMS, EACH = (10, 20, 50, 200), (1, 3)
PEOPLE, SD, ITEM, JUDGED_BY = (5, 10, 20), (0.0, 0.5, 1.0), 0.5, 3
DRAWS = 400_000
HEADS = ("design", *(f"{items} items" for items in ITEMS))
Found = tuple[float, float]
Effects = tuple[Array, Array]  # of items and of annotators, of as many judgments as there are
FIVE = Range(1.0, 5.0)


def rows(studies: int) -> Iterator[list[str]]:
    """Yield coverage, and the share of studies without an interval; if annotators differ, the coverage for these
    annotators' interval → for others like them, and the mean width of the latter.
    """
    for rare in RARE:
        yield [f"5, rarely ({rare:g}) 1", *(_cell(mean_of_scale(items, rare, studies)) for items in ITEMS)]
    for ties, each in product(TIES, EACH):
        name = f"strengths, {100 * ties:g}% ties, {each} an item"
        yield [name, *(_cell(strengths(items, each, ties, studies)) for items in ITEMS)]
    for name, people, sd in product(MEASURES, PEOPLE, SD):
        design = f"{name}, 3 of {people} annotators, sd {sd:g}"
        yield [design, *(_both(over_annotators(name, items, people, sd, studies)) for items in ITEMS)]


def _cell(found: Found) -> str:
    held, none = found
    return f"none given ({100 * none:.1f}%)" if none == 1 else f"{100 * held:.1f}% ({100 * none:.1f}%)"


def _both(found: tuple[float, float, float]) -> str:
    these, others, width = found
    wider = "none" if np.isnan(others) else f"{100 * others:.1f}% ({width:.2f})"
    return f"{100 * these:.1f} → {wider}"


def mean_of_scale(items: int, rare: float, studies: int) -> Found:
    dice, spans = np.random.default_rng(SEED), []
    for _ in range(studies):
        low = dice.random(items) < rare
        found = summary(
            [Scored(item, "", "", "", 1.0 if low[item] else 5.0) for item in range(items) for _ in range(3)], FIVE
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
        spans += [(one.measured["low"], one.measured["high"]) for one in found.rows if one.name == "b"]
    return _held(spans, np.log(share / (1 - share)) / 2)


def _held(spans: Sequence[tuple[float | None, float | None]], true: float) -> Found:
    given = [(low, high) for low, high in spans if low is not None and high is not None]
    held = [low - 1e-12 <= true <= high + 1e-12 for low, high in given]
    return (float(np.mean(held)) if held else 0.0), 1 - len(given) / len(spans)


# If annotators differ: the judgments, and what is measured from them


def _points(dice: np.random.Generator, item: Array, who: Array) -> Array:
    return np.clip(np.round(3.6 + item + who + 0.6 * dice.standard_normal(item.shape)), 1, 5)


def _yes(dice: np.random.Generator, item: Array, who: Array, middle: float = 1.5) -> Array:
    return (dice.random(item.shape) < 1 / (1 + np.exp(-middle - item - who))).astype(float)


def _geometric(dice: np.random.Generator, item: Array, who: Array) -> Array:
    return np.asarray(np.sqrt(_points(dice, item, who) * _points(dice, item, who)))


def _pairs(dice: np.random.Generator, item: Array, who: Array) -> Array:
    """Return scores of the first thing and of the second, which lenient annotators like more."""
    return np.stack([_points(dice, item, who), _points(dice, item - 0.3, 0.5 * who)])


def _group(dice: np.random.Generator, item: Array, who: Array) -> Array:
    """Return, for each item, whether the majority of annotators is right in each of four tasks."""
    right = np.stack([_yes(dice, item, who, 2.5).sum(axis=-1) > JUDGED_BY / 2 for _ in range(4)])
    return np.asarray(right.all(axis=0), dtype=float)


def _scored(values: Array, who: Array) -> list[Scored]:
    return [
        Scored(item, "", "", "", float(value), int(person))
        for item, (of, by) in enumerate(zip(values, who, strict=True))
        for value, person in zip(of, by, strict=True)
    ]


def _strength(values: Array, who: Array) -> Figures:
    compared = [Compared(one.item, "b", "a", one.value, one.annotator) for one in _scored(values, who)]
    (found,) = (one.measured for one in bradley_terry(compared).rows if one.name == "b")
    return found


def _of_groups(values: Array, who: Array) -> Figures:
    units = [right_answers.Unit(item, "", "", bool(one), who[item].tolist()) for item, one in enumerate(values)]
    return right_answers.share_of_units(units)


def _difference(values: Array, who: Array) -> Figures:
    return differences({"x": _scored(values[0], who), "y": _scored(values[1], who)}, FIVE)[0]


Says = Callable[[np.random.Generator, Array, Array], Array]
MEASURES: dict[str, tuple[Says, Callable[[Array, Array], Figures]]] = {
    "mean of five points": (_points, lambda values, who: summary(_scored(values, who), FIVE)),
    "share right": (_yes, lambda values, who: summary(_scored(values, who), SHARE)),
    "geometric mean": (_geometric, lambda values, who: summary(_scored(values, who), FIVE)),
    "groups of four": (_group, _of_groups),
    "strength": (lambda dice, item, who: _yes(dice, item, who, 0.6), _strength),
    "difference of two means": (_pairs, _difference),
}


def over_annotators(name: str, items: int, people: int, sd: float, studies: int) -> tuple[float, float, float]:
    """Return the coverage of both intervals, and the mean width of the one for others; nan if no study has it."""
    dice, (says, measure), true = np.random.default_rng(SEED), MEASURES[name], truth(name, sd)
    found = []
    for _ in range(studies):
        who = np.argsort(dice.random((items, people)), axis=1)[:, :JUDGED_BY]
        of_items = np.repeat(ITEM * dice.standard_normal((items, 1)), JUDGED_BY, axis=1)
        try:
            one = measure(says(dice, of_items, (sd * dice.standard_normal(people))[who]), who)
        except NoStrengths:
            continue
        if one["low"] is not None:
            held = one["these_low"] <= true <= one["these_high"]
            known = one["over"] == ANNOTATORS
            wider = (one["low"] <= true <= one["high"], one["high"] - one["low"]) if known else (np.nan, np.nan)
            found.append((held, *wider))
    these, others, width = np.nanmean(found, axis=0)
    return float(these), float(others), float(width)


@cache
def truth(name: str, sd: float) -> float:
    """Return the truth from `DRAWS` items, each judged by annotators who do not judge any other."""
    dice, (says, _) = np.random.default_rng(SEED + 1), MEASURES[name]
    of_items = np.repeat(ITEM * dice.standard_normal((DRAWS, 1)), JUDGED_BY, axis=1)
    values = says(dice, of_items, sd * dice.standard_normal((DRAWS, JUDGED_BY)))
    if name == "difference of two means":
        return float(values[0].mean() - values[1].mean())
    mean = float(values.mean())
    return float(np.log(mean / (1 - mean)) / 2) if name == "strength" else mean
