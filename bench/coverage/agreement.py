"""Bootstrap intervals of agreement, with 1,000 resamples each.

Of each item a true label is drawn by its share; an annotator gives it with probability `right`, else any label at
random. Then the agreement of two random annotators, by chance and beyond it, follows from the shares alone (`truth`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.measures import agreement
from annotation.measures.agreement import SEED, RatingTable
from annotation.measures.pairwise_kappa import AnnotatorPairs, basic_interval
from annotation.measures.reliability import defined_measures, label_scale, percentile_interval, percentile_intervals


@dataclass(frozen=True, slots=True)
class Design:
    """`each` of the `people`, drawn anew, judge an item."""

    items: int
    people: int
    each: int
    shares: tuple[float, ...]
    right: float

    @property
    def shared(self) -> float:
        """Items that two annotators have in common, on average."""
        return self.items * self.each * (self.each - 1) / (self.people * (self.people - 1))


EVEN, SKEWED, FIVE = (1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1), (0.5, 0.2, 0.1, 0.1, 0.1)
DESIGNS = (
    Design(120, 3, 3, EVEN, 0.8),
    Design(500, 2, 2, SKEWED, 0.7),
    Design(400, 5, 3, SKEWED, 0.8),
    Design(1000, 12, 4, FIVE, 0.8),
    Design(300, 12, 3, FIVE, 0.8),
    Design(100, 12, 2, FIVE, 0.8),
)
MEASURES = ("percent", "fleiss", "alpha_nominal", "ac1", "cohen_mean")
HEADS = ("items, annotators, judgments per item, labels", "items that two share", *MEASURES, "percentiles")
RESAMPLES = 1000


def rows(studies: int) -> Iterator[list[str]]:
    """Coverage of each measure, by design."""
    for one in DESIGNS:
        name = (
            f"{one.items:,}, {one.people}, {one.each}, {len(one.shares)} {'even' if one.shares == EVEN else 'skewed'}"
        )
        found = coverage(one, studies, RESAMPLES)
        yield [name, f"{one.shared:.0f}", *(f"{100 * found[measure]:.1f} %" for measure in (*MEASURES, "percentiles"))]


def truth(design: Design) -> dict[str, float]:
    shares, labels = np.array(design.shares), len(design.shares)
    said = design.right * np.eye(labels) + (1 - design.right) / labels  # true label → label given
    given, same = shares @ said, float((shares[:, None] * said**2).sum())
    by_chance, of_hard = float((given**2).sum()), float((given * (1 - given)).sum() / (labels - 1))
    kappa = (same - by_chance) / (1 - by_chance)
    return {
        "percent": same,
        "ac1": (same - of_hard) / (1 - of_hard),
        **dict.fromkeys(("fleiss", "alpha_nominal", "cohen_mean"), kappa),
    }


def study(design: Design, dice: np.random.Generator) -> RatingTable:
    labels, shape = len(design.shares), (design.items, design.each)
    true = dice.choice(labels, design.items, p=design.shares)
    who = np.argsort(dice.random((design.items, design.people)), axis=1)[:, : design.each]
    said = np.where(dice.random(shape) < design.right, true[:, None], dice.integers(0, labels, shape))
    return RatingTable(
        (item, int(who[item, k]), str(said[item, k])) for item in range(design.items) for k in range(design.each)
    )


def spans(table: RatingTable, resamples: int) -> dict[str, list[float]]:
    """Of each measure, and of Cohen's mean also as plain percentiles, which the app does not show."""
    measures, notes = defined_measures(table.counts, label_scale(()))
    found = percentile_intervals(
        table.counts, measures, notes | dict.fromkeys(("alpha_ordinal", "alpha_interval"), ""), resamples, SEED
    )
    values = AnnotatorPairs(table).resampled(resamples, SEED)
    mean = agreement.mean_kappa(agreement.cohen_kappas(table)).value
    return found | {"cohen_mean": basic_interval(mean, values), "percentiles": percentile_interval(values)}


def coverage(design: Design, studies: int, resamples: int, seed: int = 1) -> dict[str, float]:
    """The share of the studies whose interval holds the truth, by measure."""
    dice, true = np.random.default_rng(seed), truth(design)
    true["percentiles"] = true["cohen_mean"]
    held = dict.fromkeys((*MEASURES, "percentiles"), 0)
    for _ in range(studies):
        found = spans(study(design, dice), resamples)
        for name in held:
            held[name] += found[name][0] <= true[name] <= found[name][1]
    return {name: times / studies for name, times in held.items()}
