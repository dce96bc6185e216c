"""Whether an annotator's answers follow one model's beyond what the items and the other annotators explain. Pure.

Every answer, a model's too, is right or wrong by the material. For one annotator and one model, tasks are in one
stratum if equally many others judged them and equally many of these were wrong. Within a stratum the model's wrong
answers could as well be on other tasks: if the annotator works alone, the number of tasks that both have wrong is
hypergeometric, as if the model's answers were permuted within the stratum. The sum over strata is tested on its upper
side. Given how often each is wrong in each stratum, this number also says how often both are right.

The level is shared among the models, so that at most `LEVEL` of the annotators who work alone get a sign. If a model
errs where people do for a reason that the other annotators' answers do not show, the rate is higher: a sign is a prompt
to look, never a verdict.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.measures.exact_tests import hypergeometric_distribution

LEVEL = 0.01  # of annotators who work alone
LEAST = 20  # tasks that the annotator, another and the model answered


@dataclass(frozen=True, slots=True)
class Given:
    """An annotator's answer to a task."""

    task: int
    annotator: int
    right: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """Of `n` tasks the model has `model_wrong` wrong; the annotator `both` of these, where `expected` would be by
    chance. `p` is the upper tail's probability.
    """

    annotator: int
    model: str
    n: int
    model_wrong: int
    both: int
    expected: float
    p: float


def followed(given: Iterable[Given], models: Mapping[str, Mapping[int, bool]]) -> list[Followed]:
    """Each annotator with each model if they share `LEAST` tasks. `models`: whether each is right, by task."""
    of_task: dict[int, dict[int, bool]] = defaultdict(dict)
    of_annotator: dict[int, list[int]] = defaultdict(list)
    for one in given:
        of_task[one.task][one.annotator] = one.right
        of_annotator[one.annotator].append(one.task)
    found = []
    for annotator, tasks in sorted(of_annotator.items()):
        shared = [task for task in tasks if len(of_task[task]) > 1]
        for model, right in models.items():
            known = [task for task in shared if task in right]
            if len(known) >= LEAST:
                found.append(_test(annotator, model, known, of_task, right))
    return found


def _test(
    annotator: int,
    model: str,
    tasks: Sequence[int],
    of_task: Mapping[int, Mapping[int, bool]],
    right: Mapping[int, bool],
) -> Followed:
    strata: dict[tuple[int, int], Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for task in tasks:
        others = [said for who, said in of_task[task].items() if who != annotator]
        strata[len(others), others.count(False)][of_task[task][annotator], right[task]] += 1
    sums, expected = np.ones(1), 0.0
    for counts in strata.values():
        own, wrong = (sum(n for pair, n in counts.items() if not pair[place]) for place in (0, 1))
        sums = np.convolve(sums, hypergeometric_distribution(own, wrong, counts.total()))
        expected += own * wrong / counts.total()
    both = sum(counts[False, False] for counts in strata.values())
    model_wrong = sum(not right[task] for task in tasks)
    return Followed(annotator, model, len(tasks), model_wrong, both, expected, min(1.0, float(sums[both:].sum())))


def suspects(found: Sequence[Followed], models: int) -> list[Followed]:
    """Of each annotator the most likely model, if it is below the level that the models share; the likeliest first."""
    best: dict[int, Followed] = {}
    for one in found:
        if one.p <= LEVEL / max(1, models) and (one.annotator not in best or one.p < best[one.annotator].p):
            best[one.annotator] = one
    return sorted(best.values(), key=lambda one: (one.p, one.annotator))
