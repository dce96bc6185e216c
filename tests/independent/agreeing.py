"""Agreement on tables of judgments: percent, Cohen's kappa of each pair, Krippendorff's alpha with its interval."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from tests.independent.reading import TASK

SEED, RESAMPLES = 20240601, 1000
Labels = tuple[str, ...]
Said = dict[tuple, list[tuple[str, str]]]  # (annotator, label) of each task's judgments


def agreement(name: str, said: Said) -> dict:
    pairs = kappas(said)
    defined = [pair["value"] for pair in pairs if pair["value"] is not None]
    mean = float(np.mean(defined)) if defined else None
    found = units(said)
    return {
        "on": name,
        "percent": percent(found),
        "kappa_mean": {"value": mean, "pairs": len(defined), "left_out": len(pairs) - len(defined)},
        "kappa_pairs": pairs,
        "alpha": alpha_with_interval(found),
    }


def by_task(rows: pd.DataFrame, view: Callable[[str], str]) -> Said:
    """What the rows' annotators said, in the order of the rows; the labels are what the view makes of answers."""
    found: Said = defaultdict(list)
    labels = {answer: view(answer) for answer in rows.answer.unique()}
    given: dict[tuple[str, str], tuple[str, str]] = {}  # each once, however many judgments say so
    for *task, who, answer in rows[[*TASK, "annotator", "answer"]].itertuples(index=False, name=None):
        one = (who, labels[answer])
        found[tuple(task)].append(given.setdefault(one, one))
    return dict(found)


def units(said: Said) -> list[Labels]:
    """The labels of each task that has two or more, in alphabetical order."""
    return [tuple(sorted(label for _, label in given)) for given in said.values() if len(given) > 1]


def percent(found: Sequence[Labels]) -> dict:
    same = n = 0
    for labels, times in Counter(found).items():
        pairs = [first == second for first, second in itertools.combinations(labels, 2)]
        same, n = same + sum(pairs) * times, n + len(pairs) * times
    return {"value": same / n if n else None, "n": n}


def kappas(one: Said) -> list[dict]:
    """Of each two annotators with a task in common, by their numbers."""
    said: dict[tuple[int, int], Counter] = defaultdict(Counter)
    for given in one.values():
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
    for unit, times in Counter(found).items():
        for first, second in itertools.permutations(unit, 2):
            coincidences[places[first], places[second]] += times / (len(unit) - 1)
    sums = coincidences.sum(axis=1)
    n = sums.sum()
    expected = n * n - (sums**2).sum()
    return None if len(labels) < 2 else float(1 - (n - 1) * (n - np.trace(coincidences)) / expected)


def alpha_with_interval(found: Sequence[Labels]) -> dict:
    interval = bootstrap(found) if len(found) > 1 else {"low": None, "high": None}
    return {"value": alpha(found), "n": len(found), "interval": interval}


def bootstrap(found: Sequence[Labels]) -> dict:
    """1,000 resamples of tasks, drawn as how often each pattern of label counts comes up (see measures.md)."""
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


def with_majority(said: Said) -> dict[str, tuple[int, int]]:
    """Of each annotator, how often they gave the one label that most of the others gave, of how many."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for given in said.values():
        votes = Counter(label for _, label in given)
        modes = {label: single_mode(votes - Counter([label])) for label in votes}
        for who, label in given:
            most = modes[label]
            if most is not None:
                found[who][0] += label == most
                found[who][1] += 1
    return {who: (same, n) for who, (same, n) in found.items()}


def single_mode(votes: Mapping[str, int]) -> str | None:
    most = max(votes.values(), default=0)
    top = [label for label, count in votes.items() if count == most]
    return top[0] if len(top) == 1 else None
