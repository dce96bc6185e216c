"""Every figure of an export, computed again from its files by other means than the app's.

Imports nothing of the project: pyarrow and pandas read, scikit-learn gives kappa, sums are written out plainly. Use it
on a folder: `python recompute.py FOLDER` prints where figures.json differs by more than 1e-9, and fails if it does.
"""

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.metrics import cohen_kappa_score

HOUR_MS = 3_600_000
FIXED = ["none", "cannot_judge"]
REASONS = {"none": "no_image_fits", "cannot_judge": "cannot_judge"}


def recompute(folder: Path) -> dict:
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows["us"] = rows.created_at.astype("datetime64[us, UTC]").astype("int64")
    counted = rows[rows.counted].sort_values(["position", "question", "us", "slot"]).reset_index(drop=True)
    study, totals = manifest["study"], manifest["items_by_type"]
    tasks = dict(list(counted.groupby(["position", "question"])))
    decided = {place: decide(list(group.answer), study) for place, group in tasks.items()}
    labels = {"answer": counted.answer, "any or none": counted.answer.map(any_or_none)}
    seen = {name: counted.assign(label=label) for name, label in labels.items()}
    agreements = [agreement(name, table) for name, table in seen.items()]
    total = sum(row["items"] for row in totals)
    flags = [json.loads(line) for line in (folder / "flags.jsonl").read_text().splitlines()]
    return {
        "study": {name: study[name] for name in ("name", "protocol", "overlap", "tie_rule", "pay_per_hour", "currency")}
        | {"views": list(labels)},
        "progress": {
            "tasks": total,
            "settled": sum(state != "open" for state, *_ in decided.values()),
            "judgments_wanted": total * study["overlap"],
            "judgments_counted": len(counted),
            "judgment_rows": len(rows),
            "withdrawn": int(rows.withdrawn.sum()),
            "surplus": int((rows.surplus & ~rows.withdrawn).sum()),
            "flags": len(flags),
            "flags_open": sum(not flag["settled"] for flag in flags),
        },
        "outcomes": outcomes(decided.values(), total),
        "pace": pace(counted),
        "cost": cost(rows, len(counted), total * study["overlap"], study["pay_per_hour"]),
        "agreement": agreements,
        "disagreements": {
            name: int((table.groupby(["position", "question"]).label.nunique() > 1).sum())
            for name, table in seen.items()
        },
        "annotators": [
            annotator(json.loads(line), rows, counted, seen, agreements, study["pay_per_hour"])
            for line in (folder / "annotators.jsonl").read_text().splitlines()
        ],
        "by_type_on": "any or none",
        "by_type": [by_type(row, tasks, decided, seen["any or none"]) for row in totals],
        "series": series(counted),
    }


def any_or_none(answer: str) -> str:
    return answer if answer in FIXED else "any"


def decide(answers: list[str], study: dict) -> tuple[str, str, str]:
    """(state, reason, how), by the rule as docs/measures.md states it."""
    if len(answers) < study["overlap"]:
        return "open", "", ""
    kinds = pd.Series([any_or_none(answer) for answer in answers])
    votes = kinds.value_counts()
    top = [kind for kind in dict.fromkeys(kinds) if votes[kind] == votes.max()]
    how = "only_answer" if len(answers) == 1 else "unanimous" if len(set(answers)) == 1 else "majority"
    if len(top) > 1:
        how = "tie_rule"
        if study["tie_rule"] == "drop":
            return "dropped", "tie_unresolved", how
    kind = "none" if len(top) > 1 and study["tie_rule"] == "none" else top[0]
    if kind in REASONS:
        return "dropped", REASONS[kind], how
    picks = pd.Series([answer for answer in answers if answer not in FIXED]).value_counts()
    level = (picks == picks.max()).sum() > 1
    return "kept", "", "first_of_equals" if how == "majority" and level else how


def outcomes(decided, total: int) -> dict:
    decided = list(decided)
    kept = sum(state == "kept" for state, *_ in decided)
    reasons = pd.Series([reason for state, reason, _ in decided if state == "dropped"], dtype=str).value_counts()
    hows = pd.Series([how for state, _, how in decided if state != "open"], dtype=str).value_counts()
    return {
        "items": total,
        "kept": kept,
        "dropped": int(reasons.sum()),
        "open": total - kept - int(reasons.sum()),
        "reasons": reasons.to_dict(),
        "decided_by": hows.to_dict(),
        "kept_share": kept / (kept + int(reasons.sum())) if kept + reasons.sum() else None,
    }


def pace(counted: pd.DataFrame) -> dict:
    if counted.empty:
        return {"first": None, "last": None, "hours": 0.0, "per_hour": None}
    first, last = counted.created_at.min(), counted.created_at.max()
    hours = (last - first).total_seconds() / 3600
    rate = len(counted) / hours if hours else None
    return {"first": first.isoformat(), "last": last.isoformat(), "hours": hours, "per_hour": rate}


def cost(rows: pd.DataFrame, counted: int, wanted: int, pay: float) -> dict:
    hours = float(rows.active_ms.sum()) / HOUR_MS
    end = hours * wanted / counted if counted else math.nan
    found = {
        "active_minutes": hours * 60,
        "cost": hours * pay,
        "expected_minutes": end * 60,
        "expected_cost": end * pay,
    }
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def units(table: pd.DataFrame) -> list[list[str]]:
    """The labels of each item that has two or more, items in order."""
    groups = table.groupby(["position", "question"]).label.apply(list)
    return [labels for labels in groups if len(labels) > 1]


def agreement(name: str, table: pd.DataFrame) -> dict:
    pairs = kappas(table)
    defined = [pair["value"] for pair in pairs if pair["value"] is not None]
    mean = float(np.mean(defined)) if defined else None
    return {
        "on": name,
        "percent": percent(units(table)),
        "kappa_mean": {"value": mean, "pairs": len(defined), "left_out": len(pairs) - len(defined)},
        "kappa_pairs": pairs,
        "alpha": alpha_with_interval(units(table)),
    }


def percent(found: list[list[str]]) -> dict:
    pairs = [first == second for labels in found for first, second in itertools.combinations(labels, 2)]
    return {"value": sum(pairs) / len(pairs) if pairs else None, "n": len(pairs)}


def kappas(table: pd.DataFrame) -> list[dict]:
    wide = table.assign(number=table.annotator.str[2:].astype(int)).pivot(
        index=["position", "question"], columns="number", values="label"
    )
    pairs = []
    for first, second in itertools.combinations(wide.columns, 2):
        both = wide[[first, second]].dropna()
        if both.empty:
            continue
        one_label = len(set(both[first]) | set(both[second])) == 1
        value = None if one_label else float(cohen_kappa_score(both[first], both[second]))
        same = float((both[first] == both[second]).mean())
        pairs.append({"first": int(first), "second": int(second), "value": value, "n": len(both), "percent": same})
    return pairs


def alpha(found: list[list[str]]) -> float | None:
    """Krippendorff (2011): 1 - D_o / D_e from the coincidence matrix, nominal."""
    labels = sorted({label for unit in found for label in unit})
    coincidences = pd.DataFrame(0.0, index=labels, columns=labels)
    for unit in found:
        for first, second in itertools.permutations(unit, 2):
            coincidences.loc[first, second] += 1 / (len(unit) - 1)
    sums = coincidences.sum(axis=1)
    n = sums.sum()
    expected = n * n - (sums**2).sum()
    return None if len(labels) < 2 else 1 - (n - 1) * (n - np.trace(coincidences)) / expected


def alpha_with_interval(found: list[list[str]]) -> dict:
    interval = {"low": None, "high": None}
    if len(found) > 1:
        interval = bootstrap(found)
    return {"value": alpha(found), "n": len(found), "interval": interval}


def bootstrap(found: list[list[str]]) -> dict:
    """1,000 resamples of items, drawn as how often each pattern of label counts comes up (docs/measures.md)."""
    labels = sorted({label for unit in found for label in unit})
    patterns = pd.Series([tuple(unit.count(label) for label in labels) for unit in found]).value_counts().sort_index()
    draws = np.random.default_rng(20240601).multinomial(len(found), patterns / len(found), 1000)
    counts = np.array(list(patterns.index))
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


def annotator(who: dict, rows: pd.DataFrame, counted: pd.DataFrame, seen: dict, agreements: list, pay: float) -> dict:
    name = who["annotator"]
    all_mine, mine = rows[rows.annotator == name], counted[counted.annotator == name]
    picks = mine[~mine.answer.isin(FIXED)]
    shown = int(picks.shown.map(len).max()) if len(picks) else 0
    hours = float(all_mine.active_ms.sum()) / HOUR_MS
    return {
        "annotator": name,
        "judged": len(mine),
        "median_seconds": float(np.median(mine.active_ms)) / 1000 if len(mine) else None,
        "none_share": float((mine.answer == "none").mean()) if len(mine) else None,
        "cannot_judge": int((mine.answer == "cannot_judge").sum()),
        "picks": len(picks),
        "places": [int((picks.place == place).sum()) for place in range(1, shown + 1)],
        "withdrawn": int(all_mine.withdrawn.sum()),
        "surplus": int((all_mine.surplus & ~all_mine.withdrawn).sum()),
        "active_minutes": hours * 60,
        "paid": hours * pay,
        "signs": signs(mine, picks, counted),
        "with_majority": {view: with_majority(name, table) for view, table in seen.items()},
        "kappa_mean": {found["on"]: own_kappa(int(name[2:]), found["kappa_pairs"]) for found in agreements},
        "skipped": who["skipped"],
        "simulated": who["simulated"],
    }


def signs(mine: pd.DataFrame, picks: pd.DataFrame, counted: pd.DataFrame) -> list[str]:
    found = []
    if len(mine) >= 20 and np.median(mine.active_ms) < np.median(counted.active_ms) / 2:
        found.append("fast")
    if len(picks) >= 20:
        chance = float((1 / picks.shown.map(len)).mean())
        if picks.place.value_counts().max() / len(picks) > chance + 4 * math.sqrt(chance * (1 - chance) / len(picks)):
            found.append("side")
    return found


def with_majority(name: str, table: pd.DataFrame) -> dict:
    mine = table[table.annotator == name].set_index(["position", "question"]).label
    others = table[table.annotator != name].groupby(["position", "question"]).label.apply(pd.Series.mode)
    same = []
    for place, label in mine.items():
        modes = others.loc[place] if place in others.index else []
        if len(modes) == 1:
            same.append(modes.iloc[0] == label)
    return {"value": float(np.mean(same)) if same else None, "n": len(same)}


def own_kappa(number: int, pairs: list[dict]) -> float | None:
    mine = [pair["value"] for pair in pairs if number in (pair["first"], pair["second"]) and pair["value"] is not None]
    return float(np.mean(mine)) if mine else None


def by_type(row: dict, tasks: dict, decided: dict, table: pd.DataFrame) -> dict:
    part = table[(table.type == row["type"]) & (table.subtype == row["subtype"])]
    places = [
        place
        for place, group in tasks.items()
        if tuple(group[["type", "subtype"]].iloc[0]) == (row["type"], row["subtype"])
    ]
    return {
        "type": row["type"],
        "subtype": row["subtype"],
        **outcomes([decided[place] for place in places], row["items"]),
        "judgments": len(part),
        "percent": percent(units(part)),
        "alpha": alpha_with_interval(units(part)),
    }


def series(counted: pd.DataFrame) -> dict:
    if counted.empty:
        return {"minutes": 60, "bins": []}
    for minutes in (1, 5, 15, 60, 360, 1440, 10080):
        bins = counted.us // (minutes * 60_000_000)
        if bins.max() - bins.min() < 60 or minutes == 10080:
            break
    counts = bins.value_counts()
    starts = range(bins.min(), bins.max() + 1)
    times = [pd.Timestamp(place * minutes * 60, unit="s", tz="UTC").isoformat() for place in starts]
    return {
        "minutes": minutes,
        "bins": [{"from": at, "judgments": int(counts.get(place, 0))} for at, place in zip(times, starts, strict=True)],
    }


def differences(ours, theirs, path: str = "") -> list[str]:
    """Where two trees differ, numbers by more than 1e-9. Words that explain (`reason`) are left out."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = (set(ours) | set(theirs)) - {"reason"}
        pairs = {name: (ours.get(name, "missing"), theirs.get(name, "missing")) for name in sorted(names)}
        return [found for name, pair in pairs.items() for found in differences(*pair, f"{path}/{name}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [found for place, pair in pairs for found in differences(*pair, f"{path}/{place}")]
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (ours, theirs)]
    same = abs(ours - theirs) <= 1e-9 * max(1, abs(ours)) if all(numbers) else ours == theirs
    return [] if same else [f"{path}: {ours!r} here, {theirs!r} in figures.json"]


def main(folder: Path) -> int:
    found = differences(recompute(folder), json.loads((folder / "figures.json").read_text()))
    print("\n".join(found) or "Every figure is the same.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
