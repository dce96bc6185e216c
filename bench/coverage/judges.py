"""Audits whose judges err: how often the raw interval and the corrected one contain the real share of wrong items.

A benchmark of 5,000 items of which 300 are judged, each by some of twelve annotators, who answer items with a known
answer as well. `missed` and `alarms` are the rates of judgments. With an `sd`, annotators' and items' logits vary
around them, which the correction does not know. Most judgments decide; with a tie an item is not wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.measures.audits import intervals, judges
from annotation.measures.types import Array

SEED = 20240607
SIZE, JUDGED, PEOPLE = 5000, 300, 12
HEADS = ("wrong", "judgments", "known", "missed, false alarms", "SD", "raw covers", "mean", "covers", "mean", "width")


@dataclass(frozen=True, slots=True)
class Cell:
    """`known` right items with a known answer, and as many wrong ones, get a judgment each."""

    wrong: float
    judgments: int
    known: int
    missed: float = 0.1
    alarms: float = 0.05
    sd: float = 0.0


CELLS = (
    Cell(0.03, 1, 100),
    Cell(0.03, 2, 100),
    Cell(0.03, 3, 0),
    Cell(0.03, 3, 100),
    Cell(0.03, 5, 0),
    Cell(0.2, 1, 100),
    Cell(0.2, 3, 0),
    Cell(0.2, 3, 30),
    Cell(0.03, 1, 100, sd=0.5),
    Cell(0.2, 3, 0, sd=0.5),
)


def rows(studies: int) -> Iterator[list[str]]:
    for one in CELLS:
        held, raw, mean, raw_mean, width = (f"{100 * share:.1f}%" for share in coverage(one, studies))
        rates = f"{100 * one.missed:g}, {100 * one.alarms:g}%"
        known = f"2 × {one.known}" if one.known else "none"
        settings = [f"{100 * one.wrong:g}%", f"{one.judgments}", known, rates, f"{one.sd:g}"]
        yield [*settings, raw, raw_mean, held, mean, width]


def coverage(cell: Cell, studies: int) -> tuple[float, float, float, float, float]:
    """Return coverage and mean estimates, corrected and raw, and the mean width of corrected intervals."""
    dice, truth = np.random.default_rng(SEED), round(SIZE * cell.wrong) / SIZE
    all_wrong = np.arange(SIZE) < truth * SIZE
    found = np.zeros((studies, 5))
    for study in found:
        wrong = dice.permutation(all_wrong)[:JUDGED]
        people = cell.sd * dice.standard_normal(PEOPLE)
        given = _said(cell, wrong, people, dice)
        of_known = _said(cell, np.arange(2 * cell.known) < cell.known, people, dice)[:, :1]
        known = [([_LABELS[place < cell.known]], _LABELS[said]) for place, (said,) in enumerate(of_known.tolist())]
        items = [[_LABELS[one] for one in said] for said in given.tolist()]
        one = judges.corrected(items, known, lambda answer: answer, ["wrong"], SIZE)
        raw = intervals.by_width(np.array([JUDGED]), np.array([(2 * given.sum(axis=1) > cell.judgments).sum()]), SIZE)
        assert one.estimate is not None and one.low is not None and one.high is not None
        covered = one.low <= truth <= one.high, raw.low[0] <= truth <= raw.high[0]
        study[:] = *covered, one.estimate, raw.estimate[0], one.high - one.low
    held, raw_held, mean, raw_mean, width = (float(value) for value in found.mean(axis=0))
    return held, raw_held, mean, raw_mean, width


_LABELS = {True: "wrong", False: ""}


def _said(cell: Cell, wrong: Array, people: Array, dice: np.random.Generator) -> Array:
    """Return whether each judgment says wrong (items × judgments)."""
    who = np.argsort(dice.random((len(wrong), PEOPLE)), axis=1)[:, : max(1, cell.judgments)]
    hard = cell.sd * dice.standard_normal((len(wrong), 1))
    errs = np.where(wrong, cell.missed, cell.alarms)[:, None]
    chance = 1 / (1 + np.exp(-(np.log(errs / (1 - errs)) + people[who] + hard)))
    return np.asarray((dice.random(who.shape) < chance) != wrong[:, None])
