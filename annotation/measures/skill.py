"""Test whether an annotator differs from the others more than annotators usually do, with skill as a random effect.
Pure.

Each annotator has an estimate on the logit scale with its variance. Honest annotators also differ among themselves, by
the variance of the others' estimates beyond their errors (Paule and Mandel 1982). An annotator far from all others does
not inflate it: a first value is the median of single estimates, and annotators more than `_FAR` of its standard
deviations away are left out. Student's t has one degree of freedom fewer than the others left.

docs/reference/measures.md has the formulas, docs/design/evidence.md how often honest annotators get a sign.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotation.measures.exact_tests import (
    binomial_distribution,
    hypergeometric_distribution,
    student_within,
    two_sided,
)
from annotation.measures.judgments import Coded
from annotation.measures.ratings import rows_by
from annotation.measures.types import Array

_MEDIAN = 0.4549364231195727  # median of chi-square with one degree of freedom
_FAR = 3
_ZERO = 1e-12


class Estimate(NamedTuple):
    """An estimate on the logit scale."""

    value: float
    variance: float


def p_above(own: Estimate, others: Array, middle: float = 0.0) -> float:
    """Return the probability that one of the others' kind (estimates, shape A × 2) is as far above `middle`; 1 if there
    are none.
    """
    if not len(others):
        return 1.0
    values, variances = others.T
    squares = (values - middle) ** 2
    first = max(0.0, float(np.median(squares / _MEDIAN - variances)))
    near = squares <= _FAR**2 * (variances + first)
    squares, variances, skill = squares[near], variances[near], 0.0
    while (over := float((squares / (variances + skill)).mean()) - 1) > _ZERO:  # convex: Newton never steps beyond
        skill += over / float((squares / (variances + skill) ** 2).mean())
    away = (own.value - middle) / math.sqrt(own.variance + skill)
    freedom = max(1, len(squares) - 1)
    tail = (1 - student_within(math.atan(abs(away) / math.sqrt(freedom)), freedom)) / 2
    return tail if away > 0 else 1 - tail


def spread(away: Array) -> tuple[float, int]:
    """Estimate the error-free standard deviation from the values near zero, as above; also return their number."""
    squares = away**2
    near = squares[squares <= _FAR**2 * float(np.median(squares)) / _MEDIAN]
    return math.sqrt(float(near.mean())), len(near)


class GivenAnswers(NamedTuple):
    """Judgments as codes: their parts (type and subtype) and their labels."""

    part: Array
    label: Array


class OwnAnswers:
    """How often an annotator gave each label, compared with others on the same tasks. A task that nobody else judged is
    compared with all such tasks of its type.

    If annotators are exchangeable, an annotator's number of answers with a label is a sum of hypergeometric variables,
    given how often everyone gave it: one for each task, and one for each type's tasks with a single judgment.
    """

    def __init__(self, labels: Sequence[str], own: GivenAnswers, of_task: Array, lonely: Array):
        """`of_task` (N × L): label counts of everybody, including the annotator, on each task of `own`; `lonely` (P ×
        L): on the tasks of each part that only one annotator judged.
        """
        self.labels = labels
        each = np.eye(len(labels), dtype=np.int64)[own.label]
        shared = of_task.sum(axis=1) > 1
        strata = [(of_task[shared], each[shared], np.ones(int(shared.sum()), dtype=np.int64))]
        for part in np.unique(own.part[~shared]).tolist():
            mine = each[~shared & (own.part == part)].sum(axis=0)
            if lonely[part].sum() > mine.sum():
                strata.append((lonely[part][None], mine[None], np.array([mine.sum()])))
        given, mine, times = (np.concatenate(column) for column in zip(*strata, strict=True))
        self._strata, self.n = (given, mine, times), int(times.sum())
        self.others = int(given.sum() - times.sum())
        size, share = given.sum(axis=1, keepdims=True), given / np.maximum(1, given.sum(axis=1, keepdims=True))
        drawn = times[:, None]
        self.given = mine.sum(axis=0)
        expected = (drawn * share).sum(axis=0)
        variance = (drawn * share * (1 - share) * (size - drawn) / np.maximum(1, size - 1)).sum(axis=0)
        self._by_others = (drawn * (given - mine) / np.maximum(1, size - drawn)).sum(axis=0)
        known = variance > 0
        self.estimates = np.full((len(labels), 2), np.nan)  # by label: value and variance
        self.estimates[known, 0] = (self.given - expected)[known] / variance[known]
        self.estimates[known, 1] = 1 / variance[known]

    def others_share(self, label: int) -> float:
        """Return the share of the others' answers, weighted like the annotator's tasks."""
        return float(self._by_others[label]) / self.n

    def estimate(self, label: int) -> Estimate | None:
        """Estimate how much likelier the label is than for the others, by one Newton step; None without information."""
        value, variance = self.estimates[label].tolist()
        return None if math.isnan(variance) else Estimate(value, variance)

    def p_exact(self, label: int) -> float:
        """Return the two-sided p, by doubling, if annotators are all alike."""
        given, _, times = self._strata
        size = given.sum(axis=1)
        most = int(size.max(initial=0)) + 1
        strata, counts = np.unique((times * most + given[:, label]) * most + size, return_counts=True)
        sums = np.ones(1)
        for stratum, many in zip(strata.tolist(), counts.tolist(), strict=True):
            (drawn, good), size = divmod(stratum // most, most), stratum % most
            if drawn == 1:
                sums = np.convolve(sums, binomial_distribution(many, good / size))
                continue
            for _ in range(many):
                sums = np.convolve(sums, hypergeometric_distribution(drawn, good, size))
        return two_sided(sums, int(self.given[label]))

    def p(self, label: int, others: Array) -> float:
        """Return the larger two-sided p: if annotators are alike, and if they differ as the `others` do (their
        `estimates`, shape A × L × 2).
        """
        own = self.estimate(label)
        if own is None:
            return 1.0
        estimates = others[:, label] if label < others.shape[1] else others[:0, 0]
        estimates = estimates[~np.isnan(estimates[:, 1])]
        # Not zero: an annotator who is far away shifts the expectation for those who judged the same tasks.
        middle = float(np.median(estimates[:, 0])) if len(estimates) else 0.0
        beyond = p_above(Estimate(middle + abs(own.value - middle), own.variance), estimates, middle)
        return min(1.0, max(self.p_exact(label), 2 * beyond))


class StageAnswers:
    """The labels of all counted judgments of a stage, and each annotator's answers compared with the others'."""

    def __init__(self, task: Coded, part: Coded, annotator: Array, labels: Coded):
        self._labels = list(labels.values)
        self._places = {one: place for place, one in enumerate(task.values)}
        self._of_task = _counted(task.code, labels.code, len(task.values), len(labels.values))
        alone = self._of_task.sum(axis=1)[task.code] == 1
        lonely = _counted(part.code[alone], labels.code[alone], len(part.values), len(labels.values))
        self.own = {
            number: OwnAnswers(
                self._labels, GivenAnswers(part.code[mine], labels.code[mine]), self._of_task[task.code[mine]], lonely
            )
            for number, mine in rows_by(annotator).items()
        }

        self._estimates = np.array([one.estimates for one in self.own.values()]).reshape(
            len(self.own), len(labels.values), 2
        )
        self._numbers, self._n = np.array([(number, one.n) for number, one in self.own.items()]).reshape(-1, 2).T

    def estimates_beside(self, number: int | None, least: int) -> Array:
        """Return the estimates of all but this annotator who gave at least `least` comparable answers (A × L × 2)."""
        found: Array = self._estimates[(self._numbers != number) & (self._n >= least)]
        return found

    def of_excluded(self, task: Coded, labels: Coded) -> OwnAnswers:
        """Compare answers that do not count, on tasks that others answered."""
        names = [*self._labels, *(one for one in labels.values if one not in self._labels)]
        of_task = np.pad(self._of_task, ((0, 0), (0, len(names) - len(self._labels))))
        known = [
            (self._places[place], names.index(label))
            for place, label in zip(task.tolist(), labels.tolist(), strict=True)
            if place in self._places and of_task[self._places[place]].any()
        ]
        places, own = np.array(known, dtype=np.int64).reshape(-1, 2).T
        given = of_task[places] + np.eye(len(names), dtype=np.int64)[own]
        return OwnAnswers(names, GivenAnswers(np.zeros(len(own)), own), given, of_task[:0])


def _counted(rows: Array, labels: Array, height: int, width: int) -> Array:
    found: Array = np.bincount(rows * width + labels, minlength=height * width).reshape(height, width)
    return found


Shares = Mapping[tuple[str, str], tuple[int, int]]  # by type and subtype: times given, times asked


def logit_beside(own: Shares, everyone: Shares) -> tuple[Estimate, float]:
    """Return how much more often than everyone on the same types, and everyone's logit on them."""
    same, n = (sum(one[at] for one in own.values()) for at in (0, 1))
    typical = sum(of * (everyone[part][0] + 0.5) / (everyone[part][1] + 1) for part, (_, of) in own.items()) / n
    usual = math.log(typical / (1 - typical))
    value = math.log((same + 0.5) / (n - same + 0.5)) - usual
    return Estimate(value, 1 / (same + 0.5) + 1 / (n - same + 0.5)), usual
