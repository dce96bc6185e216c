"""What the pages of annotators show: a row of each in each stage, and in the whole study."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from tests.independent import agreeing, annotator_tests
from tests.independent.agreeing import number
from tests.independent.annotator_tests import FROM
from tests.independent.people import own_kappas
from tests.independent.reading import TASK, Files, measured, median_time, share
from tests.independent.stages import Stage
from tests.independent.working import in_time

ENDS = [0.25, 0.5, 1, 2, 4]  # of the stage's median time
WIDTHS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000)  # milliseconds


def annotators(files: Files, stages: Sequence[Stage]) -> dict:
    """`stages` with a row of each annotator, the `whole` study, and the `speed` of all of them."""
    gold = {
        (task["stage"], task["item"], task["question"], task["round"]): task
        for task in files.tasks
        if task["kind"] == "check"
    }
    found = [Work(stage, gold).figures(files.annotators) for stage in stages]
    return {"stages": found, **of_study(found, [number(who["annotator"]) for who in files.annotators], files.public)}


class Work:
    """A stage's judgments, and what each annotator's are held against."""

    def __init__(self, stage: Stage, gold: Mapping[tuple, dict]):
        self.stage, self.gold, self.timed = stage, gold, "times" in stage.public
        self.place = stage.settings["position"]
        self.typical = median_time(stage.counted) if self.timed else None
        self.labels = Counter(stage.counted.answer.map(stage.views[stage.coarse]))
        self.tasks, self.compared_with = stage.said, {}
        kinds = {
            (task.position, task.question, task.round): (task.type, task.subtype) for task in stage.tasks.itertuples()
        }
        self.parts: dict[str, dict[str, dict]] = {view: {} for view in self.tasks}
        for view, said in self.tasks.items():
            for part in sorted(set(kinds.values())):
                of_part = {task: given for task, given in said.items() if kinds[task[:3]] == part}
                for who, counts in stage.with_others(view, of_part).items():
                    self.parts[view].setdefault(who, {})[part] = counts
        self.kappas = {found["on"]: own_kappas(found["kappa_pairs"]) for found in stage.agreements}
        self.every, self.counted = (dict(iter(rows.groupby("annotator"))) for rows in (stage.every, stage.counted))
        self.none, self.everyone = stage.every.iloc[:0], self.labelled(stage.counted)

    def figures(self, everybody: Sequence[dict]) -> dict:
        seats = {who["annotator"]: seat for who, seat in self.stage.people}
        there = {*seats, *self.every}
        timed = self.timed and {
            "median_seconds": None if self.typical is None else self.typical / 1000,
            "bands": self.bands(self.stage.counted),
            "times": histogram(measured(self.stage.counted).astype(int).to_list()),
        }
        rows = [self.row(who, seats.get(who["annotator"], {})) for who in everybody if who["annotator"] in there]
        return {
            "position": self.place,
            "name": self.stage.name,
            "coarse": self.stage.coarse,
            "views": list(self.stage.views),
            "labels": dict(sorted(self.labels.items())),
            "rows": rows,
            **self.stage.level,
            **(timed or {}),
        }

    def row(self, who: dict, seat: dict) -> dict:
        name, out = who["annotator"], who["excluded"]
        every = self.every.get(name, self.none)
        last = every.sort_values("given", kind="stable").groupby(["kind", *TASK, "slot"]).tail(1)
        own = last[(last.kind == "judge") & ~last.withdrawn & ~last.surplus]
        mine = own if out else self.counted.get(name, self.none)
        answers, picks = int((~last.withdrawn).sum()), mine[mine.place.notna()]
        said, others = self.said(mine, out)
        same = {view: self.compared(name, view, mine, out) for view in self.tasks}
        others_parts = {view: [of for who, of in every.items() if who != name] for view, every in self.parts.items()}
        labels = annotator_tests.answers(
            self.strata(name, mine, out), [known for who, known in self.differing.items() if who != name]
        )
        agreed = annotator_tests.agreement(same, others_parts)
        side, passed = annotator_tests.side(picks), seat.get("passed") or {}
        signs = self.signs(agreed, labels, side, passed)
        found = {
            "number": number(name),
            "judged": len(mine),
            "answers": answers,
            "labels": dict(sorted(said.items())),
            "others": dict(sorted(others.items())),
            "labels_test": labels,
            "majority": {
                view: dict(zip(("same", "n"), annotator_tests.whole(of), strict=True)) for view, of in same.items()
            },
            "agreement": agreed,
            "kappas": {view: None if out else of.get(name) for view, of in self.kappas.items()},
            "side": side,
            "passed": passed,
        }
        if self.timed:
            timed, more = self.of_time(every, mine, answers)
            found, signs = found | timed, signs + more
        if "gold" in self.stage.public:
            found["checks"] = self.checks(every[every.kind == "check"])
            signs += annotator_tests.written(annotator_tests.of_checks(found["checks"]), self.place)
        return found | {"signs": sorted(signs, key=annotator_tests.place_of)}

    def signs(self, agreed: dict, labels: dict, side: dict, passed: dict) -> list[dict]:
        """Those that rest on answers alone."""
        of_tests = (
            annotator_tests.of_agreement(agreed),
            annotator_tests.of_answers(labels),
            annotator_tests.of_side(side),
        )
        found = [sign for signs in (*of_tests, annotator_tests.of_tries(passed)) for sign in signs]
        return annotator_tests.written(found, self.place)

    def labelled(self, rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({
            "task": list(rows[TASK].itertuples(index=False, name=None)),
            "part": list(rows[["type", "subtype"]].itertuples(index=False, name=None)),
            "label": rows.answer.map(self.stage.views[self.stage.coarse]).to_list(),
        })  # fmt: skip

    def strata(self, name: str, mine: pd.DataFrame, out: bool) -> list[annotator_tests.Stratum]:
        """Beside what others said to the same tasks, or to such as only one judged."""
        if out:
            return annotator_tests.strata(self.labelled(mine), self.everyone, out=True)
        if name not in self.compared_with:
            self.compared_with[name] = annotator_tests.strata(self.labelled(mine), self.everyone, out=False)
        return self.compared_with[name]

    @cached_property
    def differing(self) -> dict[str, dict]:
        """How much likelier each answer is of each annotator whose answers can be compared."""
        found = {who: self.strata(who, rows, False) for who, rows in self.counted.items()}
        enough = {who: of for who, of in found.items() if sum(drawn for drawn, _, _ in of) >= FROM}
        return {who: annotator_tests.moments(of) for who, of in enough.items()}

    def of_time(self, every: pd.DataFrame, mine: pd.DataFrame, answers: int) -> tuple[dict, list[dict]]:
        """What rests on times, the order of giving among them; and the signs in it."""
        minutes = float(every.active_ms.sum()) / 60_000
        found = {
            "active_minutes": minutes,
            "per_hour": share(answers, minutes / 60),
            "paid": minutes / 60 * self.stage.study["pay_per_hour"],
            **self.speed(mine),
            "runs": annotator_tests.runs(in_time(mine[mine.place.notna()])),
        }
        fast = annotator_tests.of_speed(len(mine), found["median_seconds"], self.stage.counted)
        return found, annotator_tests.written([*annotator_tests.of_runs(found["runs"]), *fast], self.place)

    def speed(self, mine: pd.DataFrame) -> dict:
        own, typical = measured(mine), median_time(mine)
        quick = int((own < (self.typical or 0) / 2).sum())
        times = own / self.typical if self.typical else pd.Series(dtype=float)
        return {
            "median_seconds": None if typical is None else typical / 1000,
            "log_time": float(np.median(np.log(times))) if len(times) else None,
            "quick": quick,
            "quick_share": share(quick, len(own)),
            "bands": self.bands(mine),
        }

    def bands(self, rows: pd.DataFrame) -> list[int]:
        if not self.typical:
            return [0] * (len(ENDS) + 1)
        found = np.digitize(measured(rows) / self.typical, ENDS)
        return [int((found == band).sum()) for band in range(len(ENDS) + 1)]

    def said(self, mine: pd.DataFrame, out: bool) -> tuple[Counter, Counter]:
        """Their labels and those of the others. Of somebody who is excluded nothing counts."""
        own = Counter(mine.answer.map(self.stage.views[self.stage.coarse]))
        return own, self.labels if out else self.labels - own

    def compared(self, name: str, view: str, mine: pd.DataFrame, out: bool) -> annotator_tests.Parts:
        """How often they gave the one answer that most of the others gave, of how many, by type and subtype."""
        if not out:
            return self.parts[view].get(name, {})
        found: dict[tuple, list[int]] = {}
        columns = [*TASK, "type", "subtype", "answer"]
        for *place, kind, subtype, answer in mine[columns].itertuples(index=False, name=None):
            votes = Counter(label for _, label in self.tasks[view].get(tuple(place), ()))
            most = agreeing.single_mode(votes)
            if most is not None:
                counts = found.setdefault((kind, subtype), [0, 0])
                counts[0] += most == self.stage.views[view](answer)
                counts[1] += 1
        return {part: (right, n) for part, (right, n) in found.items()}

    def checks(self, rows: pd.DataFrame) -> dict | None:
        newest = rows.sort_values("revision").groupby(["item", *TASK, "screen"]).tail(1)
        newest = newest[~newest.withdrawn]
        if newest.empty:
            return None
        fixed, found = len(self.stage.settings["fixed_answers"]), []
        for row in newest.itertuples():
            task = self.gold[self.stage.name, row.item, row.question, row.round]
            guess = min(1.0, len(task["gold"]) / (len(task["options"]) + fixed))
            found.append((row.answer in task["gold"], guess))
        guess = sum(guess for _, guess in found) / len(found)
        return {"n": len(found), "right": sum(right for right, _ in found), "guess": guess}


def histogram(times: Sequence[int]) -> dict:
    """Of milliseconds: the narrowest width that puts 95% into 30 bins; what is longer stands in one more."""
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


def of_study(stages: Sequence[dict], people: Sequence[int], public: frozenset[str]) -> dict:
    rows = {who: [] for who in people}
    for stage in stages:
        for row in stage["rows"]:
            rows[row["number"]].append((stage, row))
    whole = [together(who, mine, public) for who, mine in rows.items()]
    if "times" not in public:
        return {"whole": whole}
    timed = [row for row in whole if row["judged"] >= FROM and row["log_time"] is not None]
    logs = {row["number"]: row["log_time"] for row in timed}
    n, mean, spread = len(logs), None, None
    if n >= annotator_tests.FAR_FROM:
        mean, spread = float(np.mean(list(logs.values()))), float(np.std(list(logs.values()), ddof=1))
    for row in whole:
        row["away"] = (logs[row["number"]] - mean) / spread if row["number"] in logs and spread else None
        row["signs"] = row["signs"] + annotator_tests.written(annotator_tests.of_distance(row["away"], n), None)
    return {"whole": whole, "speed": {"mean": mean, "deviation": spread, "n": n}}


def together(who: int, mine: Sequence[tuple[dict, dict]], public: frozenset[str]) -> dict:
    rows = [row for _, row in mine]
    same = [row["majority"][stage["coarse"]] for stage, row in mine]
    found = {
        "number": who,
        **summed(rows, "judged", "answers"),
        "majority": summed(same, "same", "n"),
        "kappa": weighted([(row["kappas"][stage["coarse"]], row["judged"]) for stage, row in mine]),
        "signs": [sign for row in rows for sign in row["signs"]],
    }
    if "times" in public:
        sums = summed(rows, "active_minutes", "paid", "quick")
        found |= sums | {
            "per_hour": share(found["answers"], sums["active_minutes"] / 60),
            "quick_share": share(sums["quick"], sum(sum(row["bands"]) for row in rows)),
            "log_time": weighted([(row["log_time"], row["judged"]) for row in rows]),
        }
    if "gold" in public:
        checked = [row["checks"] for row in rows if row["checks"]]
        found["checks"] = summed(checked, "n", "right") if checked else None
    return found


def summed(rows: Sequence[Mapping], *names: str) -> dict:
    return {name: sum(row[name] for row in rows) for name in names}


def weighted(pairs: Sequence[tuple[float | None, int]]) -> float | None:
    defined = [(value, weight) for value, weight in pairs if value is not None and weight]
    values, weights = zip(*defined, strict=True) if defined else ((), ())
    return float(np.average(values, weights=weights)) if defined else None
