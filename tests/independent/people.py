"""The annotators of a stage as its page shows them, and what their work shows."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent.working import HOUR_MS, in_time

if TYPE_CHECKING:
    from tests.independent.stages import Stage

FROM = 20  # judgments, picks or comparisons from which there are tests
LEAST = 5  # expected at each place
LEVEL = 0.001
POINTS = 0.1 - 1e-12  # that a share is away from what is expected


def rows(stage: "Stage") -> list[dict]:
    """Everybody with a seat in the stage, in the order of joining."""
    kappas = {found["on"]: own_kappas(found["kappa_pairs"]) for found in stage.agreements}
    groups = {
        name: dict(iter(table.groupby("annotator")))
        for name, table in (("every", stage.every), ("own", stage.rows), ("mine", stage.counted))
    }
    found = []
    for who, seat in stage.people:
        name = who["annotator"]
        parts = {of: group.get(name, stage.every.iloc[:0]) for of, group in groups.items()}
        row = of_one(name, stage, **parts)
        row["with_majority"] = {view: shared(of.get(name, (0, 0))) for view, of in stage.majorities.items()}
        row["kappa_mean"] = {view: of.get(name) for view, of in kappas.items()}
        row |= {key: who[key] for key in ("simulated", "excluded", "exclusion_reason", "left")}
        found.append(row | {"batch": seat["batch"], "skipped": seat["skipped"]})
    return found


def of_one(name: str, stage: "Stage", every: pd.DataFrame, own: pd.DataFrame, mine: pd.DataFrame) -> dict:
    picks, fixed = mine[mine.place.notna()], stage.settings["fixed_answers"]
    shown = int(picks.many.max()) if len(picks) else 0
    hours = float(every.active_ms.sum()) / HOUR_MS
    answers = Counter(mine.answer)
    timed = "times" in stage.public and {
        "median_seconds": float(np.median(mine.active_ms)) / 1000 if len(mine) else None,
        "active_minutes": hours * 60,
        "paid": hours * stage.study["pay_per_hour"],
    }
    return {
        "annotator": name,
        "judged": len(mine),
        "fixed_shares": {answer: answers[answer] / len(mine) if len(mine) else None for answer in fixed},
        "cannot_judge": answers["cannot_judge"],
        "picks": len(picks),
        "places": [int((picks.place == place).sum()) for place in range(1, shown + 1)],
        "withdrawn": int(own.withdrawn.sum()),
        "surplus": int((own.surplus & ~own.withdrawn).sum()),
        "signs": signs(mine, picks, stage),
        **(timed or {}),
    }


def shared(found: tuple[int, int]) -> dict:
    same, n = found
    return {"value": same / n if n else None, "n": n}


def own_kappas(pairs: list[dict]) -> dict[str, float]:
    """The mean of each annotator's defined kappas, with whomever."""
    mine: dict[str, list[float]] = {}
    for pair in pairs:
        for who in (pair["first"], pair["second"]) if pair["value"] is not None else ():
            mine.setdefault(f"A-{who:02d}", []).append(pair["value"])
    return {who: float(np.mean(found)) for who, found in mine.items()}


def signs(mine: pd.DataFrame, picks: pd.DataFrame, stage: "Stage") -> list[str]:
    timed, found = "times" in stage.public, []
    if timed and len(mine) >= FROM and np.median(mine.active_ms) < np.median(stage.counted.active_ms) / 2:
        found.append("fast")
    if len(picks) < FROM:
        return found
    return found + ["side"] * one_sided(picks) + ["runs"] * (timed and repeating(picks))


def one_sided(picks: pd.DataFrame) -> bool:
    shown = picks.many
    places = range(1, int(shown.max()) + 1)
    counts = np.array([(picks.place == place).sum() for place in places])
    expected = np.array([(1 / shown[shown >= place]).sum() for place in places])
    if len(counts) < 2 or expected.min() < LEAST:
        return False
    if set(shown) == {2}:
        p = stats.binomtest(int(counts[0]), len(picks), 0.5).pvalue
    else:
        p = stats.chisquare(counts, expected).pvalue
    return bool(p < LEVEL and ((counts - expected) / len(picks)).max() >= POINTS)


def repeating(picks: pd.DataFrame) -> bool:
    picks = in_time(picks)
    place, many = picks.place.to_numpy(), picks.many.to_numpy()
    again, tried = place[1:] == place[:-1], len(picks) - 1
    chance = float((1 / np.maximum(many[1:], many[:-1])).mean())
    law = stats.binom(tried, chance)
    p_repeats = min(1.0, 2 * min(law.cdf(again.sum()), law.sf(again.sum() - 1)))
    longest = max((len(run) for run in "".join("x" if same else " " for same in again).split()), default=0)
    p_longest = run_of(longest, tried, chance)
    if 2 * min(p_repeats, p_longest) >= LEVEL:
        return False
    return bool(p_longest < p_repeats) or bool(abs(again.mean() - chance) >= POINTS)


def run_of(length: int, tried: int, chance: float) -> float:
    """P(so many in a row or more): by the states of a chain that counts how many came in a row."""
    if length <= 0:
        return 1.0
    chain = np.zeros((length + 1, length + 1))
    chain[:length, 0] = 1 - chance
    chain[range(length), range(1, length + 1)] = chance
    chain[length, length] = 1
    return float(np.linalg.matrix_power(chain, tried)[0, length])
