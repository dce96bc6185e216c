"""The annotators of a stage as its page shows them, and what their work shows."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tests.independent import annotator_tests
from tests.independent.reading import median_time
from tests.independent.working import HOUR_MS, in_time

if TYPE_CHECKING:
    from tests.independent.stages import Stage


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
    typical = median_time(mine)
    timed = "times" in stage.public and {
        "median_seconds": None if typical is None else typical / 1000,
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
    found = annotator_tests.of_side(annotator_tests.side(picks))
    if "times" in stage.public:
        own = median_time(mine)
        seconds = None if own is None else own / 1000
        found = annotator_tests.of_speed(len(mine), seconds, stage.counted) + found
        found += annotator_tests.of_runs(annotator_tests.runs(in_time(picks)))
    return [kind for kind, _ in found]
