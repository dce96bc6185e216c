"""Measure how often annotators who differ only in speed get the sign *fast*.

The logarithm of a time is normal: annotators' medians differ with the standard deviation `sd`, an annotator's judgments
with WITHIN. Nobody judges without looking.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from annotation.measures import warning_signs

SEED, WITHIN = 20240607, 0.6
PEOPLE, SD = (3, 5, 12, 30), (0.0, 0.25, 0.5, 0.75)
TASKS = (20, 100)
HEADS = ("annotators", "judgments each", *(f"sd {sd:g}" for sd in SD))


def rows(studies: int) -> Iterator[list[str]]:
    """Yield the share of annotators with the sign (of studies with one)."""
    for people, tasks in product(PEOPLE, TASKS):
        found = (signs(people, tasks, sd, studies) for sd in SD)
        yield [str(people), str(tasks), *(f"{100 * each:.2f} % ({100 * any_:.1f} %)" for each, any_ in found)]


def signs(people: int, tasks: int, sd: float, studies: int) -> tuple[float, float]:
    dice, who = np.random.default_rng(SEED), np.repeat(np.arange(people), tasks)
    fast = np.empty((studies, people), bool)
    for study in fast:
        logs = sd * dice.standard_normal(people)[:, None] + WITHIN * dice.standard_normal((people, tasks))
        times = np.round(5000 * np.exp(logs))
        usual = warning_signs.usual_times(times.ravel(), who)
        study[:] = [bool(warning_signs.fast_sign(tasks, float(np.median(own)), usual)) for own in times]
    return float(fast.mean()), float(fast.any(axis=1).mean())
