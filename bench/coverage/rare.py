"""Agreement if nearly all items get the same label: a rare label, and the ceiling of a scale.

As in agreement.py, with two labels at 99 : 1, and with points from 1 to 5 of which 96% are 5. Those are *noted*
of which pages say that a coefficient rests on few items.
"""

from collections.abc import Iterator

import numpy as np

from annotation.measures import coefficients, jackknife
from annotation.measures.agreement_measures import rests_on
from annotation.measures.label_scale import LabelScale
from annotation.measures.pairwise_kappa import AnnotatorPairs
from annotation.measures.types import Array
from bench.coverage.agreement import KAPPA, SEED, Cell, study, truth

RARE, CEILING = (0.99, 0.01), (0.01, 0.01, 0.01, 0.01, 0.96)
DESIGNS = ((2, 0.98), (3, 0.9), (3, 0.8))
CELLS = [Cell(items, people, people, RARE, agree) for items in (50, 200, 500) for people, agree in DESIGNS]
CELLS += [Cell(items, 3, 3, CEILING, agree) for items in (50, 200) for agree in (0.9, 0.8)]
MEASURES = ("α", "α interval", KAPPA, "AC1")
HEADS = ("labels", "items, annotators", "agree", "noted", *(
    f"{name}{of}" for name in MEASURES for of in (", noted", ", not noted")
))  # fmt: skip
_LARGE = 200_000  # items from which the truth of α interval is taken


def rows(studies: int) -> Iterator[list[str]]:
    for cell in CELLS:
        few, held = coverage(cell, studies)
        labels = "99 : 1" if cell.shares == RARE else "5 points"
        cells = [_percent(held[name][which]) for name in MEASURES for which in (few, ~few)]
        yield [labels, f"{cell.items}, {cell.people}", f"{cell.agree:.0%}", f"{few.mean():.0%}", *cells]


def _percent(held: Array) -> str:
    known = held[~np.isnan(held)]
    return f"{100 * known.mean():.1f}%" if len(known) >= 20 else "–"


def coverage(cell: Cell, studies: int) -> tuple[Array, dict[str, Array]]:
    """Return, for each study, whether it is noted, and whether each interval contains the truth (NaN: no interval)."""
    dice, ability = np.random.default_rng(SEED), np.full(cell.people, cell.ability)
    labels = len(cell.shares)
    by_distance = coefficients.alpha(coefficients.interval(np.arange(labels, dtype=float)))
    of = {"α": coefficients.alpha_nominal, "α interval": by_distance, "AC1": coefficients.ac1(labels)}
    large = Cell(_LARGE, cell.people, cell.each, cell.shares, cell.agree)
    many = np.unique(_counts(study(large, ability, dice), labels), axis=0, return_counts=True)
    true = truth(cell, ability) | {"α interval": by_distance.value(*many)}
    few, held = np.zeros(studies, bool), {name: np.full(studies, np.nan) for name in MEASURES}
    for place in range(studies):
        table = study(cell, ability, dice)
        counts = _counts(table, labels)
        patterns = np.unique(counts, axis=0, return_counts=True)
        few[place] = bool(rests_on(*patterns, LabelScale(None, None, choices=labels)))
        spans = {name: jackknife.interval(one, *patterns) for name, one in of.items()}
        for name, span in (spans | {KAPPA: AnnotatorPairs(table).interval()}).items():
            if span:
                held[name][place] = span[0] <= true[name] <= span[1]
    return few, held


def _counts(table, labels: int) -> Array:
    """Return counts with a column for each label, including labels that nobody gave."""
    counts = np.zeros((len(table.counts), labels), int)
    counts[:, [int(label) for label in table.labels]] = table.counts
    return counts
