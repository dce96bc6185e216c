"""Every agreement measure of a table of ratings, with bootstrap intervals over its items.

docs/reference/measures.md has the formulas and their sources.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from annotation.measures import agreement, coefficients
from annotation.measures.agreement import NO_PAIRS, ONE_LABEL, SEED, KappaMean, PairKappa, RatingTable
from annotation.measures.pairwise_kappa import INTERVAL_PERCENTILES, AnnotatorPairs, basic_interval, block_sizes
from annotation.measures.types import Array, Figures

UNEVEN = "the items have different numbers of ratings"
NO_ORDER = "the labels are not numbers, and their order was not given"
NO_NUMBERS = "the labels are not numbers"
ON_SCALE = ("alpha_ordinal", "alpha_interval")
_WEIGHTS = ("linear", "quadratic")

Measure = Callable[[Array, Array], Array]  # of measures/coefficients.py


@dataclass(frozen=True, slots=True)
class LabelScale:
    """What the labels mean: `places` from low to high, `values` as numbers; None if unknown. Shape L each.

    Stated places count all steps between them, even those that no label of the table uses. If some labels are not on
    the scale, such as “cannot judge”, `kept` has the columns of the others (L of them); None if all are on it.
    """

    places: Array | None
    values: Array | None
    kept: Array | None = None


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


def reliability(table: RatingTable, order: Sequence[str] = (), resamples: int = 0, seed: int = SEED) -> Figures:
    """JSON-able: counts, every measure (null where it is not defined, with the reason in `notes`), a row for each pair.

    With `resamples`, `intervals` has the 95 % percentile interval of each measure over resampled items, from the seed.
    """
    on = label_scale(table.labels, order)
    kappas = agreement.cohen_kappas(table)
    mean = agreement.mean_kappa(kappas)
    measures, notes = defined_measures(table.counts, on)
    found = {
        name: None if name in notes else measure_value(measure, table.counts) for name, measure in measures.items()
    }
    if mean.reason:
        notes["cohen_mean"] = mean.reason
    return {
        "n_items": len(table.items),
        "n_annotators": len(table.annotators),
        "n_ratings": len(table.item),
        "labels": list(table.labels),
        "cohen_mean": mean.value,
        "cohen_pairs": [*_pair_rows(table, kappas, on)],
        **found,
        **({"intervals": _all_intervals(table, measures, notes, mean, resamples, seed)} if resamples else {}),
        "notes": notes,
    }


def defined_measures(counts: Array, on: LabelScale) -> tuple[dict[str, Measure], dict[str, str]]:
    """Every measure of label counts (items × labels), and the reasons for undefined ones."""
    distances: dict[str, coefficients.Distances | None] = {
        "alpha_nominal": coefficients.nominal,
        "alpha_ordinal": None if on.places is None else partial(_ordinal_distances, places=on.places),
        "alpha_interval": None if on.values is None else coefficients.interval(on.values),
    }
    measures: dict[str, Measure] = {"percent": coefficients.percent, "fleiss": coefficients.fleiss}
    for name, of in distances.items():  # without distances, `notes` says why, and nobody computes it
        measures[name] = partial(coefficients.alpha, distances=of or coefficients.nominal)
    if on.kept is not None:
        measures |= {name: partial(_of_columns, measures[name], on.kept) for name in ON_SCALE}
    measures["ac1"] = coefficients.ac1
    size = counts.sum(axis=1)
    if not (size >= 2).any():
        return measures, dict.fromkeys(measures, NO_PAIRS)
    notes = {} if on.values is not None else {"alpha_interval": NO_NUMBERS}
    notes |= {} if on.places is not None else {"alpha_ordinal": NO_ORDER}
    notes |= {"fleiss": UNEVEN} if len(set(size.tolist())) > 1 else {}
    alone = ["ac1"] if _distinct_labels(counts) < 2 else []
    alone += ["fleiss", *distances] if _distinct_labels(counts[size >= 2]) < 2 else []
    found = {**dict.fromkeys(alone, ONE_LABEL), **notes}
    if on.kept is not None and found.keys().isdisjoint(ON_SCALE):
        scaled = counts[:, on.kept]
        pairs = scaled[scaled.sum(axis=1) >= 2]
        why = NO_PAIRS if not len(pairs) else ONE_LABEL if _distinct_labels(pairs) < 2 else ""
        found |= dict.fromkeys(ON_SCALE, why) if why else {}
    return measures, found


def _of_columns(measure: Measure, kept: Array, patterns: Array, times: Array) -> Array:
    return measure(patterns[:, kept], times)


def _distinct_labels(counts: Array) -> int:
    """How many different labels there are."""
    return int((counts.sum(axis=0) > 0).sum())


def _ordinal_distances(totals: Array, places: Array) -> Array:
    """Ordinal distances of labels whose columns are in another order; unused steps between them add nothing."""
    by_place = np.argsort(places)
    rank = np.argsort(by_place)
    return coefficients.ordinal(totals[:, by_place])[:, rank[:, None], rank[None, :]]


def measure_value(measure: Measure, counts: Array) -> float:
    return float(measure(counts, np.ones((1, len(counts)), dtype=int))[0])


def _all_intervals(
    table: RatingTable,
    measures: Mapping[str, Measure],
    notes: Mapping[str, str],
    mean: KappaMean,
    resamples: int,
    seed: int,
) -> Figures:
    kappas = np.array([]) if mean.value is None else AnnotatorPairs(table).resampled(resamples, seed)
    return {
        "cohen_mean": None if mean.value is None else basic_interval(mean.value, kappas),
        **percentile_intervals(table.counts, measures, notes, resamples, seed),
    }


def percentile_intervals(
    counts: Array, measures: Mapping[str, Measure], notes: Mapping[str, str], resamples: int, seed: int
) -> dict[str, list[float] | None]:
    """[low, high] of each measure without a note; null if it has no interval or uses fewer than two items.

    Each measure resamples the items that it uses: those with two ratings, and for AC1, whose chance uses every rating,
    the others too. Drawing n of n items with replacement is drawing how often each pattern of labels occurs
    (measures/agreement.py).
    """
    pairable = counts[counts.sum(axis=1) >= 2]
    rests = {name: counts if name == "ac1" else pairable for name in measures if name not in notes}
    found = {
        name: percentile_interval(_resampled(measures[name], rows, resamples, seed)) for name, rows in rests.items()
    }
    return {name: found.get(name) for name in measures}


def _resampled(measure: Measure, counts: Array, resamples: int, seed: int) -> Array:
    """The measure in `resamples` resamples of the items (one row of `counts` each); none for a single item."""
    if len(counts) < 2:
        return np.array([])
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    dice, shares, found = np.random.default_rng(seed), times / times.sum(), []
    for size in block_sizes(resamples, max(len(patterns), counts.shape[1] ** 2)):
        found.append(measure(patterns, dice.multinomial(len(counts), shares, size)))
    return np.concatenate(found)


def percentile_interval(values: Array) -> list[float] | None:
    """The 95 % percentile interval. Resamples without a value are left out."""
    defined = values[~np.isnan(values)]
    return [float(end) for end in np.percentile(defined, INTERVAL_PERCENTILES)] if len(defined) else None


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
    for size in block_sizes(len(pairs), labels**2):
        low, high = np.searchsorted(pair, [start, start + size])
        places = (pair[low:high] - start).astype(np.int64) * labels**2 + cells[low:high]
        counts = np.bincount(places, minlength=size * labels**2).reshape(size, labels, labels)
        yield pairs[start : start + size], counts
        start += size


def _cells_of_pairs(table: RatingTable) -> tuple[Array, Array]:
    """(which pair of annotators, which cell of their confusion table) of each pair of ratings of one item, sorted."""
    first, second, one, other = table.pairs()
    codes = first * len(table.annotators) + second
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
