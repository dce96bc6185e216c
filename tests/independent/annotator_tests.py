"""The tests that signs of annotators rest on, by scipy, and the words of signs (docs/reference/measures.md)."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from statistics import mean

import numpy as np
import pandas as pd
from scipy import stats

from annotation.releases.verification.differences import Either

FROM = 20  # judgments, picks or comparisons from which there are tests
LEAST = 5  # expected at each place
LEVEL = 0.001
POINTS = 0.1 - 1e-12  # that a share is away from what is expected
FAR, FAR_FROM = 3, 11  # standard deviations, annotators
ORDER = ("agreement", "checks", "answers", "side", "runs", "fast", "far", "comprehension", "practice")
TRIES = {"comprehension": "the questions about the rules", "practice": "the practice"}
Sign = tuple[str, str]  # kind, words


def two_sided(law, k: int) -> float:
    return min(1.0, 2 * min(float(law.cdf(k)), float(law.sf(k - 1))))


def level(found: Mapping[str, float]) -> list[str]:
    """Those with the smallest p; of two answers alone both have it."""
    least = min(found.values())
    return [name for name in found if math.isclose(found[name], least, rel_tol=1e-9, abs_tol=1e-300)]


def either(found: Sequence[dict]) -> dict | Either:
    return found[0] if len(found) == 1 else Either(found)


def answers(own: Counter, others: Counter) -> list[dict]:
    """Fisher's exact test of each answer's share; a table for each answer that has the smallest p."""
    n, of = own.total(), others.total()
    labels = sorted({*own, *others})
    if n < FROM or of < FROM or len(labels) < 2:
        return [{"p": None, "n": n, "others": of}]
    found = {label: two_sided(stats.hypergeom(n + of, own[label] + others[label], n), own[label]) for label in labels}
    p = min(1.0, min(found.values()) * len(labels))
    return [
        {"p": p, "label": one, "share": own[one] / n, "others_share": others[one] / of, "n": n, "others": of}
        for one in level(found)
    ]


def agreement(same: Mapping[str, tuple], typical: Mapping[str, float | None]) -> list[dict]:
    """By view (how often they gave what most of the others gave, of how many), and the median of the others' shares."""
    compared = {view: one for view, one in same.items() if one[1] >= FROM and typical[view] is not None}
    if not compared:
        return [{"p": None, "n": 0}]
    found = {view: float(stats.binom.cdf(right, n, typical[view])) for view, (right, n) in compared.items()}
    p = min(1.0, min(found.values()) * len(found))
    return [
        {"p": p, "on": view, "share": right / n, "others_share": typical[view], "n": n}
        for view in level(found)
        for right, n in [compared[view]]
    ]


def side(picks: pd.DataFrame) -> dict:
    shown, n = picks.many, len(picks)
    places = range(1, int(shown.max()) + 1) if n else []
    counts = [int((picks.place == place).sum()) for place in places]
    expected = [float((1 / shown[shown >= place]).sum()) for place in places]
    found = {"counts": counts, "expected": expected, "n": n}
    if n < FROM or len(counts) < 2 or min(expected) < LEAST:
        return {"p": None, **found}
    if set(shown) == {2}:
        return {"p": two_sided(stats.binom(n, 0.5), counts[0]), "by": "binomial", **found}
    square, p = stats.chisquare(counts, expected)
    return {"p": float(p), "by": "chi-square", "chi_square": float(square), "freedom": len(counts) - 1, **found}


def runs(picks: pd.DataFrame) -> dict:
    """`picks` in the order of giving."""
    place, many, n = picks.place.astype(int).to_list(), picks.many.to_numpy(), len(picks)
    lengths, at = [], 0
    for where, run in groupby(place):
        lengths.append((len(list(run)), at, where))
        at += lengths[-1][0]
    longest, first, where = max(lengths, key=lambda run: (run[0], -run[1]), default=(0, 0, None))
    repeats = n - len(lengths)
    found = {"n": n, "repeats": repeats, "longest": longest, "from": first, "place": where}
    if n < FROM:
        return {"p": None, "chance": None, **found}
    chance = mean((1 / np.maximum(many[1:], many[:-1])).tolist())
    p_repeats, p_longest = two_sided(stats.binom(n - 1, chance), repeats), run_of(longest - 1, n - 1, chance)
    p = min(1.0, 2 * min(p_repeats, p_longest))
    return {"p": p, "chance": chance, "p_repeats": p_repeats, "p_longest": p_longest, **found}


def run_of(length: int, tried: int, chance: float) -> float:
    """P(so many in a row or more): by the states of a chain that counts how many came in a row."""
    if length <= 0:
        return 1.0
    chain = np.zeros((length + 1, length + 1))
    chain[:length, 0] = 1 - chance
    chain[range(length), range(1, length + 1)] = chance
    chain[length, length] = 1
    return float(np.linalg.matrix_power(chain, tried)[0, length])


# Signs: what a test says is one where it is beyond chance and ten points away


def spoken(test: Mapping, share: float, expected: float) -> bool:
    return test["p"] < LEVEL and abs(share - expected) >= POINTS


def of_answers(test: Mapping) -> list[Sign]:
    if test["p"] is None or not spoken(test, test["share"], test["others_share"]):
        return []
    shares = f"{test['share']:.0%} of {test['n']} answers, others {test['others_share']:.0%}"
    return [("answers", f"{test['label']} in {shares}")]


def of_agreement(test: Mapping) -> list[Sign]:
    if test["p"] is None or test["share"] > test["others_share"]:
        return []
    if not spoken(test, test["share"], test["others_share"]):
        return []
    shares = f"{test['share']:.0%} of {test['n']} screens, others on {test['others_share']:.0%}"
    return [("agreement", f"gave what most gave on {shares} ({test['on']})")]


def of_side(test: Mapping) -> list[Sign]:
    if test["p"] is None:
        return []
    over = [count - wanted for count, wanted in zip(test["counts"], test["expected"], strict=True)]
    top = over.index(max(over))
    share = test["counts"][top] / test["n"]
    if not spoken(test, share, test["expected"][top] / test["n"]):
        return []
    return [("side", f"picked place {top + 1} in {share:.0%} of {test['n']} picks")]


def of_runs(test: Mapping) -> list[Sign]:
    if test["p"] is None or test["p"] >= LEVEL:
        return []
    tried, chance = test["n"] - 1, test["chance"]
    if test["p_longest"] < test["p_repeats"]:
        return [("runs", f"place {test['place']} {test['longest']} times in a row")]
    if not spoken(test, test["repeats"] / tried, chance):
        return []
    return [("runs", f"the same place as just before {test['repeats']} times, by chance {chance * tried:.0f}")]


def of_speed(judged: int, seconds: float | None, typical: float | None) -> list[Sign]:
    """`typical` is the median of all, in milliseconds."""
    if judged < FROM or seconds is None or not typical or seconds * 1000 >= typical / 2:
        return []
    return [("fast", f"{seconds * 1000 / 1000:.1f} s a screen, everybody {typical / 1000:.1f} s")]


def of_checks(found: Mapping | None) -> list[Sign]:
    if not found or stats.binom.cdf(found["right"], found["n"], (1 + found["guess"]) / 2) >= 0.05:
        return []
    guessed = found["n"] * found["guess"]
    return [("checks", f"{found['right']} of {found['n']} checks right, guessing gets {guessed:.1f}")]


def of_tries(passed: Mapping[str, bool | None]) -> list[Sign]:
    return [(kind, f"did not pass {words}") for kind, words in TRIES.items() if passed.get(kind) is False]


def of_distance(away: float | None, n: int) -> list[Sign]:
    if away is None or abs(away) <= FAR:
        return []
    side = "faster" if away < 0 else "slower"
    return [("far", f"{abs(away):.1f} standard deviations {side} than the mean of {n} annotators")]


def told(found: Sequence[dict], sign: Callable[[Mapping], list[Sign]], stage: int | None) -> list[dict | Either]:
    """The sign of a test as the files have it; of a test that may read one way or another, either sign."""
    each = [written(sign(one), stage) for one in found]
    return [either([one[0] for one in each])] if all(each) else []


def written(found: Sequence[Sign], stage: int | None) -> list[dict]:
    return [{"kind": kind, "words": words, "stage": stage} for kind, words in found]


def place_of(sign: dict | Either) -> int:
    return ORDER.index((sign[0] if isinstance(sign, Either) else sign)["kind"])
