"""Every agreement measure for a table of ratings and for each annotator pair, for `manage.py agreement`. Pure.

docs/reference/measures.md has the formulas and their sources.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import Compared, measured_row
from annotation.measures.label_scale import LabelScale, categories, label_scale
from annotation.measures.pairwise_kappa import PairKappa
from annotation.measures.types import Array, Figures

_WEIGHTS = ("linear", "quadratic")
_BLOCK_SIZE = 8_000_000  # label counts of pairs in memory at once


def reliability(table: RatingTable, order: Sequence[str] = ()) -> Figures:
    """Return counts, every measure, and a row for each pair of annotators; JSON-able. `order` has all labels that could
    be given, in ascending order.
    """
    choices = categories(order or None, table.labels)
    on, found = label_scale(table.labels, order, choices=choices["n"]), Compared(table)
    return {
        **measured_row(found, on, whole=True),
        "labels": list(table.labels),
        "categories": choices,
        "pairs": [*_pair_rows(table, found.pairs.rows(), on)],
    }


def _pair_rows(table: RatingTable, pairs: Sequence[PairKappa], on: LabelScale) -> Iterator[Figures]:
    """Yield for each two annotators percent agreement, Cohen's kappa, unweighted and, if the labels have an order,
    weighted by distance, and their confusion table. `pairs` are from `cohen_kappas`.
    """
    for some, confusion in _confusions(table, pairs):
        weighted = (
            {} if on.places is None else {name: _weighted_kappas(confusion, on.places, name) for name in _WEIGHTS}
        )
        for row, (pair, counts) in enumerate(zip(some, confusion.tolist(), strict=True)):
            found = {
                "first": pair.first,
                "second": pair.second,
                "n": pair.n,
                "percent": pair.percent,
                "kappa": pair.value,
            }
            kappas = {name: values[row] for name, values in weighted.items()}
            yield {**found, **kappas, "confusion": counts, "note": pair.reason}


def _confusions(table: RatingTable, pairs: Sequence[PairKappa]) -> Iterator[tuple[Sequence[PairKappa], Array]]:
    """Yield some of the pairs at a time with their label counts (B × L × L): rows are the first annotator's labels."""
    pair, cells = _cells_of_pairs(table)
    labels = len(table.labels)
    start = 0
    most = max(1, _BLOCK_SIZE // max(1, labels**2))
    while start < len(pairs):
        size = min(most, len(pairs) - start)
        low, high = np.searchsorted(pair, [start, start + size])
        places = (pair[low:high] - start).astype(np.int64) * labels**2 + cells[low:high]
        counts = np.bincount(places, minlength=size * labels**2).reshape(size, labels, labels)
        yield pairs[start : start + size], counts
        start += size


def _cells_of_pairs(table: RatingTable) -> tuple[Array, Array]:
    """Return, for each pair of ratings of one item, its annotator pair and its confusion-table cell, sorted."""
    first, second, one, other = table.pairs()
    codes = table.code_of_pairs(first, second)
    del first, second  # these are long if there are many ratings
    order = np.argsort(codes, kind="stable")
    pair = np.cumsum(np.diff(codes[order], prepend=-1) != 0, dtype=np.int32) - 1
    return pair, (one * len(table.labels) + other)[order].astype(np.int32)


def _weighted_kappas(confusion: Array, places: Array, weights: str) -> list[float | None]:
    """Return Cohen's weighted kappas (1968), with weights growing with the labels' distance, or with its square.

    `confusion` is B × L × L, `places` from low to high. None if both gave only one label.
    """
    apart = np.abs(places[:, None] - places[None, :]) ** (1 if weights == "linear" else 2)
    n = confusion.sum(axis=(1, 2))
    by_chance = np.einsum("bi,ij,bj->b", confusion.sum(axis=2), apart, confusion.sum(axis=1)) / n
    observed = (confusion * apart).sum(axis=(1, 2)).tolist()
    return [
        1 - is_apart / chance if chance else None for is_apart, chance in zip(observed, by_chance.tolist(), strict=True)
    ]
