"""Agreement of a stage as a whole and of its parts: every measure with count, interval and what is to be said. Pure.

A part is a table of its own: the items of a type, a subtype or a week, the judgments of two annotators on what both
judged, or an annotator against the others: each pair of a judgment of theirs with one of somebody else on the same item
is then a unit with two ratings. Labels stay those of the whole, since AC1 asks how many there are.
docs/reference/measures.md says all of it in formulas.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.measures import agreement
from annotation.measures.agreement import FEW_ITEMS, NO_COMMON, ONE_LABEL, RESAMPLES, SEED, Table, most_shared
from annotation.measures.coefficients import Array
from annotation.measures.pairwise_kappa import Pairs, around, blocks
from annotation.measures.reliability import Measure, Scale, ends, intervals, measures_of, scale, value_of

MANY = 200_000  # pairs of judgments in a stage, above which Cohen's mean is resampled less often
FEWER = 200
MOST = 100  # pairs of annotators with rows of their own: those with most items in common
THIN = 20  # items that two annotators share on average, below which their kappas are said to lie low
THIN_NOTE = f"two annotators share fewer than {THIN} items on average, and kappas of so few lie low"

Tell = Callable[[int, int], None]


class Part(NamedTuple):
    """Some of a table's judgments (a mask), and what they are called: {"type": "swap", "subtype": "obj"}."""

    name: Mapping[str, str]
    rows: Array


@dataclass(slots=True)
class Work:
    """What rows are computed with, and how far they are: a row weighs as much as it has judgments."""

    scale: Scale
    cohen: int  # resamples of Cohen's mean; of all else RESAMPLES
    total: int
    tell: Tell
    done: float = 0.0
    said: int = -1

    def add(self, weight: float) -> None:
        self.done += weight
        percent = min(100, int(100 * self.done / max(1, self.total)))
        if percent > self.said:
            self.said = percent
            self.tell(percent, 100)


def agreement_by(table: Table, parts: Mapping[str, Sequence[Part]], tell: Tell, each: bool = True) -> dict:
    """JSON-able: how it was resampled, the row of the `whole`, and a list of rows for each of `parts`, for `annotator`
    (against the others; not without `each`) and for `pair`, of which the first `MOST` are there of `pair_count`.
    """
    size, shared = len(table.pair_rows()[0]), most_shared(table)
    cohen = FEWER if size > MANY else RESAMPLES
    total = ((3 if each else 2) + len(parts)) * len(table.item) + sum(shared.values())
    work = Work(scale(table.labels), cohen, total, tell)
    found = {"labels": list(table.labels), "seed": SEED, "resamples": RESAMPLES, "resamples_cohen": cohen}
    found["whole"] = {**row(table, work), "confusion": pooled(table)}
    for name, some in parts.items():
        found[name] = [{**part.name, **row(table.part(part.rows), work)} for part in some]
    people = enumerate(table.annotators) if each else ()
    found["annotator"] = [{"annotator": who, **against(table, place, work)} for place, who in people]
    found["pair"] = [{**pair_row(table, *pair, work)} for pair in list(shared)[:MOST]]
    return {**found, "pair_count": len(shared)}


def row(table: Table, work: Work) -> dict:
    """Counts and measures of a table of its own; n is in pairs of judgments for percent, else in items."""
    counts, sizes = table.counts, table.counts.sum(axis=1)
    measures, notes = measures_of(counts, work.scale)
    spans = intervals(counts, measures, notes, RESAMPLES, SEED)
    pairs, items = int((sizes * (sizes - 1) // 2).sum()), int((sizes >= 2).sum())
    n = {name: pairs if name == "percent" else items for name in measures}
    return {
        **_sizes(len(table.items), len(np.unique(table.annotator)), len(table.item)),
        "measures": _all(measures, counts, n, spans, notes, cohen(Pairs(table), len(table.item), work)),
    }


def _sizes(items: int, annotators: int, ratings: int) -> dict[str, int]:
    return {"n_items": items, "n_annotators": annotators, "n_ratings": ratings}


def _all(
    measures: Mapping[str, Measure], counts: Array, n: Mapping, spans: Mapping, notes: Mapping[str, str], kappa: dict
) -> dict[str, dict]:
    """Each measure's value on its n, with its interval; what there is not is None, and the note says why."""
    found = {"percent": {}, "cohen_mean": kappa}
    for name, measure in measures.items():
        if name in notes:
            found[name] = _told(None, None, n[name], notes[name])
        else:
            found[name] = _told(value_of(measure, counts), spans[name], n[name], "" if spans[name] else FEW_ITEMS)
    return found


def _told(value: float | None, span: Sequence[float] | None, n: int, note: str = "") -> dict:
    low, high = span or (None, None)
    return {"value": value, "low": low, "high": high, "n": n, "note": note}


def cohen(pairs: Pairs, weight: int, work: Work) -> dict:
    """The mean of the kappas; n is how many pairs of annotators have one, `left_out` how many have none."""
    kappas, shared = pairs.now()
    defined = kappas[~np.isnan(kappas)]
    left_out = len(kappas) - len(defined)
    if not len(defined):
        work.add(weight)
        return {**_told(None, None, 0, ONE_LABEL if len(kappas) else NO_COMMON), "left_out": left_out}
    span = around(defined.mean(), pairs.resampled(work.cohen, SEED, lambda share: work.add(share * weight)))
    thin = THIN_NOTE if shared.mean() < THIN else ""
    found = _told(float(defined.mean()), span, len(defined), thin if span else FEW_ITEMS)
    return {**found, "left_out": left_out}


def pooled(table: Table) -> list[list[int]]:
    """[label, label, n] by places: how many pairs of judgments on one item carry these two labels, each pair once."""
    _, _, one, two = table.pairs()
    return cells(np.minimum(one, two), np.maximum(one, two))


def cells(one: Array, two: Array) -> list[list[int]]:
    """The cells of a confusion table that are not empty."""
    return [[*pair, n] for pair, n in sorted(Counter(zip(one.tolist(), two.tolist(), strict=True)).items())]


def pair_row(table: Table, first: int, second: int, work: Work) -> dict:
    """Two annotators on the items that both judged; `confusion` has the first's label before the second's."""
    both = table.part((table.annotator == first) | (table.annotator == second))
    both = both.part((both.counts.sum(axis=1) == 2)[both.item])
    confusion = agreement.confusion(both, table.annotators[first], table.annotators[second])
    rows = [[*place, int(confusion[tuple(place)])] for place in np.argwhere(confusion).tolist()]
    names = {"first": table.annotators[first], "second": table.annotators[second]}
    return {**names, **row(both, work), "confusion": rows}


def against(table: Table, place: int, work: Work) -> dict:
    """An annotator against the others on the items that they judged; n is in units, pairs of judgments."""
    theirs = np.zeros(len(table.items), dtype=bool)
    theirs[table.item[table.annotator == place]] = True
    near = table.part(theirs[table.item])
    first, second = near.pair_rows()
    mine = (near.annotator[first] == place) | (near.annotator[second] == place)
    first, second = first[mine], second[mine]
    patterns, unit = _units(near.label[first], near.label[second], len(near.labels))
    measures, notes = measures_of(patterns[unit], work.scale)
    draw = clusters(unit, near.item[first], len(patterns))
    spans = {name: ends(draw(measure, patterns)) for name, measure in measures.items() if name not in notes}
    n, kappa = dict.fromkeys(measures, len(unit)), cohen(Pairs(near, place), 2 * len(near.items), work)
    people, items = np.union1d(near.annotator[first], near.annotator[second]), len(np.unique(near.item[first]))
    return {
        **_sizes(items, len(people), items + len(unit)),
        "measures": _all(measures, patterns[unit], n, spans, notes, kappa),
    }


def _units(one: Array, two: Array, labels: int) -> tuple[Array, Array]:
    """(patterns of label counts, the pattern of each unit) of units with two ratings."""
    codes, unit = np.unique(np.minimum(one, two) * labels + np.maximum(one, two), return_inverse=True)
    eye = np.eye(labels, dtype=int)
    return eye[codes // max(1, labels)] + eye[codes % max(1, labels)], unit


def clusters(unit: Array, item: Array, patterns: int) -> Callable[[Measure, Array], Array]:
    """A function that resamples items, each with all of its units, and answers a measure's values; none of one item.

    `unit` is the pattern of each unit and `item` where it belongs. Items that hold as many units of each pattern are
    alike: `default_rng(seed).multinomial(items, shares, resamples)`, in lexicographic order of what they hold.
    """
    places, at = np.unique(item, return_inverse=True)
    held = np.bincount(at * patterns + unit, minlength=len(places) * patterns).reshape(len(places), patterns)
    kinds, times = np.unique(held, axis=0, return_counts=True)

    def draw(measure: Measure, counts: Array) -> Array:
        if len(places) < 2:
            return np.array([])
        dice, found = np.random.default_rng(SEED), []
        for size in blocks(RESAMPLES, max(len(kinds), counts.shape[1] ** 2)):
            found.append(measure(counts, dice.multinomial(len(places), times / len(places), size) @ kinds))
        return np.concatenate(found)

    return draw
