"""The lexical similarity of an item's captions: edit distance and word overlap. Pure.

VISLA, Appendix C.1 and Figure 8: by edit distance the two positives of Spatial VISLA lie further apart than either does
from the negative, so a model that goes only by wording is led away from the meaning. The paper does not say what the
distance counts; this has both characters and words.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median
from typing import Any, TypedDict

from rapidfuzz.distance import Levenshtein

PAIRS = {"P1-P2": (0, 1), "P1-N": (0, 2), "P2-N": (1, 2)}
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

# Starts of the bins; a value belongs to the last one that starts at or below it. They are fixed, so that two sets of
# items share one axis. The first bin of distances is for equal texts, the last is open; the last of overlap is 1.
STARTS = {
    "characters": (0, 1, *range(5, 101, 5)),
    "words": (0, *range(1, 21)),
    "overlap": tuple(tenths / 10 for tenths in range(11)),
}


Bin = TypedDict("Bin", {"from": float, "to": float | None, "count": int})  # `to` None: no upper end


@dataclass(frozen=True, slots=True)
class Likeness:
    """Similarity of two captions: the edits of `characters` and `words` to turn one into the other (Levenshtein 1966:
    insert, delete or replace one, each counting 1), and `overlap`, the share of words in common."""

    characters: int
    words: int
    overlap: float


@lru_cache(maxsize=2**15)  # a page of a running study repeats the same pairs again and again
def compare(one: str, other: str) -> Likeness:
    """Compare characters unchanged, and words in lower case and without punctuation.

    `overlap` is Jaccard's: words in both by words in either, each counted once; 1 if neither has any.
    """
    here, there = words(one), words(other)
    common, all_ = len({*here} & {*there}), len({*here} | {*there})
    return Likeness(Levenshtein.distance(one, other), Levenshtein.distance(here, there), common / all_ if all_ else 1.0)


def words(text: str) -> list[str]:
    """Return runs of letters and digits in lower case, with apostrophes and hyphens inside a word."""
    return WORD.findall(text.lower())


def overlap(items: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Compare the three pairs of many items, each given as (P1, P2, N): positive, second positive, negative. JSON-able:

        {"P1-P2": {"n": 640,
                   "characters": {"mean": 19.25, "median": 18.0, "bins": [
                       {"from": 0, "to": 1, "count": 0},
                       {"from": 1, "to": 5, "count": 3}, …,
                       {"from": 100, "to": None, "count": 0}]},
                   "words": {"mean": …, "median": …, "bins": […]},
                   "overlap": {"mean": …, "median": …, "bins": […]}},
         "P1-N": …, "P2-N": …}

    A bin holds `from` <= value < `to`; the last has `to` None and no upper end (of `overlap`: the value 1). The bins
    are the same for every pair and whatever the items. `mean` and `median` are None if there are no items.
    """
    items = list(items)
    overlaps: dict[str, Any] = {}
    for pair, (a, b) in PAIRS.items():
        found = [compare(item[a], item[b]) for item in items]
        overlaps[pair] = {"n": len(found)}
        for measure, starts in STARTS.items():
            overlaps[pair][measure] = _distribution([getattr(one, measure) for one in found], starts)
    return overlaps


def _distribution(values: list[float], starts: tuple[float, ...]) -> dict[str, Any]:
    counts: Counter[float] = Counter()
    for value, count in Counter(values).items():
        counts[starts[bisect_right(starts, value) - 1]] += count
    bins: list[Bin] = [
        {"from": low, "to": high, "count": counts[low]} for low, high in zip(starts, (*starts[1:], None), strict=True)
    ]
    return {"mean": fmean(values) if values else None, "median": median(values) if values else None, "bins": bins}
