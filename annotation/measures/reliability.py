"""Every agreement measure of a table of ratings, with intervals over its items.

docs/reference/measures.md has the formulas and their sources.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from annotation.measures import agreement, coefficients, jackknife
from annotation.measures.agreement import NO_PAIRS, ONE_LABEL, PairKappa, RatingTable
from annotation.measures.coefficients import Coefficient
from annotation.measures.pairwise_kappa import THIN_NOTE, AnnotatorPairs, is_thin
from annotation.measures.types import Array, Figures

UNEVEN = "the items have different numbers of ratings"
NO_ORDER = "the labels are not numbers, and their order was not given"
NO_NUMBERS = "the labels are not numbers"
ON_SCALE = ("alpha_ordinal", "alpha_interval")
_WEIGHTS = ("linear", "quadratic")
_BLOCK_SIZE = 8_000_000  # label counts of pairs in memory at once


@dataclass(frozen=True, slots=True)
class LabelScale:
    """What the labels mean: `places` from low to high, `values` as numbers; None if unknown. Shape L each.

    Stated places count all steps between them, even those that no label of the table uses. If some labels are not on
    the scale, such as “cannot judge”, `kept` has the columns of the others (L of them); None if all are on it.
    `offered` is how many labels could have been chosen, 0 if that is not known.
    """

    places: Array | None
    values: Array | None
    kept: Array | None = None
    offered: int = 0


def label_scale(labels: Sequence[str], order: Sequence[str] = (), aside: Container[str] = ()) -> LabelScale:
    """Numbers have their own order, other labels that of `order`; those `aside` are not on a scale.

    KeyError names a label that `order` lacks.
    """
    kept = [place for place, label in enumerate(labels) if label not in aside]
    if len(kept) < len(labels):
        return replace(label_scale([labels[place] for place in kept], order), kept=np.array(kept, dtype=int))
    values = labels_as_numbers(labels)
    if order:
        said = {label: place for place, label in enumerate(order)}
        return LabelScale(np.array([said[label] for label in labels], dtype=int), values)
    return LabelScale(None if values is None else np.argsort(np.argsort(values)), values)


def labels_as_numbers(labels: Sequence[str]) -> Array | None:
    """None if one is not a number, or is too large for exact differences. “1_0” is a name, as in any other tool."""
    if any("_" in label for label in labels):
        return None
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return values if np.isfinite(np.square(values.max(initial=0) - values.min(initial=0))) else None


def reliability(table: RatingTable, order: Sequence[str] = ()) -> Figures:
    """JSON-able: counts, every measure (null where it is not defined, with the reason in `notes`), a row for each pair.

    `intervals` has the 95 % interval of each measure over items (measures/jackknife.py), or null. `categories` is how
    many labels AC1 counts: those of the `order` if it is given, otherwise those that occur.
    """
    on = replace(label_scale(table.labels, order), offered=len(order))
    kappas = agreement.cohen_kappas(table)
    mean = agreement.mean_kappa(kappas)
    patterns, times = np.unique(table.counts, axis=0, return_counts=True)
    measures, notes = defined_measures(patterns, on)
    if mean.reason:
        notes["cohen_mean"] = mean.reason
    # Before the rows of pairs, which may take more memory than all else.
    intervals = _intervals(table, kappas, measures, notes, patterns, times)
    values = {name: None if name in notes else one.value(patterns, times) for name, one in measures.items()}
    return {
        "n_items": len(table.items),
        "n_annotators": len(table.annotators),
        "n_ratings": len(table.item),
        "labels": list(table.labels),
        "categories": categories(len(order), len(table.labels)),
        "cohen_mean": mean.value,
        "cohen_pairs": [*_pair_rows(table, kappas, on)],
        **values,
        "intervals": intervals,
        "notes": notes,
    }


def categories(offered: int, occurring: int) -> Figures:
    """How many labels AC1 counts, and which: those `offered`, or where that is not known (0), those `given`."""
    return {"n": max(offered, occurring), "are": "offered" if offered else "given"}


def _intervals(
    table: RatingTable,
    kappas: Sequence[PairKappa],
    measures: Mapping[str, Coefficient],
    notes: dict[str, str],
    patterns: Array,
    times: Array,
) -> Figures:
    """Where kappas are of too few items, a note says so."""
    thin = is_thin(np.array([pair.n for pair in kappas]))
    if thin and "cohen_mean" not in notes:
        notes["cohen_mean"] = THIN_NOTE
    spans = {"cohen_mean": None if thin else AnnotatorPairs(table).interval()} | {
        name: None if name in notes else jackknife.interval(measure, *used_by(name, patterns, times))
        for name, measure in measures.items()
    }
    return {name: span and list(span) for name, span in spans.items()}


def used_by(measure: str, patterns: Array, times: Array) -> tuple[Array, Array]:
    """The patterns and times of the items that a measure uses: those with two ratings, and for AC1, whose chance uses
    every rating, the others too.
    """
    used = np.ones(len(patterns), dtype=bool) if measure == "ac1" else patterns.sum(axis=1) >= 2
    return patterns[used], times[used]


def defined_measures(counts: Array, on: LabelScale) -> tuple[dict[str, Coefficient], dict[str, str]]:
    """Every measure of label counts (items × labels, or patterns of them), and the reasons for undefined ones."""
    columns = on.kept
    measures = {"percent": coefficients.percent, "fleiss": coefficients.fleiss}
    measures["alpha_nominal"] = coefficients.alpha_nominal
    measures["alpha_ordinal"] = coefficients.alpha(
        coefficients.ordinal if on.places is None else partial(_ordinal_distances, places=on.places), columns
    )  # without places or values, `notes` says why, and nobody computes it
    values = np.zeros(1) if on.values is None else on.values
    measures["alpha_interval"] = coefficients.alpha(coefficients.interval(values), columns)
    measures["ac1"] = coefficients.ac1(on.offered)
    size = counts.sum(axis=1)
    if not (size >= 2).any():
        return measures, dict.fromkeys(measures, NO_PAIRS)
    notes = {} if on.values is not None else {"alpha_interval": NO_NUMBERS}
    notes |= {} if on.places is not None else {"alpha_ordinal": NO_ORDER}
    notes |= {"fleiss": UNEVEN} if len(set(size.tolist())) > 1 else {}
    alone = ["ac1"] if _distinct_labels(counts) < 2 else []
    alone += ["fleiss", "alpha_nominal", *ON_SCALE] if _distinct_labels(counts[size >= 2]) < 2 else []
    found = {**dict.fromkeys(alone, ONE_LABEL), **notes}
    if columns is not None and found.keys().isdisjoint(ON_SCALE):
        scaled = counts[:, columns]
        pairs = scaled[scaled.sum(axis=1) >= 2]
        why = NO_PAIRS if not len(pairs) else ONE_LABEL if _distinct_labels(pairs) < 2 else ""
        found |= dict.fromkeys(ON_SCALE, why) if why else {}
    return measures, found


def _distinct_labels(counts: Array) -> int:
    """How many different labels there are."""
    return int((counts.sum(axis=0) > 0).sum())


def _ordinal_distances(totals: Array, places: Array) -> Array:
    """Ordinal distances of labels whose columns are in another order; unused steps between them add nothing."""
    by_place = np.argsort(places)
    rank = np.argsort(by_place)
    return coefficients.ordinal(totals[:, by_place])[:, rank[:, None], rank[None, :]]


def _pair_rows(table: RatingTable, pairs: Sequence[PairKappa], on: LabelScale) -> Iterator[Figures]:
    """For each two annotators: percent and Cohen's kappa, unweighted and, if the labels have an order, weighted by
    distance, and their confusion table. `pairs` as `cohen_kappas` gives them.
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
            yield {**found, **kappas, "confusion": counts, **({"note": pair.reason} if pair.reason else {})}


def _confusions(table: RatingTable, pairs: Sequence[PairKappa]) -> Iterator[tuple[Sequence[PairKappa], Array]]:
    """Some of the pairs at a time with their label counts (B × L × L): rows are the first annotator's labels."""
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
    """(which pair of annotators, which cell of their confusion table) of each pair of ratings of one item, sorted."""
    first, second, one, other = table.pairs()
    codes = table.code_of_pairs(first, second)
    del first, second  # long, with many ratings
    order = np.argsort(codes, kind="stable")
    pair = np.cumsum(np.diff(codes[order], prepend=-1) != 0, dtype=np.int32) - 1
    return pair, (one * len(table.labels) + other)[order].astype(np.int32)


def _weighted_kappas(confusion: Array, places: Array, weights: str) -> list[float | None]:
    """Cohen (1968), with weights that grow with the distance of the labels' places, or with its square.

    `confusion` is B × L × L, `places` from low to high. None if both gave only one label.
    """
    apart = np.abs(places[:, None] - places[None, :]) ** (1 if weights == "linear" else 2)
    n = confusion.sum(axis=(1, 2))
    by_chance = np.einsum("bi,ij,bj->b", confusion.sum(axis=2), apart, confusion.sum(axis=1)) / n
    observed = (confusion * apart).sum(axis=(1, 2)).tolist()
    return [
        1 - is_apart / chance if chance else None for is_apart, chance in zip(observed, by_chance.tolist(), strict=True)
    ]
