"""Agreement in a stage as a whole and in its parts: every measure with its count, interval and notes. Pure.

A part is a separate table: the items of a type, a subtype or a week, two annotators' judgments on items both judged, or
one annotator's judgments paired with the others', in which case each pair on an item is a unit with two ratings. A part
keeps the labels of the whole, because AC1 depends on their number. docs/reference/measures.md has the formulas.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotation.measures.agreement import RatingTable, shared_items
from annotation.measures.agreement_measures import Compared, measured_row
from annotation.measures.label_scale import LabelScale, categories, label_scale
from annotation.measures.ratings import distinct, rows_by
from annotation.measures.types import Array, Figures
from annotation.protocols.base import CANNOT_JUDGE, NOMINAL

_MOST_PAIRS = 100  # annotator pairs with their own rows, those with the most shared items

ReportProgress = Callable[[int, int], None]


class Part(NamedTuple):
    """Some of a table's judgments (a mask), and their name: {"type": "swap", "subtype": "obj"}."""

    name: Mapping[str, str]
    rows: Array


class _Rows:
    """Computes rows on one scale, and reports progress in proportion to each row's number of judgments."""

    def __init__(self, scale: LabelScale, total: int, tell: ReportProgress):
        self.scale, self.total, self.tell = scale, max(1, total), tell
        self.done, self.percent = 0, -1

    def row(self, table: RatingTable, only: int | None = None, whole: bool = False) -> Figures:
        """Compute the row of a table; with `only`, of that annotator compared with the others."""
        found = measured_row(Compared(table, only), self.scale, whole)
        self.done += len(table.item) if only is None else 2 * len(table.items)
        percent = min(100, int(100 * self.done / self.total))
        if percent > self.percent:
            self.percent = percent
            self.tell(percent, 100)
        return found


def agreement_by(
    table: RatingTable, parts: Mapping[str, Sequence[Part]], tell: ReportProgress, each: bool = True,
    offered: Collection[str] | None = None,
) -> Figures:  # fmt: skip
    """Return the `labels`, the table's `shares`, the row of the `whole`, and lists of rows for each of `parts`, for
    `annotator` (only with `each`) and for `pair`, limited to the first `MOST` of `pair_count`; JSON-able. `offered` are
    the labels that annotators could give, None if unknown. *Cannot judge* counts as one once given.
    """
    shared = shared_items(table)
    total = ((3 if each else 2) + len(parts)) * len(table.item) + sum(shared.values())
    choices = categories(offered, table.labels)
    scale = label_scale(table.labels, table.scale.order, {CANNOT_JUDGE}, choices["n"])
    rows = _Rows(scale, total, tell)
    found: Figures = {"labels": list(table.labels), "shares": table.shares, **on_scale(table)}
    if table.scale.level == NOMINAL:
        found["categories"] = choices
    found["whole"] = {**rows.row(table, whole=True), "confusion": pooled_confusion(table)}
    for name, some in parts.items():
        found[name] = [{**part.name, **rows.row(table.subset(part.rows))} for part in some]
    people = zip(table.annotators, table.rated_with(), strict=True) if each else ()
    found["annotator"] = [
        {"annotator": who, **rows.row(table.subset(theirs), at)} for at, (who, theirs) in enumerate(people)
    ]
    own = rows_by(table.annotator)
    found["pair"] = [_pair_row(table, own, *pair, rows) for pair in list(shared)[:_MOST_PAIRS]]
    return {**found, "pair_count": len(shared)}


def on_scale(table: RatingTable) -> Figures:
    """Return a scale's `level`, how many judgments are off it, by label, and the name of an item (`unit`) if each
    statement or word is an item.
    """
    unit = {"unit": table.unit} if table.unit else {}
    if table.scale.level == NOMINAL:
        return unit
    return {"level": table.scale.level, "aside": dict(sorted(table.aside.items())), **unit}


def pooled_confusion(table: RatingTable) -> list[list[int]]:
    """Return [label, label, n] by position: how many judgment pairs on one item have these labels."""
    _, _, one, two = table.pairs()
    return _cells(np.minimum(one, two), np.maximum(one, two), len(table.labels))


def _cells(one: Array, two: Array, labels: int) -> list[list[int]]:
    """Return the cells of a confusion table that are not empty."""
    codes, at = distinct(one.astype(np.int64) * labels + two)
    counts = np.bincount(at, minlength=len(codes)).tolist()
    return [[*divmod(code, labels), n] for code, n in zip(codes.tolist(), counts, strict=True)]


def _pair_row(table: RatingTable, own: Mapping[int, Array], first: int, second: int, rows: _Rows) -> Figures:
    """Return the row for two annotators, on items that both judged; `own` are the positions of each one's ratings.
    `confusion` has the first's label before the second's.
    """
    both = table.subset(np.sort(np.concatenate([own[first], own[second]])))
    both = both.subset((both.counts.sum(axis=1) == 2)[both.item])
    names = {"first": table.annotators[first], "second": table.annotators[second]}
    _, _, one, two = both.pairs()
    return {**names, **rows.row(both), "confusion": _cells(one, two, len(table.labels))}
