"""What the pages of annotators show, computed again from an export's files by other means than the app's.

Imports recompute.py beside it, and nothing of the project; scipy has the distributions. `python -m
tests.annotation.recompute_annotators FOLDER` prints it as JSON.
"""

import json
import math
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from tests.annotation.recompute import TASK, Stage, kappas, lines, read_stages, run_of

FROM = 20  # judgments, picks or comparisons from which there are tests
LEAST = 5  # expected at each place
FAR_FROM = 11  # annotators
ENDS = [0.25, 0.5, 1, 2, 4]  # of the stage's median time
WIDTHS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000)  # milliseconds
NOTHING = {"p": None}


def annotators(folder: Path) -> dict:
    """`stages` with a row of each annotator, the `whole` study, and the `speed` of all of them."""
    everybody = lines(folder / "annotators.jsonl")
    gold = {
        (task["stage"], task["position"], task["question"], task["round"]): task
        for task in lines(folder / "tasks.jsonl")
        if task["kind"] == "check"
    }
    stages = [of_stage(stage, everybody, gold) for stage in read_stages(folder)]
    return {"stages": stages, **of_study(stages, [number(who["annotator"]) for who in everybody])}


def number(name: str) -> int:
    return int(name.removeprefix("A-"))


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# One stage


def of_stage(stage: Stage, everybody: list[dict], gold: dict) -> dict:
    work = Work(stage, gold)
    there = {who["annotator"] for who, _ in stage.people} | set(stage.every.annotator)
    return {
        "position": stage.settings["position"],
        "name": stage.name,
        "coarse": work.coarse,
        "median_seconds": None if work.typical is None else work.typical / 1000,
        "bands": work.bands(stage.counted),
        "labels": dict(sorted(work.labels.items())),
        "times": histogram(stage.counted.active_ms.to_list()),
        "rows": [work.row(who) for who in everybody if who["annotator"] in there],
    }


class Work:
    """A stage's judgments, and what each annotator's are held against."""

    def __init__(self, stage: Stage, gold: dict):
        self.stage, self.gold = stage, gold
        self.coarse = list(stage.views)[min(1, len(stage.views) - 1)]
        self.typical = float(np.median(stage.counted.active_ms)) if len(stage.counted) else None
        self.labels = Counter(stage.counted.answer.map(stage.views[self.coarse]))
        self.seen = stage.seen()
        self.kappas = {view: kappas(table) for view, table in self.seen.items()}
        names = sorted(set(stage.standing.annotator))
        self.same = {view: {name: self.alike(name, view) for name in names} for view in self.seen}

    def row(self, who: dict) -> dict:
        name, out = who["annotator"], who["excluded"]
        every = self.stage.every[self.stage.every.annotator == name]
        last = every.sort_values("us", kind="stable").groupby(["kind", *TASK, "slot"]).tail(1)
        own = last[(last.kind == "judge") & ~last.withdrawn & ~last.surplus]
        mine = own if out else self.stage.counted[self.stage.counted.annotator == name]
        mine = mine.sort_values(["us", *TASK])
        minutes, answers = float(every.active_ms.sum()) / 60_000, int((~last.withdrawn).sum())
        same = {view: self.alike(name, view, mine if out else None) for view in self.seen}
        return {
            "number": number(name),
            "judged": len(mine),
            "answers": answers,
            "active_minutes": minutes,
            "per_hour": share(answers, minutes / 60),
            "paid": minutes / 60 * self.stage.study["pay_per_hour"],
            **self.speed(mine),
            **self.answers(mine, out),
            "majority": {view: {"same": right, "n": n} for view, (right, n) in same.items()},
            "agreement": self.agreement(name, same),
            "kappas": {view: None if out else self.kappa(name, view) for view in self.seen},
            "side": side(mine[mine.place.notna()]),
            "runs": runs(mine[mine.place.notna()]),
            "checks": self.checks(every[every.kind == "check"]),
        }

    def speed(self, mine: pd.DataFrame) -> dict:
        quick = int((mine.active_ms < (self.typical or 0) / 2).sum())
        times = mine.active_ms.clip(lower=1) / self.typical if self.typical else pd.Series(dtype=float)
        return {
            "median_seconds": float(np.median(mine.active_ms)) / 1000 if len(mine) else None,
            "log_time": float(np.median(np.log(times))) if len(times) else None,
            "quick": quick,
            "quick_share": share(quick, len(mine)),
            "bands": self.bands(mine),
        }

    def bands(self, rows: pd.DataFrame) -> list[int]:
        if not self.typical:
            return [0] * (len(ENDS) + 1)
        found = np.digitize(rows.active_ms / self.typical, ENDS)
        return [int((found == band).sum()) for band in range(len(ENDS) + 1)]

    def answers(self, mine: pd.DataFrame, out: bool) -> dict:
        own = Counter(mine.answer.map(self.stage.views[self.coarse]))
        others = self.labels if out else self.labels - own
        return {
            "labels": dict(sorted(own.items())),
            "others": dict(sorted(others.items())),
            "labels_test": fisher(own, others),
        }

    def alike(self, name: str, view: str, rows: pd.DataFrame | None = None) -> tuple[int, int]:
        """How often they gave the one answer that most of the others gave, of how many.

        `rows` are those of somebody who is excluded: nothing of theirs counts.
        """
        table, see = self.seen[view], self.stage.views[view]
        mine = table[table.annotator == name] if rows is None else rows.assign(label=rows.answer.map(see))
        others = dict(iter((table[table.annotator != name] if rows is None else table).groupby(TASK).label))
        found = [
            (label, others[place].mode())
            for *place, label in mine[[*TASK, "label"]].itertuples(index=False, name=None)
            for place in [tuple(place)]
            if place in others
        ]
        compared = [label == modes.iloc[0] for label, modes in found if len(modes) == 1]
        return sum(compared), len(compared)

    def agreement(self, name: str, same: dict) -> dict:
        found = {}
        for view, (right, n) in same.items():
            shares = [mine / of for other, (mine, of) in self.same[view].items() if other != name and of >= FROM]
            if n >= FROM and shares:
                typical = float(np.median(shares))
                found[view] = (float(stats.binom.cdf(right, n, typical)), right / n, typical, n)
        if not found:
            return NOTHING | {"n": 0}
        p, mine, others, n = min(found.values(), key=lambda one: one[0])
        return {"p": min(1.0, p * len(found)), "share": mine, "others_share": others, "n": n}

    def kappa(self, name: str, view: str) -> float | None:
        who = number(name)
        found = [pair["value"] for pair in self.kappas[view] if who in (pair["first"], pair["second"])]
        found = [value for value in found if value is not None]
        return float(np.mean(found)) if found else None

    def checks(self, rows: pd.DataFrame) -> dict | None:
        newest = rows.sort_values("revision").groupby([*TASK, "screen"]).tail(1)
        newest = newest[~newest.withdrawn]
        if newest.empty:
            return None
        fixed, found = len(self.stage.settings["fixed_answers"]), []
        for row in newest.itertuples():
            task = self.gold[self.stage.name, row.position, row.question, row.round]
            guess = min(1.0, len(task["gold"]) / (len(task["options"]) + fixed))
            found.append((row.answer in task["gold"], guess))
        guess = sum(guess for _, guess in found) / len(found)
        return {"n": len(found), "right": sum(right for right, _ in found), "guess": guess}


def two_sided(law, k: int) -> float:
    return min(1.0, 2 * min(float(law.cdf(k)), float(law.sf(k - 1))))


def fisher(own: Counter, others: Counter) -> dict:
    """Of the answer with the smallest p. Two answers alone have the same p: then `or` has the shares of both."""
    n, of = own.total(), others.total()
    labels = sorted({*own, *others})
    if n < FROM or of < FROM or len(labels) < 2:
        return NOTHING | {"n": n, "others": of}
    found = {label: two_sided(stats.hypergeom(n + of, own[label] + others[label], n), own[label]) for label in labels}
    least = min(found.values())
    level = [label for label in labels if math.isclose(found[label], least, rel_tol=1e-9)]
    shares = [{"label": one, "share": own[one] / n, "others_share": others[one] / of} for one in level]
    return {"p": min(1.0, least * len(labels)), "n": n, "others": of, "or": shares, "times": own[level[0]]}


def side(picks: pd.DataFrame) -> dict:
    shown, n = picks.shown.map(len), len(picks)
    places = range(1, int(shown.max()) + 1) if n else []
    counts = [int((picks.place == place).sum()) for place in places]
    expected = [float((1 / shown[shown >= place]).sum()) for place in places]
    found = {"counts": counts, "expected": expected, "n": n}
    if n < FROM or len(counts) < 2 or min(expected) < LEAST:
        return NOTHING | found
    if set(shown) == {2}:
        return {"p": two_sided(stats.binom(n, 0.5), counts[0]), **found}
    square, p = stats.chisquare(counts, expected)
    return {"p": float(p), "chi_square": float(square), "freedom": len(counts) - 1, **found}


def runs(picks: pd.DataFrame) -> dict:
    place, many, n = picks.place.to_numpy(), picks.shown.map(len).to_numpy(), len(picks)
    lengths = [(at, len(list(run))) for at, run in groupby(place)]
    longest = max((length for _, length in lengths), default=0)
    at = next((at for at, length in lengths if length == longest), None)
    repeats = int((place[1:] == place[:-1]).sum()) if n else 0
    found = {"n": n, "repeats": repeats, "longest": longest, "place": None if at is None else int(at)}
    if n < FROM:
        return NOTHING | found
    chance = float((1 / np.maximum(many[1:], many[:-1])).mean())
    p_repeats, p_longest = two_sided(stats.binom(n - 1, chance), repeats), run_of(longest - 1, n - 1, chance)
    p = min(1.0, 2 * min(p_repeats, p_longest))
    return {"p": p, "chance": chance, "p_repeats": p_repeats, "p_longest": p_longest, **found}


def histogram(times: list[int]) -> dict:
    """Of milliseconds: the narrowest width that puts 95 % into 30 bins; what is longer stands in one more."""
    if not times:
        return {"n": 0, "median": None, "quick": 0, "bins": []}
    end = sorted(times)[math.ceil(0.95 * len(times)) - 1]
    width = next((width for width in WIDTHS if end // width < 30), WIDTHS[-1])
    places = Counter(min(time // width, 30) for time in times)
    bins = [
        {"from": at * width / 1000, "to": (at + 1) * width / 1000 if at < 30 else None, "judgments": places[at]}
        for at in range(max(places) + 1)
    ]
    typical = float(np.median(times))
    return {"n": len(times), "median": typical / 1000, "quick": sum(time < typical / 2 for time in times), "bins": bins}


# Of all stages


def of_study(stages: list[dict], people: list[int]) -> dict:
    whole = []
    for who in people:
        whole.append(together(who, [(stage, row) for stage in stages for row in stage["rows"] if row["number"] == who]))
    logs = {row["number"]: row["log_time"] for row in whole if row["judged"] >= FROM}
    if len(logs) < FAR_FROM:
        return {"whole": [{**row, "away": None} for row in whole], "speed": {"n": len(logs)}}
    mean, spread = float(np.mean(list(logs.values()))), float(np.std(list(logs.values()), ddof=1))
    for row in whole:
        row["away"] = (logs[row["number"]] - mean) / spread if row["number"] in logs and spread else None
    return {"whole": whole, "speed": {"mean": mean, "deviation": spread, "n": len(logs)}}


def together(who: int, mine: list[tuple[dict, dict]]) -> dict:
    rows = [row for _, row in mine]
    sums = {name: sum(row[name] for row in rows) for name in ("judged", "answers", "active_minutes", "paid", "quick")}
    same = [row["majority"][stage["coarse"]] for stage, row in mine]
    checked = [row["checks"] for row in rows if row["checks"]]
    return {
        "number": who,
        **sums,
        "per_hour": share(sums["answers"], sums["active_minutes"] / 60),
        "quick_share": share(sums["quick"], sums["judged"]),
        "log_time": weighted([(row["log_time"], row["judged"]) for row in rows]),
        "majority": {name: sum(one[name] for one in same) for name in ("same", "n")},
        "kappa": weighted([(row["kappas"][stage["coarse"]], row["judged"]) for stage, row in mine]),
        "checks": {name: sum(one[name] for one in checked) for name in ("n", "right")} if checked else None,
    }


def weighted(pairs: list[tuple[float | None, int]]) -> float | None:
    defined = [(value, weight) for value, weight in pairs if value is not None and weight]
    values, weights = zip(*defined, strict=True) if defined else ((), ())
    return float(np.average(values, weights=weights)) if defined else None


if __name__ == "__main__":
    print(json.dumps(annotators(Path(sys.argv[1])), indent=2))
