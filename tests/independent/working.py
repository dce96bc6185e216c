"""What is said of time: pace, cost and the judgments over time."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent.reading import TASK

HOUR_MS = 3_600_000
WIDTHS = (1, 5, 15, 60, 360, 1440, 10080)  # minutes


def pace(counted: pd.DataFrame) -> dict:
    if counted.empty:
        return {"first": None, "last": None, "hours": 0.0, "per_hour": None}
    first, last = counted.created_at.min(), counted.created_at.max()
    hours = (last - first).total_seconds() / 3600
    rate = len(counted) / hours if hours else None
    return {"first": first.isoformat(), "last": last.isoformat(), "hours": hours, "per_hour": rate}


def cost(rows: pd.DataFrame, counted: int, wanted: int, pay: float) -> dict:
    """`rows` are all of the stage, checks and what was taken back among them; `wanted` judgments are to count."""
    minutes, left = float(rows.active_ms.sum()) / 60_000, wanted - counted
    rows = rows.assign(mine=rows.counted & (rows.kind == "judge"))[rows.active_ms > 0]
    timed = int(rows.mine.sum())
    each, away = minutes / timed if timed else math.nan, math.nan
    mine = rows.groupby("annotator")[["active_ms", "mine"]].sum()
    if timed and len(mine) > 1:
        off = (mine.active_ms / 60_000 - each * mine.mine).astype(float)
        if (off**2).sum() > 1e-24 * minutes**2:
            away = prediction(off.to_numpy(), (mine.mine / timed).to_numpy(dtype=float), timed, left)
    end, low, high = (minutes + left * one for one in (each, each - min(away, each), each + away))
    between = {"minutes_low": low, "minutes_high": high, "cost_low": low / 60 * pay, "cost_high": high / 60 * pay}
    found = {
        "active_minutes": minutes, "cost": minutes / 60 * pay, "to_come": left,
        "expected_minutes": end, "expected_cost": end / 60 * pay,
    }  # fmt: skip
    return {**defined(found), "range": defined(between)}


def prediction(off: np.ndarray, loads: np.ndarray, counted: int, left: int) -> float:
    """Half of the width, of as many annotators as count if loads were equal; new ones vary like these."""
    count = 1 / np.dot(loads, loads)
    if count < 1.5:
        return math.nan
    # An annotator's total once the mean is subtracted: of effects of variance 1 with these weights.
    weights = np.diag(loads) - np.outer(loads, loads)
    seen = (weights**2).sum() * count
    below = max(1, math.floor(count - 1))
    ends = stats.t.ppf(0.975, [below, below + 1])
    t = np.interp(-1 / max(1, count - 1), [-1 / below, -1 / (below + 1)], ends)
    again = min(count, counted / left) if left else 0
    return float(t * math.sqrt(np.dot(off, off) / seen * (1 + again)) / counted)


def defined(found: dict) -> dict:
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def series(counted: pd.DataFrame) -> dict:
    """In the narrowest bins of which 60 are enough."""
    if counted.empty:
        return {"minutes": 60, "bins": []}
    for minutes in WIDTHS:
        bins = counted.us // (minutes * 60_000_000)
        if bins.max() - bins.min() < 60 or minutes == WIDTHS[-1]:
            break
    counts = bins.value_counts()
    starts = range(bins.min(), bins.max() + 1)
    times = [pd.Timestamp(place * minutes * 60, unit="s", tz="UTC").isoformat() for place in starts]
    return {
        "minutes": minutes,
        "bins": [{"from": at, "judgments": int(counts.get(place, 0))} for at, place in zip(times, starts, strict=True)],
    }


def in_time(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["us", *TASK])
