"""The agreement measures, one entry each: how each is computed, and its names and texts on pages and in commands, the
API, reports and releases. Pure.

A new measure is one entry in `MEASURES`, whose formula is in coefficients.py (sums over items) or pairwise_kappa.py
(pairs of judgments); every table, file and text then has it. docs/reference/measures.md has the formulas.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from annotation.measures import coefficients, jackknife, pairwise_kappa
from annotation.measures.agreement import FEW_ITEMS, NO_PAIRS, ONE_LABEL, RatingTable, figure
from annotation.measures.coefficients import Coefficient
from annotation.measures.jackknife import INTERVAL_METHOD, Span
from annotation.measures.label_scale import LabelScale
from annotation.measures.pairwise_kappa import AnnotatorPairs
from annotation.measures.ratings import distinct, distinct_rows
from annotation.measures.types import Array, Figures
from annotation.protocols import marks
from annotation.protocols.base import BOXES, INTERVAL, NOMINAL, ORDINAL, POINTS, RANK, SET
from annotation.protocols.option_sets import chosen
from annotation.wording import counted, signed

UNEVEN = "the items have different numbers of ratings"
NO_ORDER = "the labels are not numbers, and their order was not given"
NO_NUMBERS = "the labels are not numbers"
LEFT_OUT = "without the {:,} “cannot judge” answers, which are not on a scale"
TOO_MANY_SETS = "there are more than {:,} different sets"
RESTS_ON = "rests on {} with an answer other than the most frequent; AC1 is {}"
RESTS_ON_AGREED = RESTS_ON.replace(" with", " with two judgments for")
FEW_OTHERS = 10  # items with an answer other than the most frequent; below this, intervals of κ and α are too narrow
FEW_AGREED = 7  # items on which two annotators agree on such an answer; likewise
_COMMON = 0.8  # a label with at least this share of all labels `is_common`
_RARE = 0.2  # other labels are rare if each has at most this share of the answers
LABELS = (NOMINAL, ORDINAL, INTERVAL, RANK, SET, POINTS, BOXES)
MOST_SETS = 4_000  # their pairwise distances take 128 MB
JUDGMENT_PAIRS, ANNOTATOR_PAIRS, ITEMS, RANKING_PAIRS = (
    "pair of judgments",
    "pair of annotators",
    "item",
    "pair of rankings",
)


class Compared:
    """The input for a row's measures: `units` of ratings to compare.

    `patterns` (P × L) are the distinct label counts of units, `times` (P) the number of units with each. A unit is an
    item. For one annotator (`only`, a position in `table.annotators`) it pairs one of their ratings with another's on
    the item: each kind of item `holds` a number of units of each pattern (K × P), and `alike` (K) items are of it.
    """

    def __init__(self, table: RatingTable, only: int | None = None):
        self.table, self.only = table, only
        if only is None:
            self.patterns, self.times = table.patterns()
            return
        first, second = self.pair_indices
        self.patterns, unit = _pair_patterns(table.label[first], table.label[second], len(table.labels))
        self.times = np.bincount(unit, minlength=len(self.patterns))
        self.items, self.holds, self.alike = _by_item(unit, table.item[first], len(self.patterns))

    def interval(self, coefficient: Coefficient, every_rating: bool) -> Span | None:
        """Return the interval over the items with two ratings, or over all."""
        if self.only is None:
            used = np.ones(len(self.patterns), dtype=bool) if every_rating else self.patterns.sum(axis=1) >= 2
            return jackknife.interval(coefficient, self.patterns[used], self.times[used])
        more = coefficient.parts(jackknife.one_more(self.times @ self.patterns, 2))
        return jackknife.interval_of_parts(coefficient, self.holds @ coefficient.parts(self.patterns), self.alike, more)

    @cached_property
    def pair_indices(self) -> tuple[Array, Array]:
        return self.table.pair_indices(self.only)

    @cached_property
    def pairs(self) -> AnnotatorPairs:
        return AnnotatorPairs(self.table, self.pair_indices)


def _pair_patterns(one: Array, two: Array, labels: int) -> tuple[Array, Array]:
    """For units with two ratings, return the patterns of label counts and each unit's pattern."""
    codes, unit = distinct(np.minimum(one, two) * labels + np.maximum(one, two))
    eye = np.eye(labels, dtype=int)
    return eye[codes // max(1, labels)] + eye[codes % max(1, labels)], unit


def _by_item(unit: Array, item: Array, patterns: int) -> tuple[int, Array, Array]:
    """Return the number of items, the number of units of each pattern in each kind of item (K × P), and the number of
    items of each kind (K). `unit` is each unit's pattern and `item` its item.
    """
    places, at = distinct(item)
    held = np.bincount(at * patterns + unit, minlength=len(places) * patterns).reshape(len(places), patterns)
    return len(places), *distinct_rows(held)


Compute = Callable[[Compared, LabelScale], Figures]
Need = Callable[[Array, LabelScale], str]  # label counts of units → why the measure is not defined, or ""


def _two_ratings(counts: Array, scale: LabelScale) -> str:
    return "" if (counts.sum(axis=1) >= 2).any() else NO_PAIRS


def _even(counts: Array, scale: LabelScale) -> str:
    return UNEVEN if len(set(counts.sum(axis=1).tolist())) > 1 else ""


def _order(counts: Array, scale: LabelScale) -> str:
    return NO_ORDER if scale.places is None else ""


def _numbers(counts: Array, scale: LabelScale) -> str:
    return NO_NUMBERS if scale.values is None else ""


def _two_labels(counts: Array, scale: LabelScale) -> str:
    return ONE_LABEL if (counts.sum(axis=0) > 0).sum() < 2 else ""


def _two_choices(counts: Array, scale: LabelScale) -> str:
    return ONE_LABEL if scale.choices < 2 else ""


def _two_compared(counts: Array, scale: LabelScale) -> str:
    return _two_labels(counts[counts.sum(axis=1) >= 2], scale)


def _of_counts(
    coefficient: Callable[[LabelScale], Coefficient], *needs: Need,
    of_pairs: bool = False, on_scale: bool = False, every_rating: bool = False,
) -> Compute:  # fmt: skip
    """Compute a coefficient from label counts. Its n counts units with two ratings, or pairs of ratings (`of_pairs`);
    with `on_scale`, only ratings on the scale. Its interval is over the items with two ratings, or over all.
    """

    def compute(found: Compared, scale: LabelScale) -> Figures:
        counts, times, left_out = found.patterns, found.times, ""
        if on_scale and scale.kept is not None:
            counts = counts[:, scale.kept]
            left_out = LEFT_OUT.format(int(times @ (found.patterns.sum(axis=1) - counts.sum(axis=1))))
        sizes = counts.sum(axis=1)
        n = int(times @ (sizes * (sizes - 1) // 2 if of_pairs else sizes >= 2))
        for need in (_two_ratings, *needs):
            if why := need(counts, scale):
                return figure(None, None, n, why)
        one = coefficient(scale)
        span = found.interval(one, every_rating)
        note = "; ".join(filter(None, ("" if span else FEW_ITEMS, left_out)))
        return figure(one.value(found.patterns, times), span, n, note)

    return compute


def _mean_of_pairs(found: Compared, scale: LabelScale) -> Figures:
    return found.pairs.mean()


def _mean_likeness(found: Compared, scale: LabelScale) -> Figures:
    return pairwise_kappa.mean_likeness(found.table, pairwise_kappa.likeness_on(found.table.scale), found.pair_indices)


def _mean_box_f1(found: Compared, scale: LabelScale) -> Figures:
    return pairwise_kappa.mean_likeness(found.table, pairwise_kappa.Likeness(marks.box_f1), found.pair_indices)


def _alpha_of_sets(found: Compared, scale: LabelScale) -> Figures:
    given = np.flatnonzero(found.times @ found.patterns)
    if len(given) > MOST_SETS:
        return figure(None, None, 0, TOO_MANY_SETS.format(MOST_SETS))
    apart = _jaccard_distances([found.table.labels[place] for place in given])
    return _of_counts(lambda scale: coefficients.alpha_of_sets(apart, given), _two_compared)(found, scale)


def _jaccard_distances(labels: Sequence[str]) -> Array:
    """Return 1 − |A ∩ B| / |A ∪ B| for every two sets (L × L)."""
    sets = [chosen(label) for label in labels]
    options = {option: place for place, option in enumerate(sorted(frozenset().union(*sets)))}
    has = np.zeros((len(sets), len(options)))
    for row, of in zip(has, sets, strict=True):
        row[[options[option] for option in of]] = 1
    both, size = has @ has.T, has.sum(axis=1)
    apart: Array = 1 - both / np.maximum(1, size[:, None] + size[None, :] - both)
    return apart


def _ordinal(scale: LabelScale) -> Coefficient:
    return coefficients.alpha(partial(_ordinal_distances, places=np.asarray(scale.places)), scale.kept)


def _ordinal_distances(totals: Array, places: Array) -> Array:
    """Return ordinal distances of labels whose columns are in another order; unused steps between them add nothing."""
    by_place = np.argsort(places)
    rank = np.argsort(by_place)
    return coefficients.ordinal(totals[:, by_place])[:, rank[:, None], rank[None, :]]


def _interval(scale: LabelScale) -> Coefficient:
    return coefficients.alpha(coefficients.interval(np.asarray(scale.values)), scale.kept)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of agreement.

    `key` names it in JSON, files and addresses, `name` on pages, `head` in the head of a column. `unit` is what its n
    counts (singular), `definition` explains it in a report to readers who know the field, and `sources` are the papers
    with the formula. `levels` are the levels of labels for which it is computed, `overview` those for which the study
    page and releases show it too. `interval` is the method of its 95% interval in words. `is_share`: shown in percent.
    `of_choices`: it depends on how many labels could be chosen; `of_rare`: it rests on the items without the most
    frequent label if these are few. For a mean over pairs of annotators, `pair_name` and `pair_head` name each pair's
    value.
    """

    key: str
    name: str
    head: str
    unit: str
    definition: str
    sources: tuple[str, ...]
    compute: Compute
    levels: Sequence[str] = (NOMINAL,)
    overview: Sequence[str] = ()
    interval: str = INTERVAL_METHOD
    is_share: bool = False
    of_choices: bool = False
    of_rare: bool = False
    pair_name: str = ""
    pair_head: str = ""


_COHEN = (
    "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20(1), "
    "37–46."
)
_WEIGHTED = (
    "Cohen, J. (1968). Weighted kappa: Nominal scale agreement with provision for scaled disagreement or partial "
    "credit. Psychological Bulletin 70(4), 213–220."
)
_KENDALL = "Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239–251."
_JACCARD = "Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11(2), 37–50."
_PASSONNEAU = (
    "Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation. "
    "LREC 2006, 831–836."
)
_KUHN = (
    "Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2(1–2), "
    "83–97."
)
_VOC = (
    "Everingham, M., Van Gool, L., Williams, C. K. I., Winn, J., Zisserman, A. (2010). The Pascal Visual Object "
    "Classes (VOC) challenge. International Journal of Computer Vision 88(2), 303–338."
)
_KRIPPENDORFF = "Krippendorff, K. (2011). Computing Krippendorff’s alpha-reliability. University of Pennsylvania."

MEASURES = (
    Measure(
        key="percent",
        name="percent agreement",
        head="percent agreement",
        unit=JUDGMENT_PAIRS,
        definition="the share of pairs of judgments on the same task that have the same label",
        sources=(),
        compute=_of_counts(lambda scale: coefficients.percent, of_pairs=True),
        levels=LABELS,
        overview=LABELS,
        is_share=True,
    ),
    Measure(
        key="cohen_mean",
        name="Cohen’s κ, mean of pairs",
        head="mean κ",
        unit=ANNOTATOR_PAIRS,
        definition="for each pair of annotators, over the tasks that both judged; the mean is unweighted, over the "
        "pairs whose κ is defined. With few shared tasks κ tends to be too low: use α",
        sources=(_COHEN,),
        compute=_mean_of_pairs,
        overview=(NOMINAL,),
        pair_name="Cohen’s κ",
        pair_head="κ",
        of_rare=True,
    ),
    Measure(
        key="weighted_cohen_mean",
        name="Cohen’s κ with quadratic weights, mean of pairs",
        head="mean weighted κ",
        unit=ANNOTATOR_PAIRS,
        definition="Cohen’s κ of answers on a scale, in which answers far apart weigh more; those off the scale are "
        "left out",
        sources=(_WEIGHTED,),
        compute=_mean_of_pairs,
        levels=(ORDINAL, INTERVAL),
        overview=(ORDINAL, INTERVAL),
        pair_name="Cohen’s κ with quadratic weights",
        pair_head="weighted κ",
        of_rare=True,
    ),
    Measure(
        key="fleiss",
        name="Fleiss’ κ",
        head="Fleiss’ κ",
        unit=ITEMS,
        definition="defined only if every task has the same number of judgments",
        sources=(
            "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76(5), "
            "378–382.",
        ),
        compute=_of_counts(lambda scale: coefficients.fleiss, _even, _two_compared),
        of_rare=True,
    ),
    Measure(
        key="alpha_nominal",
        name="Krippendorff’s α, nominal",
        head="α",
        unit=ITEMS,
        definition="over the tasks with two or more judgments, gaps allowed",
        sources=(_KRIPPENDORFF,),
        compute=_of_counts(lambda scale: coefficients.alpha_nominal, _two_compared),
        overview=(NOMINAL,),
        of_rare=True,
    ),
    Measure(
        key="alpha_ordinal",
        name="Krippendorff’s α, ordinal",
        head="α ordinal",
        unit=ITEMS,
        definition="the same for ordered labels: answers on a scale, or numbers",
        sources=(_KRIPPENDORFF,),
        compute=_of_counts(_ordinal, _order, _two_compared, on_scale=True),
        levels=(NOMINAL, ORDINAL),
        overview=(ORDINAL,),
        of_rare=True,
    ),
    Measure(
        key="alpha_interval",
        name="Krippendorff’s α, interval",
        head="α interval",
        unit=ITEMS,
        definition="the same for numeric labels, by their differences",
        sources=(_KRIPPENDORFF,),
        compute=_of_counts(_interval, _numbers, _two_compared, on_scale=True),
        levels=(NOMINAL, INTERVAL),
        overview=(INTERVAL,),
        of_rare=True,
    ),
    Measure(
        key="ac1",
        name="Gwet’s AC1",
        head="AC1",
        unit=ITEMS,
        definition="agreement beyond that of random labels on hard tasks, of all labels that annotators could choose; "
        "stable when one label is rare or frequent",
        sources=(
            "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. "
            "British Journal of Mathematical and Statistical Psychology 61(1), 29–48.",
        ),
        compute=_of_counts(lambda scale: coefficients.ac1(scale.choices), _two_labels, every_rating=True),
        of_choices=True,
    ),
    Measure(
        key="bennett",
        name="Bennett’s S",
        head="S",
        unit=ITEMS,
        definition="agreement beyond that of labels drawn evenly from all that annotators could choose; it does not "
        "depend on how often each label was given",
        sources=(
            "Bennett, E. M., Alpert, R., Goldstein, A. C. (1954). Communications through limited-response questioning. "
            "Public Opinion Quarterly 18(3), 303–308.",
            "Brennan, R. L., Prediger, D. J. (1981). Coefficient kappa: Some uses, misuses, and alternatives. "
            "Educational and Psychological Measurement 41(3), 687–699.",
        ),
        compute=_of_counts(lambda scale: coefficients.bennett(scale.choices), _two_choices),
        of_choices=True,
    ),
    Measure(
        key="tau_b_mean",
        name="Kendall’s τ-b, mean of pairs of annotators",
        head="τ-b by annotators",
        unit=ANNOTATOR_PAIRS,
        definition="for each pair of annotators the mean over their rankings of the same tasks; the mean of the pairs "
        "is unweighted",
        sources=(_KENDALL,),
        compute=_mean_of_pairs,
        levels=(RANK,),
        overview=(RANK,),
        pair_name="Kendall’s τ-b",
        pair_head="τ-b",
    ),
    Measure(
        key="tau_b",
        name="Kendall’s τ-b, mean of pairs of rankings",
        head="τ-b",
        unit=RANKING_PAIRS,
        definition="the mean over the pairs of rankings of one task",
        sources=(_KENDALL,),
        compute=_mean_likeness,
        levels=(RANK,),
        overview=(RANK,),
    ),
    Measure(
        key="jaccard_mean",
        name="Jaccard index, mean of pairs of annotators",
        head="Jaccard by annotators",
        unit=ANNOTATOR_PAIRS,
        definition="for each pair of annotators the mean over the tasks that both judged of the options that both "
        "chose, by those that either chose; the mean of the pairs is unweighted",
        sources=(_JACCARD,),
        compute=_mean_of_pairs,
        levels=(SET,),
        overview=(SET,),
        pair_name="Jaccard index",
        pair_head="Jaccard",
    ),
    Measure(
        key="jaccard",
        name="Jaccard index, mean of pairs of judgments",
        head="Jaccard",
        unit=JUDGMENT_PAIRS,
        definition="the mean over the pairs of judgments of one task",
        sources=(_JACCARD,),
        compute=_mean_likeness,
        levels=(SET,),
    ),
    Measure(
        key="alpha_jaccard",
        name="Krippendorff’s α of sets, by Jaccard’s distance",
        head="α of sets",
        unit=ITEMS,
        definition="over the tasks with two or more judgments; two sets are further apart the fewer of their "
        "options they share",
        sources=(_KRIPPENDORFF, _JACCARD, _PASSONNEAU),
        compute=_alpha_of_sets,
        levels=(SET,),
        overview=(SET,),
    ),
    Measure(
        key="point_f1_mean",
        name="F1 of points, mean of pairs of annotators",
        head="F1 by annotators",
        unit=ANNOTATOR_PAIRS,
        definition="for each pair of annotators the mean over their points on the same tasks; the mean of the pairs is "
        "unweighted",
        sources=(_KUHN,),
        compute=_mean_of_pairs,
        levels=(POINTS,),
        overview=(POINTS,),
        pair_name="F1 of points",
        pair_head="F1",
    ),
    Measure(
        key="point_f1",
        name="F1 of points, mean of pairs of judgments",
        head="F1 of points",
        unit=JUDGMENT_PAIRS,
        definition="twice the largest number of pairs of points that are near each other, one from each judgment, over "
        "all of their points; 1 if both have none",
        sources=(_KUHN,),
        compute=_mean_likeness,
        levels=(POINTS,),
        overview=(POINTS,),
    ),
    Measure(
        key="box_f1",
        name="F1 of boxes at an IoU of 0.5, mean of pairs of judgments",
        head="F1 of boxes",
        unit=JUDGMENT_PAIRS,
        definition="the same for boxes whose intersection is at least half of their union",
        sources=(_KUHN, _VOC),
        compute=_mean_box_f1,
        levels=(BOXES,),
    ),
    Measure(
        key="box_iou_mean",
        name="IoU of boxes, mean of pairs of annotators",
        head="IoU by annotators",
        unit=ANNOTATOR_PAIRS,
        definition="for each pair of annotators the mean over their boxes on the same tasks; the mean of the pairs is "
        "unweighted",
        sources=(_KUHN, _JACCARD),
        compute=_mean_of_pairs,
        levels=(BOXES,),
        overview=(BOXES,),
        pair_name="IoU of boxes",
        pair_head="IoU",
    ),
    Measure(
        key="box_iou",
        name="IoU of boxes, mean of pairs of judgments",
        head="IoU",
        unit=JUDGMENT_PAIRS,
        definition="the mean intersection over union of the pairs of boxes, one of each judgment, that make it "
        "largest; boxes without a pair count as 0, and two judgments without boxes as 1",
        sources=(_KUHN, _JACCARD),
        compute=_mean_likeness,
        levels=(BOXES,),
        overview=(BOXES,),
    ),
)
INTERVAL_METHODS = "; ".join(dict.fromkeys(measure.interval for measure in MEASURES))
BY_KEY: Mapping[str, Measure] = MappingProxyType({measure.key: measure for measure in MEASURES})


def measures_on(level: str) -> list[Measure]:
    """Return the measures computed on labels of that level."""
    return [measure for measure in MEASURES if level in measure.levels]


def overview_on(level: str) -> list[Measure]:
    """Return the measures that the study page and releases show too: percent agreement, the mean of pairs, and last the
    chief measure. The chief measure for a common answer (`chief_on`) is only on pages and in reports.
    """
    return [measure for measure in MEASURES if level in measure.overview]


def is_common(shares: Sequence[float]) -> bool:
    """Return whether one label is so common that it explains much of the agreement by itself; `shares` are the labels',
    the most common first.
    """
    return bool(shares) and shares[0] >= _COMMON


def chief_on(level: str, shares: Sequence[float] = ()) -> Measure:
    """Return the measure to show if there is room for only one. For labels without order it is AC1 if one label
    `is_common`: α is then low whatever annotators do.
    """
    if level == NOMINAL:
        return BY_KEY["ac1" if is_common(shares) else "alpha_nominal"]
    return overview_on(level)[-1]


def mean_of_pairs_on(level: str) -> Measure:
    """Return the measure that is the mean over pairs of annotators."""
    return next(measure for measure in overview_on(level) if measure.pair_name)


def measured(found: Compared, scale: LabelScale, measures: Sequence[Measure], whole: bool = False) -> Figures:
    """Compute each of the measures, by key. Measures of a `whole` have a note if they rest on few items."""
    figures = {measure.key: measure.compute(found, scale) for measure in measures}
    said = rests_on(found.patterns, found.times, scale) if whole else ""
    for measure in measures if said else ():
        one = figures[measure.key]
        if measure.of_rare and one["value"] is not None:
            one["note"] = "; ".join(filter(None, (one["note"], said)))
    return figures


def rests_on(patterns: Array, times: Array, scale: LabelScale) -> str:
    """Return in words how many items with two judgments have a label other than the most frequent, if fewer than
    `FEW_OTHERS`, or on how many two agree on a rare label, if fewer than `FEW_AGREED`. Labels off a scale do not count.
    """
    ac1 = signed(coefficients.ac1(scale.choices).value(patterns, times), 3)
    counts = patterns if scale.kept is None else patterns[:, scale.kept]
    several = counts.sum(axis=1) >= 2
    counts, times = counts[several], times[several]
    totals = times @ counts
    if (totals > 0).sum() < 2:
        return ""
    rest = np.delete(counts, totals.argmax(), axis=1)
    others, agreed = int(times @ rest.any(axis=1)), int(times @ (rest >= 2).any(axis=1))
    is_rare = times @ rest.sum(axis=1) <= _RARE * totals.sum()
    if others < FEW_OTHERS:
        return RESTS_ON.format(counted(others, ITEMS), ac1)
    return RESTS_ON_AGREED.format(counted(agreed, ITEMS), ac1) if is_rare and agreed < FEW_AGREED else ""


def measured_row(found: Compared, scale: LabelScale, whole: bool = False) -> Figures:
    """Return counts and every measure of the table, or of one annotator compared with the others; JSON-able."""
    table = found.table
    if found.only is None:
        sizes = len(table.items), int(np.count_nonzero(np.bincount(table.annotator))), len(table.item)
    else:
        first, second = found.pair_indices
        people = np.union1d(table.annotator[first], table.annotator[second])
        sizes = found.items, len(people), found.items + len(first)
    return {
        **dict(zip(COUNTS, sizes, strict=True)),
        "measures": measured(found, scale, measures_on(table.scale.level), whole),
    }


COUNTS = ("n_items", "n_annotators", "n_ratings")  # of a row


def units_in_words(measure: Measure, n: int, unit: str = "") -> str:
    """Name what n counts: “pairs of judgments”. `unit` is what an item is, if it is a statement or a word."""
    first, *rest = (unit or measure.unit).split() if measure.unit == ITEMS else measure.unit.split()
    of = f" of {unit}s" if unit and measure.unit != ITEMS else ""
    return " ".join([first if n == 1 else f"{first}s", *rest]) + of


def describe_measures() -> str:
    """List the keys and names of all measures, by the level of labels on which they are computed."""
    keys = {level: ", ".join(f"`{one.key}` ({one.name})" for one in measures_on(level)) for level in LABELS}
    return "; ".join([keys.pop(NOMINAL), *(f"of {level} answers {names}" for level, names in keys.items())])


def counts_in_words() -> str:
    """Explain what n counts for each measure of labels without order."""
    names: dict[str, list[str]] = {}
    for one in measures_on(NOMINAL):
        names.setdefault(units_in_words(one, 2), []).append(one.name)
    return "; ".join(f"{units} ({', '.join(of)})" for units, of in names.items())
