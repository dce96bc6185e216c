"""Turn answers to one question on a screen into numbers, and compute their means with 95% intervals. Pure.

Only counted judgments of live tasks are used; “cannot judge” and answers without a value are left out.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from annotation.measures.judgments import JudgmentRow
from annotation.measures.over_annotators import ANNOTATORS, ITEMS, Spread, spread
from annotation.measures.types import Array, Figures
from annotation.protocols import answers
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.compile import in_own_names
from annotation.protocols.schema import ProtocolFile
from benchmarks.metrics.base import Z, wilson

THESE, OTHERS = "for these annotators", "for others like them"  # as pages and reports name the intervals
COMPARED = 10  # compare groups in pairs only up to this many groups
Span = tuple[float | None, float | None]
NONE: Span = (None, None)
Unit = Any  # a row with a `type` and a `subtype`
_ROUNDING = 1e-24  # rounding error in a variance that is 0, on a scale from 0 to 1


class Said(NamedTuple):
    """An answer to one question on a screen, in the file's words."""

    row: JudgmentRow
    value: str


class Scored(NamedTuple):
    """One judgment's contribution to a score."""

    item: int
    type: str
    subtype: str
    question: str
    value: float
    annotator: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """The range of the values; `share`: each value is 0 or 1, and their mean a share."""

    least: float
    most: float
    share: bool = False


SHARE = Range(0.0, 1.0, share=True)


def said_to(file: ProtocolFile, address: str, rows: Iterable[JudgmentRow]) -> list[Said]:
    """Return the answers of those who were asked."""
    found = []
    for row in rows:
        if row.answer == CANNOT_JUDGE:
            found.append(Said(row, CANNOT_JUDGE))
        elif value := value_of(file, address, row.answer):
            found.append(Said(row, value))
    return found


def value_of(file: ProtocolFile, address: str, label: str) -> str:
    """Return the answer to one question, in the file's words, from a stored answer; "" if it was not asked."""
    return answers.given(in_own_names(file, label), address, file)


def scored(one: Said, value: float) -> Scored:
    position, question, _ = one.row.task
    return Scored(position, one.row.type, one.row.subtype, question, value, one.row.annotator)


def broken_down(rows: Sequence[Unit], measured: Callable[[Sequence[Unit]], Figures]) -> Figures:
    """Measure the `whole`, and each type and subtype as a row."""
    groups: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for row in rows:
        groups[row.type, row.subtype].append(row)
    by_type = [{"type": kind, "subtype": subtype, **measured(of)} for (kind, subtype), of in sorted(groups.items())]
    return {"whole": measured(rows), "by_type": by_type}


def with_intervals(value: float | None, these: Span, others: Span | None) -> Figures:
    """Return a score with `low` and `high` for other annotators like these, and `these_low` and `these_high` for these.

    `over` is the basis of the first: ITEMS if the judgments do not show how annotators differ; both are then the same.
    """
    (low, high), over = (these, ITEMS) if others is None else (others, ANNOTATORS)
    none = low is None or high is None
    return {
        "value": value, "low": low, "high": high, "over": None if none else over,
        "these_low": these[0], "these_high": these[1],
    }  # fmt: skip


def intervals(found: Figures) -> list[tuple[float, float, str]]:
    """Return a score's intervals (`with_intervals`): both ends, and for whom; just one if both are the same."""
    others, these = ((found["low"], found["high"]), (found["these_low"], found["these_high"]))
    if these[0] is None:
        return []
    if found["over"] == ITEMS:
        return [(*these, f"{THESE} only, as the judgments do not show how annotators differ")]
    return [(*these, f"{THESE} and {OTHERS}")] if others == these else [(*these, THESE), (*others, OTHERS)]


def summary(rows: Sequence[Scored], ends: Range) -> Figures:
    """Return the mean of the judgments with its 95% intervals (`with_intervals`). The standard error is that of a ratio
    (Cochran 1977, §6.4), over items, or over items and annotators (`over_annotators.spread`). As a share of the range,
    the mean gets Wilson's interval for the number of judgments that carry its information. If all items are alike,
    there is no error to estimate: the interval then reaches to where the mean would be if as many items as n alike ones
    leave possible were at either end of the scale (`_unseen`).
    """
    return mean_of_groups([rows], ends)


def mean_of_groups(groups: Sequence[Sequence[Scored]], ends: Range) -> Figures:
    """Return the same for the plain mean of these groups' means; either none of the groups is empty or all are."""
    rows = [row for group in groups for row in group]
    counts = {"n_items": 0, "n_judgments": len(rows), "n_annotators": 0}
    if not rows:
        return {**with_intervals(None, NONE, None), **counts}
    items, people = (_numbered(column) for column in ([row.item for row in rows], [row.annotator for row in rows]))
    counts |= {"n_items": int(items.max()) + 1, "n_annotators": int(people.max()) + 1}
    means, parts = zip(*map(_mean, groups), strict=True)
    value = math.fsum(means) / len(groups)
    found = spread(np.concatenate(parts) / len(groups), items, people)
    these = _span(value, ends, counts["n_items"], len(rows), found.these)
    others = found.others and _span(value, ends, counts["n_items"], len(rows), found.others)
    return {**with_intervals(value, these, others), **counts}


def _numbered(values: Sequence[int]) -> Array:
    return np.unique(values, return_inverse=True)[1]


def _mean(rows: Sequence[Scored]) -> tuple[float, Array]:
    """Return the mean, and each judgment's contribution to its error (N × 1)."""
    value = math.fsum(row.value for row in rows) / len(rows)
    return value, (np.array([[row.value] for row in rows]) - value) / len(rows)


def _span(value: float, ends: Range, items: int, judged: int, found: Spread | None) -> Span:
    width = (ends.most - ends.least) or 1.0
    share = min(1.0, max(0.0, (value - ends.least) / width))
    variance = 0.0 if found is None else float(found.variance[0]) / width**2
    if found is not None and variance > _ROUNDING:
        most = judged if ends.share else math.inf
        effective = min(most, share * (1 - share) / variance) * (Z / found.t(0)) ** 2
    elif ends.share:
        effective = items
    elif items < 2:
        return NONE
    else:
        return value - _unseen(items) * (value - ends.least), value + _unseen(items) * (ends.most - value)
    low, high = wilson(share * effective, effective)
    return NONE if low is None or high is None else (ends.least + width * low, ends.least + width * high)


def _unseen(n: int) -> float:
    """Return the largest share of other items such that n items in a row show none with a probability of 2.5%."""
    return 1 - math.pow(0.025, 1 / n)


def differences(groups: Mapping[str, Sequence[Scored]], ends: Range) -> list[Figures]:
    """Return each group's mean minus that of each later one, with the intervals of `with_intervals`, if there are at
    most `COMPARED` groups; `n_items` are those in both. Anything that judgments of the same item, or by one annotator,
    have in common cancels in the difference. If no item differs, there is no error to estimate, and the means are
    treated as independent.
    """
    if len(groups) > COMPARED:
        return []
    found = []
    for (first, mine), (second, theirs) in combinations(groups.items(), 2):
        rows = [*mine, *theirs]
        (value, more), (other, less) = _mean(mine), _mean(theirs)
        items, people = (_numbered(column) for column in ([row.item for row in rows], [row.annotator for row in rows]))
        spreads = spread(np.concatenate([more, -less]), items, people)
        of = summary(mine, ends), summary(theirs, ends)
        these = _apart(value - other, [(one["these_low"], one["these_high"]) for one in of], spreads.these, ends)
        others = _apart(value - other, [(one["low"], one["high"]) for one in of], spreads.others, ends)
        shared = {row.item for row in mine} & {row.item for row in theirs}
        row = {"first": first, "second": second, **with_intervals(value - other, these, spreads.others and others)}
        found.append({**row, "n_items": len(shared)})
    return found


def _apart(value: float, spans: Sequence[Span], found: Spread | None, ends: Range) -> Span:
    """Return the interval of the difference of two means with these intervals."""
    (low, high), (from_, to) = spans
    if found is None or low is None or high is None or from_ is None or to is None:
        return NONE
    width = ends.most - ends.least
    known = found.variance[0] > _ROUNDING * width**2
    away = found.half(0) if known else math.hypot(high - low, to - from_) / 2
    return max(-width, value - away), min(width, value + away)
