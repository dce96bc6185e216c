"""The tests that signs of annotators rest on, by scipy, and the words of signs (docs/reference/measures.md)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import mean

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

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


def least(found: Mapping[str, float]) -> str:
    """The first of those with the smallest p; of two answers alone both have it."""
    return next(name for name in found if math.isclose(found[name], min(found.values()), rel_tol=1e-9, abs_tol=1e-300))


Stratum = tuple[int, Counter, Counter]  # how many answers of the annotator, which, and which of everybody


def strata(mine: pd.DataFrame, everyone: pd.DataFrame, out: bool) -> list[Stratum]:
    """Both with the columns task, part and label. Of somebody who is excluded nothing is among everybody's."""
    tasks = {task: Counter(rows.label) for task, rows in everyone.groupby("task")}
    alone = everyone[[tasks[task].total() == 1 for task in everyone.task]]
    found, lonely = [], {}
    for row in mine.itertuples():
        votes = tasks.get(row.task, Counter()) + (Counter([row.label]) if out else Counter())
        if votes.total() > 1:
            found.append((1, Counter([row.label]), votes))
        elif not out:
            lonely.setdefault(row.part, Counter())[row.label] += 1
    for part, own in lonely.items():
        votes = Counter(alone[[one == part for one in alone.part]].label)
        if votes.total() > own.total():
            found.append((own.total(), own, votes))
    return found


def beyond(own: tuple[float, float], others: Sequence[tuple[float, float]]) -> float:
    """The upper tail of an estimate with its variance, among others who differ: Paule and Mandel's variance of those
    within three standard deviations by the median of what each alone says of it.
    """
    if not others:
        return 1.0
    values, variances = np.array(others).T

    rough = max(0, np.median(values**2 / stats.chi2.ppf(0.5, 1) - variances))
    near = np.abs(values) <= 3 * np.sqrt(variances + rough)
    values, variances = values[near], variances[near]
    more, falls = 0.0, lambda more: np.sum(values**2 / (variances + more)) - len(values)
    if falls(0) > 0:
        more = optimize.brentq(falls, 0, 1e6, xtol=1e-15)
    return float(stats.t.sf(own[0] / np.sqrt(own[1] + more), max(1, len(values) - 1)))


def moments(found: Sequence[Stratum]) -> dict[str, tuple[float, float]]:
    """Of each label that tells anything, by one step from no difference: how much likelier it is, with the variance."""
    known = {}
    for label in sorted({label for _, _, votes in found for label in votes}):
        rows = np.array([(drawn, own[label], votes[label], votes.total()) for drawn, own, votes in found], float)
        drawn, given, good, size = rows.T
        total = float((drawn * good * (size - good) * (size - drawn) / size**2 / (size - 1)).sum())
        if total > 1e-12:
            known[label] = float((given - drawn * good / size).sum()) / total, 1 / total
    return known


def answers(own: Sequence[Stratum], others: Sequence[dict[str, tuple[float, float]]]) -> dict:
    """Each answer's number, as if all who judged a task were alike, and as if they differed like the others."""
    n, rest = sum(drawn for drawn, _, _ in own), sum(votes.total() - drawn for drawn, _, votes in own)
    estimates = moments(own)
    if n < FROM or not estimates:
        return {"p": None, "n": n, "others": rest}
    found = {}
    for label, (value, variance) in estimates.items():
        law = np.ones(1)
        for drawn, _, votes in own:
            one = votes[label] / votes.total()
            several = stats.hypergeom(votes.total(), votes[label], drawn).pmf if drawn > 1 else None
            law = np.convolve(law, several(np.arange(drawn + 1)) if several else [1 - one, one])
        given = sum(mine[label] for _, mine, _ in own)
        exact = min(1, 2 * min(law[: given + 1].sum(), law[given:].sum()))
        compared = [known[label] for known in others if label in known]
        middle = np.median([one[0] for one in compared]) if compared else 0
        among = beyond((abs(value - middle), variance), [(one[0] - middle, one[1]) for one in compared])
        found[label] = float(min(1, max(exact, 2 * among)))
    label = least(found)
    by_others = sum(drawn * (votes[label] - mine[label]) / (votes.total() - drawn) for drawn, mine, votes in own)
    share = sum(mine[label] for _, mine, _ in own) / n
    p = min(1.0, found[label] * len(found))
    return {"p": p, "label": label, "share": share, "others_share": by_others / n, "n": n, "others": rest}


Parts = Mapping[tuple[str, str], tuple[int, int]]  # by type and subtype


def whole(of: Parts) -> tuple[int, int]:
    return sum(right for right, _ in of.values()), sum(n for _, n in of.values())


def agreement(own: Mapping[str, Parts], others: Mapping[str, Sequence[Parts]]) -> dict:
    """By view how often they gave what most of the others gave, of how many, and the others who have enough."""
    found, shares = {}, {}
    for view, mine in own.items():
        right, n = whole(mine)
        rest = [of for of in others[view] if whole(of)[1] >= FROM]
        if n < FROM or not rest:
            continue
        usual = {
            part: (sum(of[part][0] for of in [*rest, mine] if part in of) + 0.5)
            / (sum(of[part][1] for of in [*rest, mine] if part in of) + 1)
            for part in {part for of in [*rest, mine] for part in of}
        }

        def away(of: Parts, usual: Mapping = usual) -> tuple[float, float, float]:
            same, many = whole(of)
            expected = float(special.logit(sum(n * usual[part] for part, (_, n) in of.items()) / many))
            wrong = many - same + 0.5
            return float(np.log((same + 0.5) / wrong)) - expected, 1 / (same + 0.5) + 1 / wrong, expected

        each = [away(of) for of in rest]
        middle, (value, variance, expected) = float(np.median([one[0] for one in each])), away(mine)
        typical = float(special.expit(expected + middle))
        among = beyond((middle - value, variance), [(middle - one[0], one[1]) for one in each])
        found[view] = max(float(stats.binom.cdf(right, n, typical)), among)
        shares[view] = {"share": right / n, "others_share": typical, "n": n}
    if not found:
        return {"p": None, "n": 0}
    on = least(found)
    return {"p": min(1.0, found[on] * len(found)), "on": on, **shares[on]}


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
    return [("side", f"chose position {top + 1} in {share:.0%} of {test['n']} picks")]


def of_runs(test: Mapping) -> list[Sign]:
    if test["p"] is None or test["p"] >= LEVEL:
        return []
    tried, chance = test["n"] - 1, test["chance"]
    if test["p_longest"] < test["p_repeats"]:
        return [("runs", f"chose position {test['place']} {test['longest']} times in a row")]
    if not spoken(test, test["repeats"] / tried, chance):
        return []
    return [("runs", f"chose the last position again {test['repeats']} times, by chance {chance * tried:.0f}")]


def of_speed(judged: int, seconds: float | None, counted: pd.DataFrame) -> list[Sign]:
    """Of a median time: under half of everybody's, and under what 1% have who differ as the annotators do."""
    timed = counted[counted.active_ms > 0]
    if judged < FROM or seconds is None or timed.empty:
        return []
    typical = float(timed.active_ms.median())
    limit, people = typical / 2, timed.groupby("annotator").active_ms
    logs = np.log(people.median()[people.size() >= FROM])
    if len(logs) >= 3:
        away = (logs - logs.median()) ** 2
        near = away[away <= 9 * away.median() / stats.chi2.ppf(0.5, 1)]
        far = stats.t.ppf(0.99, max(1, len(near) - 1)) * math.sqrt(near.mean())
        limit = min(limit, math.exp(logs.median() - far))
    if seconds * 1000 >= limit:
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


def written(found: Sequence[Sign], stage: int | None) -> list[dict]:
    return [{"kind": kind, "words": words, "stage": stage} for kind, words in found]


def place_of(sign: dict) -> int:
    return ORDER.index(sign["kind"])
