"""Intervals of agreement, which are over items.

Each item has a true label. An annotator gives it with a probability whose logit is their ability less the item's
difficulty, otherwise any other label. Abilities and difficulties are normal. The truth is what the same annotators
would have over ever more such items (`truth`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from annotation.measures import coefficients, jackknife
from annotation.measures.agreement import RatingTable
from annotation.measures.pairwise_kappa import AnnotatorPairs
from annotation.measures.ratings import RatingColumns

SEED = 20240602
EVEN, SKEWED = (1 / 3, 1 / 3, 1 / 3), (0.9, 0.1)
MEASURES = {
    "percent": coefficients.percent,
    "Fleiss": coefficients.fleiss,
    "α": coefficients.alpha_nominal,
    "AC1": coefficients.ac1(),
}
KAPPA = "mean κ"
HEADS = ("items, annotators, judgments per item", "items that two share", *MEASURES, KAPPA)


@dataclass(frozen=True, slots=True)
class Cell:
    """`each` of the `people`, drawn anew, judge an item. Two annotators of no special ability agree on a share `agree`
    of the items of no special difficulty.
    """

    items: int
    people: int
    each: int
    shares: tuple[float, ...]
    agree: float
    sd: float = 0.0
    difficulty: float = 0.0

    @property
    def design(self) -> tuple[int, int, int]:
        return self.items, self.people, self.each

    @property
    def ability(self) -> float:
        """Return the logit of the p for which p² + (1 − p)² / (labels − 1) is `agree`."""
        others = len(self.shares) - 1
        right = (1 + np.sqrt(max(0.0, 1 - (others + 1) * (1 - others * self.agree)))) / (others + 1)
        return float(np.log(right / (1 - right)))

    def __str__(self) -> str:
        kind = "even" if self.shares == EVEN else "skewed"
        return f"{self.items}-{self.people}-{self.each}-{kind}-{self.agree}-{self.sd}-{self.difficulty}"


DESIGNS = ((2, 2), (3, 3), (5, 5), (5, 3), (12, 3))
CELLS = [
    Cell(items, people, each, shares, agree, sd, difficulty)
    for items, (people, each), shares, agree, (sd, difficulty) in product(
        (50, 100, 500), DESIGNS, (EVEN, SKEWED), (0.55, 0.8, 0.98), ((0, 0), (0.5, 0), (1, 1))
    )
]


def rows(studies: int) -> Iterator[list[str]]:
    """Yield, for each design, the lowest and the highest coverage of its cells, by measure."""
    for design in dict.fromkeys(cell.design for cell in CELLS):
        found = [coverage(cell, studies) for cell in CELLS if cell.design == design]
        items, people, each = design
        yield [
            f"{items}, {people}, {each}",
            f"{items * each * (each - 1) / (people * (people - 1)):.0f}",
            *(_range([one[name] for one in found]) for name in (*MEASURES, KAPPA)),
        ]


def _range(found: list[float | None]) -> str:
    held = [100 * share for share in found if share is not None]
    return f"{min(held):.1f} – {max(held):.1f}%" if held else "none given"


def coverage(cell: Cell, studies: int) -> dict[str, float | None]:
    """Return the share of intervals that contain the truth, by measure; None if no study had one."""
    dice = np.random.default_rng(SEED)
    held: dict[str, list[bool]] = {name: [] for name in (*MEASURES, KAPPA)}
    for _ in range(studies):
        ability = cell.ability + cell.sd * dice.standard_normal(cell.people)
        table, true = study(cell, ability, dice), truth(cell, ability)
        patterns = np.unique(table.counts, axis=0, return_counts=True)
        spans = {name: jackknife.interval(one, *patterns) for name, one in MEASURES.items()}
        for name, span in (spans | {KAPPA: AnnotatorPairs(table).interval()}).items():
            if span:
                held[name].append(span[0] <= true[name] <= span[1])
    return {name: sum(of) / len(of) if of else None for name, of in held.items()}


def study(cell: Cell, ability: np.ndarray, dice: np.random.Generator) -> RatingTable:
    labels, shape = len(cell.shares), (cell.items, cell.each)
    true = dice.choice(labels, cell.items, p=cell.shares)[:, None]
    who = np.argsort(dice.random((cell.items, cell.people)), axis=1)[:, : cell.each]
    hard = cell.difficulty * dice.standard_normal((cell.items, 1))
    right = dice.random(shape) < 1 / (1 + np.exp(hard - ability[who]))
    said = np.where(right, true, (true + dice.integers(1, labels, shape)) % labels)
    item = np.repeat(np.arange(cell.items), cell.each)
    names = [str(label) for label in range(labels)]
    return RatingTable(
        RatingColumns([*range(cell.items)], [*range(cell.people)], names, item, who.ravel(), said.ravel())
    )


def truth(cell: Cell, ability: np.ndarray) -> dict[str, float]:
    places, weights = np.polynomial.hermite_e.hermegauss(40)
    weights, shares, others = weights / weights.sum(), np.array(cell.shares), len(cell.shares) - 1
    right = 1 / (1 + np.exp(cell.difficulty * places - ability[:, None]))  # annotators × difficulties
    wrong = (1 - right) / others
    pairs = np.triu_indices(cell.people, 1)
    same = ((right[:, None] * right + others * wrong[:, None] * wrong) @ weights)[pairs]
    given = shares * (right @ weights)[:, None] + (1 - shares) * (wrong @ weights)[:, None]  # annotators × labels
    chance, all_given, percent = (given @ given.T)[pairs], given.mean(axis=0), same.mean()
    by_chance, of_hard = (all_given**2).sum(), (all_given * (1 - all_given)).sum() / others
    beyond = (percent - by_chance) / (1 - by_chance)
    return {
        "percent": percent,
        "Fleiss": beyond,
        "α": beyond,
        "AC1": (percent - of_hard) / (1 - of_hard),
        KAPPA: ((same - chance) / (1 - chance)).mean(),
    }
