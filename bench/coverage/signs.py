"""Measure how often honest and careless annotators get a sign about their answers. Each judges a number of tasks, and a

number of annotators judge each task. An answer is right with a probability whose logit is 2.2 plus the
annotator's skill less the difficulty of the task, both normal, and in batches that of the batch; a wrong one is
any other. Careless annotators look at every other screen. The truth is one of four answers, not equally often.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.measures import annotator_behaviour
from annotation.measures.judgments import JudgmentRow, Judgments
from annotation.measures.warning_signs import Sign

SEED, LABELS = 20240607, "abcd"
SHARES = (0.4, 0.3, 0.2, 0.1)
ABILITY, DIFFICULTY = 2.2, 1.0
HEADS = ("annotators, tasks each, judgments a task", "skill sd", "in batches of", "studies with a false sign",
         "honest with a sign", "careless with a sign")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """`batch`: of so many tasks, whose difficulty differs with the standard deviation 1; 0: none."""

    people: int
    tasks: int = 100
    each: int = 3
    skill: float = 0.0
    batch: int = 0
    careless: int = 0

    def __str__(self) -> str:
        return "-".join(map(str, (self.people, self.tasks, self.each, self.skill, self.batch, self.careless)))


CELLS = (
    Cell(12), Cell(12, skill=0.5), Cell(12, skill=0.5, batch=20), Cell(12, skill=1.0), Cell(30, skill=0.5),
    Cell(12, each=2, skill=0.5), Cell(5, skill=0.5), Cell(3, skill=0.5),
    Cell(12, careless=2), Cell(12, skill=0.5, careless=2), Cell(12, careless=4), Cell(5, careless=1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of studies in which an honest annotator has a sign, and of honest and of careless annotators with one."""

    studies: float
    honest: float
    careless: float


def rows(studies: int) -> Iterator[list[str]]:
    for cell in CELLS:
        of = found(cell, studies)
        careless = f"{100 * of.careless:.0f}% of {cell.careless}" if cell.careless else ""
        shares = f"{100 * of.studies:.1f}%", f"{100 * of.honest:.2f}%", careless
        yield [f"{cell.people}, {cell.tasks}, {cell.each}", f"{cell.skill:g}", str(cell.batch or "–"), *shares]


def found(cell: Cell, studies: int) -> Found:
    dice = np.random.default_rng(SEED)
    shown = np.array([[bool(signs) for signs in signs_of(study(cell, dice))] for _ in range(studies)])
    honest, careless = shown[:, cell.careless :], shown[:, : cell.careless]
    return Found(honest.any(axis=1).mean(), honest.mean(), careless.mean() if cell.careless else 0.0)


def signs_of(rows: Judgments) -> list[list[Sign]]:
    """Return each annotator's signs about answers."""
    stage = annotator_behaviour.stage_behaviour(rows, {"answer": str})
    return [
        annotator_behaviour.comparison_signs(annotator_behaviour.comparison_with_others(number, mine, stage))
        for number, mine in rows.by_annotator().items()
    ]


def study(cell: Cell, dice: np.random.Generator) -> Judgments:
    """Simulate a study in which the first annotators are the careless ones."""
    batch = cell.batch or 1
    batches = cell.people * cell.tasks // cell.each // batch
    load, who = np.zeros(cell.people), np.empty((batches, cell.each), dtype=int)
    for row in who:
        row[:] = np.lexsort((dice.random(cell.people), load))[: cell.each]
        load[row] += 1
    who = np.repeat(who, batch, axis=0)
    hard = DIFFICULTY * dice.standard_normal(len(who))
    hard += np.repeat(dice.standard_normal(batches), batch) * bool(cell.batch)
    right = 1 / (1 + np.exp(hard[:, None] - ABILITY - (cell.skill * dice.standard_normal(cell.people))[who]))
    right = np.where(who < cell.careless, right / 2 + 0.5 / len(LABELS), right)
    true = dice.choice(len(LABELS), len(who), p=SHARES)[:, None]
    other = (true + dice.integers(1, len(LABELS), who.shape)) % len(LABELS)
    said = np.where(dice.random(who.shape) < right, true, other)
    return Judgments.of(
        JudgmentRow((task, "", 1), "judge", True, "", "", slot, int(number), LABELS[label], None, 4, 1000, True, False,
                    False, task)
        for task, (people, answers) in enumerate(zip(who, said, strict=True))
        for slot, (number, label) in enumerate(zip(people, answers, strict=True))
    )  # fmt: skip
