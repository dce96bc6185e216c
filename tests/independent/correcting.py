"""An audit's result without annotators' errors, from a release's judgments: the two classes, a pattern at a time."""

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.independent.stages import Stage

UNKNOWN = "no item has three judgments, and no wrong and right items with a known answer were judged"
SHARES = [(k / 200) ** 2 for k in range(201)]
Z = 1.959963984540054


def corrected(stage: "Stage", judged: list[str], items: dict) -> dict:
    """Under that name; nothing if items make several questions each, or if it is not public."""
    if any(len(tasks) > 1 for tasks in items.values()):
        return {}
    reasons = stage.settings["audit"]["wrong_reasons"]

    def says(answer: str) -> bool | None:
        why = stage.rule.ending(answer, "")[2]
        if not why or not reasons:
            return bool(why)
        return True if why in reasons else None

    given = {(task.position, task.question, task.round): [] for key in judged for task in items[key]}
    for row in stage.standing.itertuples():
        if (row.position, row.question, row.round) in given:
            given[row.position, row.question, row.round].append(says(row.answer))
    votes = Counter((said.count(True), said.count(False)) for said in given.values())
    votes.pop((0, 0), None)
    checks = stage.every[(stage.every.kind == "check") & stage.every.counted]
    if len(checks) and "gold" not in stage.public:
        return {}
    known = Counter()
    for row in checks.itertuples():
        right = {says(one) for one in stage.gold[row.item, row.question, row.round]}
        if right in ({True}, {False}) and says(row.answer) is not None:
            known[right == {True}, says(row.answer)] += 1
    several = sum(n for of, n in votes.items() if sum(of) >= 3)
    none = dict.fromkeys(("estimate", "low", "high", "missed", "false_alarms"))
    of = {"gold": len(checks), "overlapping": several}
    both = all(known[true, False] + known[true, True] for true in (False, True))
    if not votes or not (several or both):
        return {"corrected": {**none, **of, "reason": UNKNOWN}}
    share, missed, alarms = 0.2, 0.1, 0.1
    for _ in range(1000):
        belongs = {of: belonging(of, share, missed, alarms) for of in votes}
        missed, alarms = rates(votes, belongs, known)
        share = sum(belongs[of] * n for of, n in votes.items()) / votes.total()
    profile = []
    for one in SHARES:
        misses, false = missed, alarms
        for _ in range(200):
            misses, false = rates(votes, {of: belonging(of, one, misses, false) for of in votes}, known)
        profile.append(likelihood(votes, known, one, misses, false))
    bound = max(*profile, likelihood(votes, known, share, missed, alarms)) - Z**2 / 2
    inside = [place for place, one in enumerate(profile) if one >= bound]
    low = min(share, crossing(profile, bound, inside[0], -1)) if inside else share
    high = max(share, crossing(profile, bound, inside[-1], 1)) if inside else share
    ends = [finite(share, end, votes.total(), len(items)) for end in (low, high)]
    found = {"estimate": share, "low": ends[0], "high": ends[1], "missed": missed, "false_alarms": alarms}
    return {"corrected": {**found, **of}}


def chances(of: tuple[int, int], missed: float, alarms: float) -> tuple[float, float]:
    wrong, right = of
    return (1 - missed) ** wrong * missed**right, alarms**wrong * (1 - alarms) ** right


def belonging(of: tuple[int, int], share: float, missed: float, alarms: float) -> float:
    wrong, right = chances(of, missed, alarms)
    return share * wrong / (share * wrong + (1 - share) * right)


def rates(votes: Counter, belongs: dict, known: Counter) -> tuple[float, float]:
    of_wrong = sum(n * belongs[of] * sum(of) for of, n in votes.items())
    of_right = sum(n * (1 - belongs[of]) * sum(of) for of, n in votes.items())
    missed = known[True, False] + sum(n * belongs[of] * of[1] for of, n in votes.items())
    alarms = known[False, True] + sum(n * (1 - belongs[of]) * of[0] for of, n in votes.items())
    missed /= max(1e-12, known[True, False] + known[True, True] + of_wrong)
    alarms /= max(1e-12, known[False, False] + known[False, True] + of_right)
    return min(0.5, max(1e-6, missed)), min(0.5, max(1e-6, alarms))


def likelihood(votes: Counter, known: Counter, share: float, missed: float, alarms: float) -> float:
    found = known[True, False] * math.log(missed) + known[True, True] * math.log(1 - missed)
    found += known[False, True] * math.log(alarms) + known[False, False] * math.log(1 - alarms)
    for of, n in votes.items():
        wrong, right = chances(of, missed, alarms)
        found += n * math.log(max(1e-300, share * wrong + (1 - share) * right))
    return found


def crossing(profile: list[float], bound: float, inside: int, step: int) -> float:
    if not 0 <= inside + step < len(SHARES):
        return SHARES[inside]
    part = (profile[inside] - bound) / (profile[inside] - profile[inside + step])
    return SHARES[inside] + part * (SHARES[inside + step] - SHARES[inside])


def finite(share: float, end: float, n: int, size: int) -> float:
    variance = ((end - share) / Z) ** 2
    if not variance:
        return end
    part = min(1.0, share * (1 - share) / n / variance)
    return share + (end - share) * math.sqrt(1 - part * ((n - 1) / (size - 1) if size > 1 else 1))
