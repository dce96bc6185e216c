"""Points and boxes on a picture: how they are written, and how well two sets agree. Pure.

A coordinate is a whole number of ten-thousandths of the picture's width or height. So it doesn't depend on which copy
of the picture was shown (a smaller one, or one in a frame), can be checked without knowing the picture, and is exact to
the pixel in pictures of up to 10,000 pixels.
A point is `x:y`, a box `left:top:right:bottom`, followed by its label if it has one: `1200:3400:hand,5000:6100:face`.
"""

import json
import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from annotation.protocols.base import BOXES, POINTS

WHOLE = 10_000  # the width or the height of a picture
OUTSIDE = "is outside the picture"
NONE = "none"  # nothing to mark
HALF = 0.5  # the overlap or similarity from which two answers agree
_SIZES = {POINTS: 2, BOXES: 4}
_PARTING, _WITHIN = ",", ":"


class Mark(NamedTuple):
    """(x, y) of a point, (left, top, right, bottom) of a box."""

    at: tuple[int, ...]
    label: str = ""


class NotMarks(ValueError):
    """Raised if a text is not a list of marks; the message names the mistake."""


def read(kind: str, said: str, labels: Collection[str] = ()) -> list[Mark]:
    """Return the marks in what was sent or stored; each has one of the labels, if there are any. Raises NotMarks."""
    if said in ("", NONE):
        return []
    return [_mark(kind, one, labels) for one in said.split(_PARTING)]


def _mark(kind: str, said: str, labels: Collection[str]) -> Mark:
    size = _SIZES[kind]
    parts = said.split(_WITHIN)
    numbers, label = parts[:size], _WITHIN.join(parts[size:])
    if len(numbers) < size or not all(one.isascii() and one.isdecimal() and len(one) < 6 for one in numbers):
        raise NotMarks("is not written as a mark")
    at = tuple(map(int, numbers))
    if max(at) > WHOLE:
        raise NotMarks(OUTSIDE)
    if kind == BOXES and not (at[0] < at[2] and at[1] < at[3]):
        raise NotMarks("is a box without a size")
    if label not in (labels or ("",)):
        raise NotMarks("has none of this question’s labels")
    return Mark(at, label)


def written(marks: Sequence[Mark]) -> str:
    """Invert `read`, for at least one mark; else return `none`."""
    return _PARTING.join(_WITHIN.join([*map(str, at), *filter(None, [label])]) for at, label in marks) or NONE


def from_data(kind: str, said: Any, size: tuple[int, int]) -> list[Mark]:
    """Return the material's own marks: a list, or JSON of one, of `[x, y]` or `[left, top, right, bottom]`, or of
    objects with these names (or `x`, `y`, `width` and `height`, or COCO's `bbox`) and a `label`.

    Numbers from 0 to 1 are shares of the picture; others are pixels of the picture, whose `size` is known, or of the
    size that the data names: `{"width": 640, "height": 480, "boxes": […]}`. Marks are clipped at the border.
    Raises NotMarks.
    """
    rows: Any
    try:
        rows = json.loads(said) if isinstance(said, str) else said
    except json.JSONDecodeError:
        raise NotMarks("is not a JSON list of marks") from None
    if isinstance(rows, dict) and kind in rows:
        whole: Any = [rows.get("width"), rows.get("height")]
        if not _are_numbers(whole, 2) or min(whole) <= 0:
            raise NotMarks("doesn't name a width and height")
        rows, size = rows[kind], (whole[0], whole[1])
    if isinstance(rows, list) and rows and all(isinstance(one, int | float) for one in rows):
        rows = [rows]
    if not isinstance(rows, list):
        raise NotMarks("is not a list of marks")
    return [_from_row(kind, row, size) for row in rows]


_NAMES: dict[str, list[tuple[str, ...]]] = {
    POINTS: [("x", "y")],
    BOXES: [("left", "top", "right", "bottom"), ("x1", "y1", "x2", "y2")],
}
_WITH_SIZE = ("x", "y", "width", "height")


def _from_row(kind: str, row: Any, size: tuple[int, int]) -> Mark:
    label = ""
    numbers: Any = row
    if isinstance(row, dict):
        label = str(row.get("label") or row.get("name") or "")
        named = next((names for names in _NAMES[kind] if all(name in row for name in names)), None)
        boxed: Any = row.get("bbox") if kind == BOXES else None
        if kind == BOXES and all(name in row for name in _WITH_SIZE):
            boxed = [row[name] for name in _WITH_SIZE]
        numbers = [row[name] for name in named] if named else []
        if boxed is not None and _are_numbers(boxed, 4):
            numbers = [boxed[0], boxed[1], boxed[0] + boxed[2], boxed[1] + boxed[3]]
    if not _are_numbers(numbers, _SIZES[kind]):
        raise NotMarks(f"has a mark without its {_SIZES[kind]} numbers")
    whole = (1, 1) if all(0 <= one <= 1 for one in numbers) else size
    at = tuple(round(one * WHOLE / whole[place % 2]) for place, one in enumerate(numbers))
    return Mark(tuple(min(max(one, 0), WHOLE) for one in at), label)


def _are_numbers(found: Any, count: int) -> bool:
    if not isinstance(found, list) or len(found) != count:
        return False
    return all(isinstance(one, int | float) and math.isfinite(one) for one in found)


def in_percent(at: Sequence[int]) -> str:
    """Return `(12.5, 34)` for a point; for a box, its corners."""
    corners = [at[place : place + 2] for place in range(0, len(at), 2)]
    return "–".join(f"({x / 100:g}, {y / 100:g})" for x, y in corners)


# Agreement


def iou(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the intersection of two boxes over their union (Jaccard 1912)."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(0, width) * max(0, height)
    areas = ((of[2] - of[0]) * (of[3] - of[1]) for of in (one, other))
    return both / (sum(areas) - both)


def best_pairs(worth: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column), each used at most once, with the largest total worth, leaving out those worth
    nothing. Kuhn's Hungarian method with potentials (Kuhn 1955), for the few marks on a picture: O(rows² columns).
    """
    if len(worth) > len(worth[0]) if worth else False:
        return sorted((row, column) for column, row in best_pairs([*zip(*worth, strict=True)]))
    rows, columns = len(worth), len(worth[0]) if worth else 0
    of_row, of_column = [0.0] * (rows + 1), [0.0] * (columns + 1)  # potentials
    taken = [0] * (columns + 1)  # column → its row, from 1; column 0 holds the row to be placed
    for row in range(1, rows + 1):
        taken[0], at = row, 0
        slack, before, done = [math.inf] * (columns + 1), [0] * (columns + 1), [False] * (columns + 1)
        while taken[at]:
            done[at] = True
            free = [column for column in range(1, columns + 1) if not done[column]]
            for column in free:
                gap = -worth[taken[at] - 1][column - 1] - of_row[taken[at]] - of_column[column]
                if gap < slack[column]:
                    slack[column], before[column] = gap, at
            nearest = min(free, key=slack.__getitem__)
            step = slack[nearest]
            for column in range(columns + 1):
                if done[column]:
                    of_row[taken[column]] += step
                    of_column[column] -= step
                else:
                    slack[column] -= step
            at = nearest
        while at:
            taken[at] = taken[before[at]]
            at = before[at]
    return sorted((taken[at] - 1, at - 1) for at in range(1, columns + 1) if taken[at] and worth[taken[at] - 1][at - 1])


def _matched(one: Sequence[Mark], other: Sequence[Mark], worth: Callable[[Mark, Mark], float]) -> list[float]:
    """Return the worth of each of the best pairs of marks with the same label."""
    table = [[worth(mine, theirs) if mine.label == theirs.label else 0.0 for theirs in other] for mine in one]
    return [table[row][column] for row, column in best_pairs(table)] if one and other else []


def _f1(matched: int, one: int, other: int) -> float:
    return 2 * matched / (one + other) if one + other else 1.0


@lru_cache(4096)
def point_f1(one: str, other: str, radius: float) -> float:
    """Return F1 of two answers: twice the pairs of points within the radius over all points; 1 if both are empty. The
    radius is a share of the picture's sides: √((Δx / width)² + (Δy / height)²) is at most the radius.
    """
    mine, theirs = _stored(POINTS, one), _stored(POINTS, other)
    near = radius * WHOLE + 1e-9
    pairs = _matched(mine, theirs, lambda a, b: float(math.dist(a.at, b.at) <= near))
    return _f1(len(pairs), len(mine), len(theirs))


@lru_cache(4096)
def box_iou(one: str, other: str) -> float:
    """Return the mean IoU of the best pairs of boxes; boxes without a pair count as 0. 1 if both have none."""
    mine, theirs = _stored(BOXES, one), _stored(BOXES, other)
    most = max(len(mine), len(theirs))
    return math.fsum(_matched(mine, theirs, lambda a, b: iou(a.at, b.at))) / most if most else 1.0


@lru_cache(4096)
def box_f1(one: str, other: str) -> float:
    """Return the F1 of two answers: twice the pairs with an IoU of at least 0.5 over all boxes; 1 if both are empty."""
    mine, theirs = _stored(BOXES, one), _stored(BOXES, other)
    pairs = _matched(mine, theirs, lambda a, b: float(iou(a.at, b.at) >= HALF))
    return _f1(len(pairs), len(mine), len(theirs))


def _stored(kind: str, said: str) -> list[Mark]:
    """Return the marks of a stored answer, whatever its file's labels."""
    size = _SIZES[kind]
    rows = [one.split(_WITHIN) for one in said.split(_PARTING)] if said not in ("", NONE) else []
    return [Mark(tuple(map(int, row[:size])), _WITHIN.join(row[size:])) for row in rows]


def likeness(kind: str, one: str, other: str, radius: float = 0) -> float:
    """Return how well two stored answers agree, from 0 to 1: F1 for points, mean IoU for boxes."""
    first, second = sorted((one, other))
    return point_f1(first, second, radius) if kind == POINTS else box_iou(first, second)


def mean_likeness(kind: str, said: Sequence[str], radius: float = 0) -> float:
    """Return the mean over all pairs of answers; 1 for a single answer."""
    return fmean(likeness(kind, one, other, radius) for one, other in combinations(said, 2)) if len(said) > 1 else 1.0
