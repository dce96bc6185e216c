"""Agreement on tables of judgments: percent, Cohen's kappa of each pair, Krippendorff's alpha with its interval."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy.stats

from tests.independent.reading import TASK

TINY = 1e-24
FEW_SHARED = 20  # items of a pair, on average, below which the mean kappa has no interval
Labels = tuple[str, ...]
Said = dict[tuple, list[tuple[str, str]]]  # (annotator, label) of each task's judgments


def agreement(name: str, said: Said) -> dict:
    pairs, found = kappas(said), units(said)
    several = [sorted(given, key=lambda one: number(one[0])) for given in said.values() if len(given) > 1]
    value, low, high = cohen([[(number(who), label) for who, label in given] for given in several]) or (None,) * 3
    defined = sum(pair["value"] is not None for pair in pairs)
    mean = {"value": value, "low": low, "high": high, "n": defined, "left_out": len(pairs) - defined}
    return {
        "on": name,
        "measures": {"percent": percent(found), "cohen_mean": mean, "alpha_nominal": alpha_with_interval(found)},
        "kappa_pairs": pairs,
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
    low, high = interval(found, _share_of_pairs, mixed(found), 0.0)
    return {"value": same / n if n else None, "low": low, "high": high, "n": n}


def _share_of_pairs(found: Sequence[Labels]) -> float | None:
    pairs = sum(math.comb(len(labels), 2) * times for labels, times in Counter(found).items())
    same = sum(
        math.comb(count, 2) * times for labels, times in Counter(found).items() for count in Counter(labels).values()
    )
    return same / pairs if pairs else None


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


def cohen(given: list[list], only: int | None = None) -> tuple | None:
    """(mean of the pairs, low, high), of items with two judgments or more; of the pairs with `only`."""
    whole = of_pairs(given, only)
    kappas = {pair: kappa(said) for pair, said in whole.items()}
    kappas = {pair: value for pair, value in kappas.items() if value is not None}
    if not kappas:
        return None
    value, shared = float(np.mean(list(kappas.values()))), [said.total() for said in whole.values()]
    given = [one for one in given if any(pair in kappas for pair in both_of(one, only))]
    if len(given) < 2 or np.mean(shared) < FEW_SHARED:
        return value, None, None
    loss, bias = [], dict.fromkeys(kappas, 0.0)
    for one in given:
        lost = 0.0
        for pair in both_of(one, only):
            if pair in kappas:
                said = dict(one)
                less = kappa(whole[pair] - Counter([(said[pair[0]], said[pair[1]])]))
                lost += 0 if less is None else kappas[pair] - less
                bias[pair] -= 0 if less is None else kappas[pair] - less
        loss.append(lost / len(kappas))
    variance, n = np.var(loss) * (len(loss) - 1), len(loss)
    off = np.mean([bias[pair] * (1 - 1 / whole[pair].total()) for pair in kappas])
    if value < 1 and variance > 0:
        effective = (1 - value**2) / variance
    else:
        effective = 2 * n / np.mean([1 / by_chance(whole[pair]) for pair in kappas])
    return value, *wilson((min(1, max(-1, value - off)) + 1) / 2, effective, n, -1.0)


def by_chance(said: Counter) -> float:
    """How often two labels drawn from the two annotators' own would differ."""
    first, second, n = Counter(), Counter(), said.total()
    for (one, other), times in said.items():
        first[one] += times
        second[other] += times
    return 1 - sum(first[label] * second[label] for label in first) / n**2


def both_of(one: list[tuple], only: int | None) -> list[tuple]:
    return [(a, b) for (a, _), (b, _) in itertools.combinations(one, 2) if only in (None, a, b)]


def of_pairs(given: list[list], only: int | None) -> dict[tuple, Counter]:
    """How often each two annotators said what of an item."""
    found: dict[tuple, Counter] = {}
    for one in given:
        said = dict(one)
        for a, b in both_of(one, only):
            found.setdefault((a, b), Counter())[said[a], said[b]] += 1
    return found


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
    low, high = interval(found, alpha, mixed(found))
    return {"value": alpha(found), "low": low, "high": high, "n": len(found)}


def mixed(found: Sequence[Labels]) -> Labels:
    """One more task with as many judgments as any has, half of the most frequent label and half of the next."""
    said = Counter(label for unit in found for label in unit)
    first, second = [*sorted(said, key=lambda label: (-said[label], label)), ""][:2] if said else ("", "")
    size = max(map(len, found), default=2)
    return tuple(sorted([first] * (size - size // 2) + [second] * (size // 2)))


def interval(
    found: Sequence, measure: Callable, more: object, least: float = -1.0
) -> tuple[float | None, float | None]:
    """95%, of a measure of tasks: each task is left out in turn (see measures.md). `more` is one that differs."""
    value, n = measure(found), len(found)
    if value is None or n < 2:
        return None, None
    some = found if left_out(found, measure) > TINY else [*found, more]
    then, variance = measure(some), left_out(some, measure)
    effective = (then - least) * (1 - then) / variance if variance > TINY else n
    return wilson((value - least) / (1 - least), effective, n, least)


def wilson(share: float, effective: float, n: int, least: float) -> tuple[float, float]:
    """Where (share - x)² is t² times the variance x (1 - x) / effective; scaled back to what is at least `least`."""
    square = (scipy.stats.t.ppf(0.975, n - 1) if n <= 200 else scipy.stats.norm.ppf(0.975)) ** 2 / effective
    low, high = sorted(np.roots([1 + square, -2 * share - square, share**2]).real)
    return float(least + (1 - least) * low), float(least + (1 - least) * high)


def left_out(found: Sequence, measure: Callable) -> float:
    """The jackknife's variance; tasks that are alike leave the same behind."""
    n, whole, kinds = len(found), measure(found), Counter(found)
    values, times = [], list(kinds.values())
    for kind in kinds:
        rest = [one for one, count in kinds.items() for _ in range(count - (one == kind))]
        less = measure(rest)
        values.append(whole if less is None else less)
    mean = np.average(values, weights=times)
    return float((n - 1) / n * np.dot(times, (np.array(values) - mean) ** 2))


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
