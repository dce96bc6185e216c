"""What adaptive overlap spent, and the error that it left: the mixture with a row per task and scipy's binomials."""

from collections import Counter

import numpy as np
from scipy.stats import binom

from tests.independent import agreeing
from tests.independent.reading import TASK
from tests.independent.stages import Stage

MOST = np.linspace(0.5, 1, 26)  # the share of annotators who give the majority's answer


def figures(stage: Stage) -> dict[str, dict]:
    if stage.settings.get("certainty") is None:
        return {}
    votes = {place: [] for place in stage.tasks[TASK].itertuples(index=False, name=None)}
    for *place, answer in stage.standing[[*TASK, "answer"]].itertuples(index=False, name=None):
        votes[tuple(place)].append(stage.rule.kind(answer))
    overlaps = dict(zip(votes, stage.tasks.overlap, strict=True))
    cap = stage.settings["cap"]
    missing = {place: max(cap, n) - len(votes[place]) for place, n in overlaps.items() if len(votes[place]) < n}
    done = [pair(votes[place]) for place in votes if place not in missing]
    spent = sum(len(votes[place]) for place in votes if place not in missing)
    found = {"tasks": len(done), "judgments": spent, "at_most": sum(missing.values())}
    if len(done) < 20:
        none = dict.fromkeys(("estimated_error", "error_low", "error_high", "same_error"))
        return {"adaptive": {**found, **none, "fixed": []}}
    given = np.array([pair(of) for of in votes.values() if of])
    shares = mixture(given)
    error = np.mean([wrong(*both, shares) for both in done])
    longest = max(len(votes[place]) for place in votes if place not in missing)
    errors = {k: fixed_error(k, shares) for k in range(1, longest + 1)}
    fixed = [{"overlap": k, "judgments": k * len(done), "estimated_error": one} for k, one in errors.items()]
    same = ([one for one in fixed if one["estimated_error"] <= error + 1e-9] or fixed[-1:])[0]
    low, high = interval([pair(of) for of in votes.values() if of], done, error)
    ends = {"error_low": low, "error_high": high}
    return {"adaptive": {**found, "estimated_error": error, **ends, "same_error": same, "fixed": fixed}}


def interval(every: list[tuple], done: list[tuple], error: float) -> tuple[float, float]:
    """Leave each task out, one after the other."""
    finished, left = Counter(done), {}
    for both, n in Counter(every).items():
        rest = list(every)
        rest.remove(both)
        shares = mixture(np.array(rest))
        others = list(done)
        if n > finished[both]:
            left[both, False] = np.mean([wrong(*one, shares) for one in others]), n - finished[both]
        if finished[both]:
            others.remove(both)
            left[both, True] = np.mean([wrong(*one, shares) for one in others]), finished[both]
    values = np.repeat([one for one, _ in left.values()], [n for _, n in left.values()])
    n = len(values)
    variance = np.var(values) * (n - 1)
    effective = error * (1 - error) / variance if variance > 1e-24 else n
    return agreeing.wilson(error, effective, n, 0.0)


def pair(given: list[str]) -> tuple[int, int]:
    first, second, *_ = [*sorted(Counter(given).values(), reverse=True), 0, 0]
    return first, second


def mixture(pairs: np.ndarray) -> np.ndarray:
    first, second = pairs[:, :1], pairs[:, 1:]
    n = first + second
    likely = binom.pmf(first, n, MOST) + binom.pmf(second, n, MOST)
    shares = np.ones(26) / 26
    for _ in range(1000):
        joint = likely * shares
        shares = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def wrong(first: int, second: int, shares: np.ndarray) -> float:
    right, other = (float(binom.pmf(k, first + second, MOST) @ shares) for k in (first, second))
    return other / (right + other)


def fixed_error(k: int, shares: np.ndarray) -> float:
    return float((binom.cdf(np.ceil(k / 2) - 1, k, MOST) + (k % 2 == 0) * binom.pmf(k // 2, k, MOST) / 2) @ shares)
