"""Agreement on tables of judgments: percent, Cohen's kappa of each pair, Krippendorff's alpha with its interval."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from annotation.releasing.verification.recomputing.reading import TASK

SEED, RESAMPLES = 20240601, 1000
Labels = Sequence[str]


def agreement(name: str, table: pd.DataFrame) -> dict:
    pairs = kappas(table)
    defined = [pair["value"] for pair in pairs if pair["value"] is not None]
    mean = float(np.mean(defined)) if defined else None
    found = units(table)
    return {
        "on": name,
        "percent": percent(found),
        "kappa_mean": {"value": mean, "pairs": len(defined), "left_out": len(pairs) - len(defined)},
        "kappa_pairs": pairs,
        "alpha": alpha_with_interval(found),
    }


def by_task(table: pd.DataFrame) -> dict[tuple, list[tuple[str, str]]]:
    """(annotator, label) of each task's judgments, tasks in order."""
    found = defaultdict(list)
    for *task, who, label in table[[*TASK, "annotator", "label"]].itertuples(index=False, name=None):
        found[tuple(task)].append((who, label))
    return dict(sorted(found.items()))


def units(table: pd.DataFrame) -> list[list[str]]:
    """The labels of each task that has two or more, tasks in order."""
    return [[label for _, label in said] for said in by_task(table).values() if len(said) > 1]


def percent(found: Sequence[Labels]) -> dict:
    pairs = [first == second for labels in found for first, second in itertools.combinations(labels, 2)]
    return {"value": sum(pairs) / len(pairs) if pairs else None, "n": len(pairs)}


def kappas(table: pd.DataFrame) -> list[dict]:
    """Of each two annotators with a task in common, by their numbers."""
    said: dict[tuple[int, int], Counter] = defaultdict(Counter)
    for given in by_task(table).values():
        numbered = sorted((number(who), label) for who, label in given)
        for (first, one), (second, other) in itertools.combinations(numbered, 2):
            said[first, second][one, other] += 1
    return [{"first": first, "second": second, **of_pair(found)} for (first, second), found in sorted(said.items())]


def of_pair(found: Mapping[tuple[str, str], int]) -> dict:
    n = sum(found.values())
    same = sum(times for (one, other), times in found.items() if one == other)
    return {"value": kappa(found), "n": n, "percent": same / n}


def kappa(said: Mapping[tuple[str, str], int]) -> float | None:
    """Cohen (1960) of (first's label, second's) with how often; None where both gave one label alone."""
    if len({label for pair in said for label in pair}) < 2:
        return None
    n, first, second = sum(said.values()), Counter(), Counter()
    for (one, other), times in said.items():
        first[one] += times
        second[other] += times
    observed = sum(times for (one, other), times in said.items() if one == other) / n
    chance = sum(times * second[label] for label, times in first.items()) / n**2
    return (observed - chance) / (1 - chance)


def number(name: str) -> int:
    """Of an annotator, A-07 being 7."""
    return int(name.removeprefix("A-"))


def alpha(found: Sequence[Labels]) -> float | None:
    """Krippendorff (2011): 1 - D_o / D_e from the coincidence matrix, nominal."""
    labels = sorted({label for unit in found for label in unit})
    places = {label: place for place, label in enumerate(labels)}
    coincidences = np.zeros((len(labels), len(labels)))
    for unit in found:
        for first, second in itertools.permutations(unit, 2):
            coincidences[places[first], places[second]] += 1 / (len(unit) - 1)
    sums = coincidences.sum(axis=1)
    n = sums.sum()
    expected = n * n - (sums**2).sum()
    return None if len(labels) < 2 else float(1 - (n - 1) * (n - np.trace(coincidences)) / expected)


def alpha_with_interval(found: Sequence[Labels]) -> dict:
    interval = bootstrap(found) if len(found) > 1 else {"low": None, "high": None}
    return {"value": alpha(found), "n": len(found), "interval": interval}


def bootstrap(found: Sequence[Labels]) -> dict:
    """1,000 resamples of tasks, drawn as how often each pattern of label counts comes up (docs/measures.md)."""
    labels = sorted({label for unit in found for label in unit})
    patterns = sorted(Counter(tuple(unit.count(label) for label in labels) for unit in found).items())
    times = np.array([count for _, count in patterns])
    draws = np.random.default_rng(SEED).multinomial(len(found), times / len(found), RESAMPLES)
    counts = np.array([pattern for pattern, _ in patterns])
    sizes = counts.sum(axis=1, keepdims=True)
    apart = (counts * (sizes - counts) / (sizes - 1)).sum(axis=1)
    values = []
    for draw in draws:
        sums = (counts * draw[:, None]).sum(axis=0)
        if (sums > 0).sum() > 1:
            n = sums.sum()
            values.append(1 - (n - 1) * (apart * draw).sum() / (n * n - (sums**2).sum()))
    if not values:
        return {"low": None, "high": None}
    return {"low": float(np.quantile(values, 0.025)), "high": float(np.quantile(values, 0.975))}


def with_majority(table: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Of each annotator, how often they gave the one label that most of the others gave, of how many."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for said in by_task(table).values():
        votes = Counter(label for _, label in said)
        for who, label in said:
            most = single_mode(votes - Counter([label]))
            if most is not None:
                found[who][0] += label == most
                found[who][1] += 1
    return {who: (same, n) for who, (same, n) in found.items()}


def single_mode(votes: Mapping[str, int]) -> str | None:
    top = [label for label, count in votes.items() if count == max(votes.values())]
    return top[0] if len(top) == 1 else None
