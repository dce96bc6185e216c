"""Test whether an annotator copies one model's answers, beyond what items and other annotators explain. Pure.

Every answer, including a model's, is right or wrong according to the material. For one annotator and one model, tasks
are in one stratum if the same number of others judged them and the same number of these were wrong. Within a stratum
the model's wrong answers could just as well be on other tasks: if the annotator works alone, the number of tasks both
get wrong is hypergeometric, as if the model's answers were permuted within the stratum. The sum over strata is tested
on its upper side. Given how often each is wrong in each stratum, this number also determines how often both are right.

A model may err on items that people find hard in ways that two or three other answers do not reveal. Then all
annotators share mistakes with it. Their common odds ratio (Mantel and Haenszel 1959), without the annotator in question
and without those whose own test is significant among all, is the null hypothesis in place of 1 if it is larger: the
distribution is then Fisher's noncentral hypergeometric one.

The level is shared among the models, so that at most `LEVEL` of the annotators who work alone get a sign. If annotators
share mistakes with a model to different degrees, the rate can be higher. A sign is a reason to look, never a verdict.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.measures.exact_tests import hypergeometric_distribution

Table = Counter[tuple[bool, bool]]

LEVEL = 0.01  # share of annotators working alone who get a sign
LEAST = 20  # tasks answered by the annotator, someone else and the model


@dataclass(frozen=True, slots=True)
class Given:
    """An annotator's answer to a task."""

    task: int
    annotator: int
    right: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """The model gets `model_wrong` of `n` tasks wrong, and the annotator `both` of these; `expected` is the number by
    chance if the annotator shared as many mistakes with the model as others do. `p` is the upper tail's probability.
    """

    annotator: int
    model: str
    n: int
    model_wrong: int
    both: int
    expected: float
    p: float


def followed(given: Iterable[Given], models: Mapping[str, Mapping[int, bool]]) -> list[Followed]:
    """Compare each annotator with each model if they share `LEAST` tasks. `models`: whether each is right, by task."""
    of_task: dict[int, dict[int, bool]] = defaultdict(dict)
    of_annotator: dict[int, list[int]] = defaultdict(list)
    for one in given:
        of_task[one.task][one.annotator] = one.right
        of_annotator[one.annotator].append(one.task)
    strata = {}
    for annotator, tasks in sorted(of_annotator.items()):
        shared = [task for task in tasks if len(of_task[task]) > 1]
        for model, right in models.items():
            known = [task for task in shared if task in right]
            if len(known) >= LEAST:
                strata[annotator, model] = _strata(annotator, known, of_task, right)
    found: list[Followed] = []
    for model in models:
        of_model = {annotator: tables for (annotator, of), tables in strata.items() if of == model}
        alone = [one for one, tables in of_model.items() if _tested(one, model, tables).p > LEVEL / len(of_model)]
        crossed = {one: _crossed(of_model[one]) for one in alone}
        for annotator, tables in of_model.items():
            together, apart = (sum(pair[side] for one, pair in crossed.items() if one != annotator) for side in (0, 1))
            found.append(_tested(annotator, model, tables, max(1.0, together / apart) if apart else 1.0))
    return sorted(found, key=lambda one: one.annotator)


def _strata(
    annotator: int, tasks: Sequence[int], of_task: Mapping[int, Mapping[int, bool]], right: Mapping[int, bool]
) -> list[Table]:
    """Count, in each stratum, how many tasks (the annotator, the model) got right or wrong."""
    strata: dict[tuple[int, int], Table] = defaultdict(Counter)
    for task in tasks:
        others = [said for who, said in of_task[task].items() if who != annotator]
        strata[len(others), others.count(False)][of_task[task][annotator], right[task]] += 1
    return list(strata.values())


def _crossed(tables: Sequence[Table]) -> tuple[float, float]:
    """Return the numerator and denominator of the common odds ratio."""
    together = sum(of[False, False] * of[True, True] / of.total() for of in tables)
    return together, sum(of[False, True] * of[True, False] / of.total() for of in tables)


def _tested(annotator: int, model: str, tables: Sequence[Table], odds: float = 1.0) -> Followed:
    sums = np.ones(1)
    for of in tables:
        own, wrong = of[False, True] + of[False, False], of[True, False] + of[False, False]
        sums = np.convolve(sums, hypergeometric_distribution(own, wrong, of.total(), odds))
    both = sum(of[False, False] for of in tables)
    n, model_wrong = sum(of.total() for of in tables), sum(of[True, False] + of[False, False] for of in tables)
    expected = float(sums @ np.arange(len(sums)))
    return Followed(annotator, model, n, model_wrong, both, expected, min(1.0, float(sums[both:].sum())))


def suspects(found: Sequence[Followed], models: int) -> list[Followed]:
    """Return each annotator's likeliest model if it passes the level shared among the models; the likeliest first."""
    best: dict[int, Followed] = {}
    for one in found:
        if one.p <= LEVEL / max(1, models) and (one.annotator not in best or one.p < best[one.annotator].p):
            best[one.annotator] = one
    return sorted(best.values(), key=lambda one: (one.p, one.annotator))
