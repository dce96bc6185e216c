"""What adaptive overlap spent, and the error that it left: the mixture with a row per task and scipy's binomials, the
interval by linear programs.
"""

from collections import Counter

import numpy as np
import scipy.stats
from scipy.optimize import linprog
from scipy.stats import beta, binom

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
    overlap, cap = stage.settings["overlap"], stage.settings["cap"]
    missing = {place: max(cap, n) - len(votes[place]) for place, n in overlaps.items() if len(votes[place]) < n}
    done = [place for place in votes if place not in missing]
    spent = sum(len(votes[place]) for place in done)
    found = {"tasks": len(done), "judgments": spent, "at_most": sum(missing.values())}
    if len(done) < 20:
        none = dict.fromkeys(("estimated_error", "error_low", "error_high", "same_error"))
        return {"adaptive": {**found, **none, "fixed": []}}
    given = np.array([pair(of) for of in votes.values() if of])
    shares = mixture(given)
    leaves = left_wrong((0, 0), overlap, stage.settings["certainty"], cap)
    error = float(leaves @ shares)
    longest = max(len(votes[place]) for place in done)
    errors = {k: fixed_error(k, shares) for k in range(1, longest + 1)}
    fixed = [{"overlap": k, "judgments": k * len(done), "estimated_error": one} for k, one in errors.items()]
    same = ([one for one in fixed if one["estimated_error"] <= error + 1e-9] or fixed[-1:])[0]
    low, high = sorted(abs(float(leaves @ furthest(given, shares, sign * leaves))) for sign in (-1, 1))
    ends = {"error_low": low, "error_high": high}
    return {"adaptive": {**found, "estimated_error": error, **ends, "same_error": same, "fixed": fixed}}


def left_wrong(votes: tuple[int, int], overlap: int, certain: float, cap: int) -> np.ndarray:
    """How likely a task with so many votes for the majority's answer and against it ends with the other one ahead."""
    right, other = votes
    n, ahead, behind = right + other, max(votes), min(votes)
    surely = beta.sf(0.5, ahead + 1, behind + 1)
    if n >= overlap and (n >= cap or cap - n < ahead - behind or surely >= certain):
        return np.full(26, 0.5 if right == other else float(other > right))
    more = (left_wrong(one, overlap, certain, cap) for one in ((right + 1, other), (right, other + 1)))
    return MOST * next(more) + (1 - MOST) * next(more)


def furthest(given: np.ndarray, shares: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The mixture with the largest gain of those as likely as exp(-χ²/2) of the most likely one, by supporting planes
    (Veinott 1967): a linear program, then a plane where the way to its solution leaves what is likely enough.
    """
    likely = of_pairs(given)
    floor = np.log(likely @ shares).sum() - scipy.stats.chi2.ppf(0.95, 1) / 2
    planes, ends = [], []
    fine = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for _ in range(300):
        bounds = (np.array(planes), ends) if planes else (None, None)
        goal = linprog(-gain, *bounds, np.ones((1, 26)), [1], (0, 1), options=fine).x
        near, far = 0.0, 1.0
        for _ in range(60):
            middle = (near + far) / 2
            enough = np.log(likely @ (shares + middle * (goal - shares))).sum() >= floor
            near, far = (middle, far) if enough else (near, middle)
        at = shares + near * (goal - shares)
        if gain @ (goal - at) < 1e-11:
            break
        slope = (likely / (likely @ at)[:, None]).mean(axis=0)
        planes.append(-slope)
        ends.append(-slope @ at)
    return at


def pair(given: list[str]) -> tuple[int, int]:
    first, second, *_ = [*sorted(Counter(given).values(), reverse=True), 0, 0]
    return first, second


def mixture(pairs: np.ndarray) -> np.ndarray:
    likely = of_pairs(pairs)
    shares = np.ones(26) / 26
    for _ in range(1000):
        joint = likely * shares
        shares = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def of_pairs(pairs: np.ndarray) -> np.ndarray:
    first, second = pairs[:, :1], pairs[:, 1:]
    return binom.pmf(first, first + second, MOST) + binom.pmf(second, first + second, MOST)


def fixed_error(k: int, shares: np.ndarray) -> float:
    return float((binom.cdf(np.ceil(k / 2) - 1, k, MOST) + (k % 2 == 0) * binom.pmf(k // 2, k, MOST) / 2) @ shares)
