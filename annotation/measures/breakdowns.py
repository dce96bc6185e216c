"""Agreement of a stage as a whole and of its parts: every measure with its count, interval and notes. Pure.

A part is a table of its own: the items of a type, a subtype or a week, the judgments of two annotators on what both
judged, or an annotator against the others: then each of their judgments paired with one of another annotator on the
same item is a unit with two ratings. Labels stay those of the whole, because AC1 depends on how many there are.
docs/reference/measures.md has the formulas.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annotation.measures import agreement, jackknife
from annotation.measures.agreement import FEW_ITEMS, NO_SHARED_ITEMS, ONE_LABEL, RatingTable, shared_items
from annotation.measures.coefficients import Coefficient
from annotation.measures.jackknife import Span
from annotation.measures.pairwise_kappa import THIN_NOTE, AnnotatorPairs
from annotation.measures.reliability import ON_SCALE, LabelScale, categories, defined_measures, label_scale, used_by
from annotation.measures.types import Array, Figures
from annotation.protocols.base import CANNOT_JUDGE, INTERVAL, NOMINAL, ORDINAL, RANK

_MOST_PAIRS = 100  # pairs of annotators with their own rows: those with the most items in common
LEFT_OUT = "without the {:,} “cannot judge” answers, which are not on a scale"

ReportProgress = Callable[[int, int], None]


class Part(NamedTuple):
    """Some of a table's judgments (a mask), and their name: {"type": "swap", "subtype": "obj"}."""

    name: Mapping[str, str]
    rows: Array


@dataclass(slots=True)
class _Progress:
    """The settings for computing rows, and their progress: a row weighs as much as its number of judgments."""

    scale: LabelScale
    total: int
    tell: ReportProgress
    done: float = 0.0
    said: int = -1

    def add(self, weight: float) -> None:
        self.done += weight
        percent = min(100, int(100 * self.done / max(1, self.total)))
        if percent > self.said:
            self.said = percent
            self.tell(percent, 100)


def agreement_by(
    table: RatingTable, parts: Mapping[str, Sequence[Part]], tell: ReportProgress, each: bool = True,
    offered: Collection[str] | None = None,
) -> Figures:  # fmt: skip
    """JSON-able: the `labels`, the row of the `whole`, and a list of rows for each of `parts`, for `annotator`
    (against the others; only with `each`) and for `pair`, limited to the first `MOST` of `pair_count`. `offered` are
    the labels that annotators could give, None if they are not known. *Cannot judge* counts once it is given.
    """
    shared = shared_items(table)
    total = ((3 if each else 2) + len(parts)) * len(table.item) + sum(shared.values())
    labels = 0 if offered is None else len({*offered, *table.labels})
    scale = replace(label_scale(table.labels, table.scale.order, aside={CANNOT_JUDGE}), offered=labels)
    work = _Progress(scale, total, tell)
    found: Figures = {"labels": list(table.labels)}
    if table.scale.level != NOMINAL:
        found |= {"level": table.scale.level, "aside": dict(sorted(table.aside.items()))}
    else:
        found["categories"] = categories(labels, len(table.labels))
    found |= {"unit": table.unit} if table.unit else {}
    found["whole"] = {**_table_row(table, work), "confusion": pooled_confusion(table)}
    for name, some in parts.items():
        found[name] = [{**part.name, **_table_row(table.subset(part.rows), work)} for part in some]
    people = enumerate(table.annotators) if each else ()
    found["annotator"] = [{"annotator": who, **_annotator_row(table, place, work)} for place, who in people]
    found["pair"] = [_pair_row(table, *pair, work) for pair in list(shared)[:_MOST_PAIRS]]
    return {**found, "pair_count": len(shared)}


def _table_row(table: RatingTable, work: _Progress) -> Figures:
    """Counts and measures of a table of its own; n is in pairs of judgments for percent, else in items."""
    patterns, times = np.unique(table.counts, axis=0, return_counts=True)
    measures, notes = _on_scale(table.scale.level, *defined_measures(patterns, work.scale))
    spans = {
        name: jackknife.interval(one, *used_by(name, patterns, times))
        for name, one in measures.items()
        if name not in notes
    }
    sizes = patterns.sum(axis=1)
    pairs, items = int(times @ (sizes * (sizes - 1) // 2)), int(times @ (sizes >= 2))
    n = {name: pairs if name == "percent" else items for name in measures}
    if work.scale.kept is not None:
        n |= dict.fromkeys(ON_SCALE, int(times @ (patterns[:, work.scale.kept].sum(axis=1) >= 2)))
    kappa = _cohen(AnnotatorPairs(table), len(table.item), work)
    return {
        **_row_sizes(len(table.items), len(np.unique(table.annotator)), len(table.item)),
        "measures": _all_measures(measures, patterns, times, n, spans, notes, kappa, work.scale) | _tau(table),
    }


def _on_scale(
    level: str, measures: Mapping[str, Coefficient], notes: Mapping[str, str]
) -> tuple[dict[str, Coefficient], dict[str, str]]:
    """Those of the measures that take the level into account; of labels without order, all."""
    kept = {ORDINAL: ("percent", "alpha_ordinal"), INTERVAL: ("percent", "alpha_interval"), RANK: ("percent",)}
    names = kept.get(level, tuple(measures))
    return {name: measures[name] for name in names}, {name: notes[name] for name in names if name in notes}


def _tau(table: RatingTable, only: int | None = None) -> Figures:
    """Of rankings their mean tau-b, with the number of pairs of rankings; with `only`, pairs with that annotator."""
    if table.scale.level != RANK:
        return {}
    found = agreement.mean_tau(table, only=only)
    interval = found["interval"]
    span = None if interval["low"] is None else (interval["low"], interval["high"])
    note = found["reason"] or interval["reason"]
    return {"tau_b": {**_measure(found["value"], span, found["n"], note), "left_out": found["left_out"]}}


def _row_sizes(items: int, annotators: int, ratings: int) -> dict[str, int]:
    return {"n_items": items, "n_annotators": annotators, "n_ratings": ratings}


def _all_measures(
    measures: Mapping[str, Coefficient],
    patterns: Array,
    times: Array,
    n: Mapping[str, int],
    spans: Mapping[str, Span | None],
    notes: Mapping[str, str],
    kappa: Figures,
    scale: LabelScale,
) -> Figures:
    """Each measure's value, n and interval; undefined ones are None, and the note says why."""
    found = {"percent": {}, "cohen_mean": kappa}
    totals = times @ patterns
    aside = 0 if scale.kept is None else int(totals.sum() - totals[scale.kept].sum())
    left_out = dict.fromkeys(ON_SCALE, LEFT_OUT.format(aside)) if aside else {}
    for name, measure in measures.items():
        if name in notes:
            found[name] = _measure(None, None, n[name], notes[name])
        else:
            found[name] = _measure(
                measure.value(patterns, times),
                spans[name],
                n[name],
                "; ".join(filter(None, ["" if spans[name] else FEW_ITEMS, left_out.get(name)])),
            )
    return found


def _measure(value: float | None, span: Sequence[float] | None, n: int, note: str = "") -> Figures:
    low, high = span or (None, None)
    return {"value": value, "low": low, "high": high, "n": n, "note": note}


def _cohen(pairs: AnnotatorPairs, weight: int, work: _Progress) -> Figures:
    """The mean of the kappas; n is how many pairs of annotators have one, `left_out` how many have none."""
    kappas = pairs.kappas
    defined = kappas[~np.isnan(kappas)]
    left_out = len(kappas) - len(defined)
    if not len(defined):
        work.add(weight)
        return {**_measure(None, None, 0, ONE_LABEL if len(kappas) else NO_SHARED_ITEMS), "left_out": left_out}
    span = pairs.interval()
    work.add(weight)
    note = THIN_NOTE if pairs.is_thin else "" if span else FEW_ITEMS
    return {**_measure(float(defined.mean()), span, len(defined), note), "left_out": left_out}


def pooled_confusion(table: RatingTable) -> list[list[int]]:
    """[label, label, n] by places: how many pairs of judgments on one item have these two labels, each pair once."""
    _, _, one, two = table.pairs()
    return _cells(np.minimum(one, two), np.maximum(one, two))


def _cells(one: Array, two: Array) -> list[list[int]]:
    """The cells of a confusion table that are not empty."""
    return [[*pair, n] for pair, n in sorted(Counter(zip(one.tolist(), two.tolist(), strict=True)).items())]


def _pair_row(table: RatingTable, first: int, second: int, work: _Progress) -> Figures:
    """Two annotators on the items that both judged; `confusion` has the first's label before the second's."""
    both = table.subset((table.annotator == first) | (table.annotator == second))
    both = both.subset((both.counts.sum(axis=1) == 2)[both.item])
    confusion = agreement.confusion_matrix(both, table.annotators[first], table.annotators[second])
    rows = [[*place, int(confusion[tuple(place)])] for place in np.argwhere(confusion).tolist()]
    names = {"first": table.annotators[first], "second": table.annotators[second]}
    return {**names, **_table_row(both, work), "confusion": rows}


def _annotator_row(table: RatingTable, place: int, work: _Progress) -> Figures:
    """An annotator against the others on the items that they judged; n is in units, pairs of judgments."""
    near = table.subset(_with(table, place))
    first, second = near.pair_indices()
    mine = (near.annotator[first] == place) | (near.annotator[second] == place)
    first, second = first[mine], second[mine]
    patterns, unit = _pair_patterns(near.label[first], near.label[second], len(near.labels))
    times = np.bincount(unit, minlength=len(patterns))
    measures, notes = _on_scale(table.scale.level, *defined_measures(patterns, work.scale))
    items, held, alike = _by_item(unit, near.item[first], len(patterns))
    more = jackknife.one_more(times @ patterns, 2)
    spans = {
        name: jackknife.interval_of_parts(one, held @ one.parts(patterns), alike, one.parts(more))
        for name, one in measures.items()
        if name not in notes
    }
    n, kappa = dict.fromkeys(measures, len(unit)), _cohen(AnnotatorPairs(near, place), 2 * len(near.items), work)
    people = np.union1d(near.annotator[first], near.annotator[second])
    return {
        **_row_sizes(items, len(people), items + len(unit)),
        "measures": _all_measures(measures, patterns, times, n, spans, notes, kappa, work.scale) | _tau(near, place),
    }


def _with(table: RatingTable, place: int) -> Array:
    """The ratings of the items that an annotator rated."""
    theirs = np.zeros(len(table.items), dtype=bool)
    theirs[table.item[table.annotator == place]] = True
    return theirs[table.item]


def _pair_patterns(one: Array, two: Array, labels: int) -> tuple[Array, Array]:
    """(patterns of label counts, the pattern of each unit) of units with two ratings."""
    codes, unit = np.unique(np.minimum(one, two) * labels + np.maximum(one, two), return_inverse=True)
    eye = np.eye(labels, dtype=int)
    return eye[codes // max(1, labels)] + eye[codes % max(1, labels)], unit


def _by_item(unit: Array, item: Array, patterns: int) -> tuple[int, Array, Array]:
    """The number of items; how many units of each pattern they hold (K × P), each kind of item once; how many there are
    of each kind (K). `unit` is the pattern of each unit and `item` its item.
    """
    places, at = np.unique(item, return_inverse=True)
    held = np.bincount(at * patterns + unit, minlength=len(places) * patterns).reshape(len(places), patterns)
    return len(places), *np.unique(held, axis=0, return_counts=True)
