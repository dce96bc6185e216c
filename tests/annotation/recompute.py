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
from scipy import stats
from sklearn.metrics import cohen_kappa_score

HOUR_MS = 3_600_000
TASK = ["position", "question", "round"]
CLEAR = ("majority", "dawid_skene")


def recompute(folder: Path) -> dict:
    manifest, stages = json.loads((folder / "manifest.json").read_text()), read_stages(folder)
    return {
        "funnel": funnel(manifest, stages, pd.DataFrame(lines(folder / "tasks.jsonl"))),
        "stages": [stage.figures() for stage in stages],
        "outcomes": outcome_rows(stages),
    }


def read_stages(folder: Path) -> list["Stage"]:
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows["us"] = rows.created_at.astype("datetime64[us, UTC]").astype("int64")
    rows["content"] = rows.content.map(lambda said: json.loads(said) if isinstance(said, str) else {})
    tasks = pd.DataFrame(lines(folder / "tasks.jsonl"))
    read = {name: lines(folder / f"{name}.jsonl") for name in ("flags", "annotators", "adjudications")}
    return [Stage(manifest, stage, rows, tasks, read) for stage in manifest["stages"]]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# The coarser views of an answer that can be judged, as docs/measures.md words them
COARSE = {
    "original or not": lambda answer: "original" if answer == "positive-0" else "not",
    "holds or not": lambda answer: "holds" if answer == "yes" else "not",
    "both above the negative": lambda answer: "right" if is_right(answer) else "wrong",
    "sense": lambda answer: answer.split("/")[0],
    "fluency": lambda answer: answer.split("/")[1],
}


def is_right(order: str) -> bool:
    """The negative is on the last step, alone (Hard Positive Truth, §4.1)."""
    return order.split(">")[-1] == "negative" and ">" in order


def estimated(kind: str) -> str:
    """A task with one candidate has it at any of four places, which are one kind."""
    return "candidate" if kind.startswith("candidate-") else kind


def posteriors(rows: list[tuple]) -> dict[tuple, dict[str, float]]:
    """Dawid and Skene (1979), §3, item by item and in plain sums; rows are (item, annotator, label)."""
    labels = list(dict.fromkeys(label for _, _, label in rows))
    of_item = {item: [row[1:] for row in found] for item, found in itertools.groupby(rows, key=lambda row: row[0])}
    found = {
        item: {j: sum(label == j for _, label in said) / len(said) for j in labels} for item, said in of_item.items()
    }
    before = -math.inf
    while True:
        shares = {j: sum(one[j] for one in found.values()) / len(found) for j in labels}
        counts = {}
        for item, who, label in rows:
            for j in labels:
                counts[who, j, label] = counts.get((who, j, label), 0) + found[item][j]
        whole = {key: sum(counts.get((*key, label), 0) for label in labels) for key in {key[:2] for key in counts}}
        fits, now = {}, 0.0
        for item, said in of_item.items():
            logs = {
                j: math.log(max(shares[j], 1e-300))
                + sum(
                    math.log(max(counts[who, j, label] / whole[who, j] if whole[who, j] else 0, 1e-300))
                    for who, label in said
                )
                for j in labels
            }
            top = max(logs.values())
            sums = sum(math.exp(one - top) for one in logs.values())
            fits[item] = {j: math.exp(logs[j] - top) / sums for j in labels}
            now += (top + math.log(sums)) / len(of_item)
        found = fits
        if abs(now - before) < 1e-10:
            return found
        before = now


# One stage


def mended(answer: str) -> str:
    """Who takes somebody's edit says what its author said."""
    return "edited" if answer.startswith("edit-") else answer


class Stage:
    """What an export holds of one stage."""

    def __init__(self, manifest: dict, settings: dict, rows: pd.DataFrame, tasks: pd.DataFrame, read: dict):
        self.study, self.settings, self.name = manifest["study"], settings, settings["name"]
        self.every = rows[rows.stage == self.name]
        self.rows = self.every[self.every.kind == "judge"]
        self.counted = self.rows[self.rows.counted].sort_values([*TASK, "us", "slot"]).reset_index(drop=True)
        self.standing = self.counted[self.counted.live].reset_index(drop=True)
        mine = tasks[(tasks.stage == self.name) & tasks.live & (tasks.kind == "judge")]
        self.tasks = mine.sort_values(TASK).reset_index(drop=True)
        self.flags = [flag for flag in read["flags"] if flag["stage"] == self.name]
        adjudicated = [row for row in read["adjudications"] if row["stage"] == self.name]
        self.adjudicated = {(row["item"], row["question"], row["round"]): row for row in adjudicated}
        self.people = [
            (who, seat) for who in read["annotators"] for seat in who["stages"] if seat["stage"] == self.name
        ]
        self.views = {"answer": mended, **{name: self._view(name) for name in settings["views"]}}

    def _view(self, name: str):
        """The coarser views, each as docs/measures.md words it."""
        if name in ("kept or rejected", "kept or dropped"):
            return lambda answer: answer if answer in (*self.settings["drops"], "cannot_judge") else "kept"
        coarse = COARSE.get(name)
        if coarse:
            return lambda answer: answer if answer == "cannot_judge" else coarse(answer)
        if name != "any or none":
            raise ValueError(f"there is no word on the view {name!r} here")
        return self.kind

    def kind(self, answer: str) -> str:
        """Where options are alike, they are one kind, any."""
        fixed = [*self.settings["fixed_answers"], "cannot_judge"]
        return answer if answer in fixed or not self.settings["alike"] else "any"

    def decided(self) -> pd.DataFrame:
        """Each live task with (state, outcome, reason, how, content) by the rule, an adjudicator's word before it."""
        given = {
            place: list(zip(group.answer, group.content, strict=True)) for place, group in self.standing.groupby(TASK)
        }
        found = []
        for task in self.tasks.itertuples():
            word = self.adjudicated.get((task.item, task.question, task.round))
            if word:
                found.append((word["state"], word["outcome"], word["reason"], "adjudicator", word["content"]))
            else:
                mine = given.get((task.position, task.question, task.round), [])
                likely = self.likely.get((task.position, task.question, task.round))
                found.append(
                    self.confirm(mine, task.overlap)
                    if self.settings["confirms"]
                    else self.settle(mine, task.overlap, likely)
                )
        named = pd.DataFrame(found, columns=["came", "answer", "why", "how", "brought"], dtype=object)
        return pd.concat([self.tasks, named], axis=1)

    def confirm(self, given: list[tuple[str, dict]], overlap: int) -> tuple:
        """Two annotators of one mind, by their words or else by their label; one is enough for what is no edit."""
        said = [
            json.dumps(content["texts"], sort_keys=True) if content.get("texts") else label for label, content in given
        ]
        votes = pd.Series(said, dtype=object).value_counts()
        for (label, content), verdict in zip(given, said, strict=True):
            alone = len(given) == 1 and label.partition("-")[0] not in ("edited", "edit")
            if len(given) >= overlap and (votes[verdict] > 1 or alone):
                how = "only_answer" if len(given) == 1 else "unanimous" if len(votes) == 1 else "majority"
                return *self.ending(label, how), content
        return "open", None, None, None, None

    @property
    def likely(self) -> dict[tuple, dict[str, float]]:
        """Of each task, how probable each kind of answer is, where that decides."""
        if self.settings["rule"] == "majority":
            return {}
        rows = self.standing.assign(kind=self.standing.answer.map(self.kind).map(estimated))
        return posteriors(
            [(tuple(row[name] for name in TASK), row["annotator"], row["kind"]) for row in rows.to_dict("records")]
        )

    def settle(self, given: list[tuple[str, dict]], overlap: int, likely: dict[str, float] | None) -> tuple:
        """The rule on the labels; what comes with the outcome is that of the first answer of its label."""
        found = self.decide([label for label, _ in given], overlap, likely)
        return *found, next((content for label, content in given if label == found[1]), {})

    def decide(self, answers: list[str], overlap: int, likely: dict[str, float] | None) -> tuple:
        """(state, outcome, reason, how), by the rule as docs/measures.md states it."""
        if len(answers) < overlap:
            return "open", None, None, None
        kinds = pd.Series([self.kind(answer) for answer in answers])
        votes = kinds.value_counts()
        top = [kind for kind in dict.fromkeys(kinds) if votes[kind] == votes.max()]
        how = "only_answer" if len(answers) == 1 else "unanimous" if len(set(answers)) == 1 else "majority"
        if likely:
            best, how = max(likely[estimated(kind)] for kind in kinds), "dawid_skene"
            top = [kind for kind in dict.fromkeys(kinds) if best - likely[estimated(kind)] <= 1e-6]
        if len(top) > 1:
            how = "tie_rule"
            if self.settings["tie_rule"] == "adjudicate":
                return "open", None, None, None
            if self.settings["tie_rule"] == "drop":
                level = ("kept", None, None, "no_majority")
                return level if self.settings["measures"] else ("dropped", None, "tie_unresolved", how)
        kind = "none" if len(top) > 1 and self.settings["tie_rule"] == "none" else top[0]
        if kind == "any":
            picks = pd.Series([answer for answer in answers if self.kind(answer) == "any"])
            most = picks.value_counts()
            level = [pick for pick in dict.fromkeys(picks) if most[pick] == most.max()]
            kind, how = level[0], "first_of_equals" if how in CLEAR and len(level) > 1 else how
        return self.ending(kind, how)

    def ending(self, answer: str, how: str) -> tuple:
        drops = self.settings["drops"]
        reason = drops.get(answer) or drops.get(answer.rpartition("-")[0])
        return ("dropped", answer, reason, how) if reason else ("kept", answer, None, how)

    def figures(self) -> dict:
        decided, seen = self.decided(), self.seen()
        agreements = [agreement(name, table) for name, table in seen.items()]
        wanted, gone = int(self.tasks.overlap.sum()), len(self.counted) - len(self.standing)
        pay, coarse = self.study["pay_per_hour"], list(seen)[min(1, len(seen) - 1)]
        return {
            "study": self.named(),
            "progress": self.progress(decided, wanted, gone),
            "outcomes": outcomes(decided),
            "pace": pace(self.counted),
            "cost": cost(self.every, len(self.counted), wanted + gone, pay),
            "agreement": agreements,
            "disagreements": {
                name: int((table.groupby(TASK).label.nunique() > 1).sum()) for name, table in seen.items()
            },
            "annotators": [self.annotator(who, seat, seen, agreements) for who, seat in self.people],
            "by_type_on": coarse,
            "by_type": [
                by_type(kind, group, self.standing, seen[coarse])
                for kind, group in decided.groupby(["type", "subtype"], sort=True)
            ],
            "series": series(self.counted),
        }

    def seen(self) -> dict[str, pd.DataFrame]:
        return {name: self.standing.assign(label=self.standing.answer.map(view)) for name, view in self.views.items()}

    def named(self) -> dict:
        names = ("protocol", "strategy", "overlap", "cap", "rule", "tie_rule", "batch_size", "agreement_items")
        names += ("agreement_overlap", "sample", "quota", "check_rate")
        of_study = {name: self.study[name] for name in ("name", "pay_per_hour", "currency")}
        place = {"stage": self.settings["position"], "stage_name": self.name, "views": list(self.views)}
        return {**of_study, **place, **{name: self.settings[name] for name in names}}

    def progress(self, decided: pd.DataFrame, wanted: int, gone: int) -> dict:
        return {
            "items": self.tasks.item.nunique(),
            "tasks": len(self.tasks),
            "settled": int((decided.came != "open").sum()),
            "judgments_wanted": wanted,
            "judgments_counted": len(self.standing),
            "judgments_gone": gone,
            "judgment_rows": len(self.rows),
            "withdrawn": int(self.rows.withdrawn.sum()),
            "surplus": int((self.rows.surplus & ~self.rows.withdrawn).sum()),
            "flags": len(self.flags),
            "flags_open": sum(not flag["settled"] for flag in self.flags),
        }

    def annotator(self, who: dict, seat: dict, seen: dict, agreements: list) -> dict:
        name = who["annotator"]
        of = {**who, "batch": seat["batch"], "skipped": seat["skipped"]}
        del of["stages"]
        return {**annotator(name, self, seen, agreements), **of}


def outcomes(decided: pd.DataFrame) -> dict:
    kept, dropped = (int((decided.came == state).sum()) for state in ("kept", "dropped"))
    settled = decided[decided.came != "open"]
    return {
        "tasks": len(decided),
        "kept": kept,
        "dropped": dropped,
        "open": len(decided) - kept - dropped,
        "reasons": decided[decided.came == "dropped"].why.value_counts().to_dict(),
        "decided_by": settled.how.value_counts().to_dict(),
        "kept_share": kept / (kept + dropped) if kept + dropped else None,
    }


# What came of each task, and what it had from the stages before


def outcome_rows(stages: list[Stage]) -> list[dict]:
    found, rows = {}, []
    for stage in stages:
        decided = stage.decided()
        found[stage.name] = {item: carried_on(stage, group) for item, group in decided.groupby("position")}
        source = found.get(stage.settings["source"], {})
        rows += [
            {
                "stage": stage.name, "item": task.item, "question": task.question, "state": task.came,
                "outcome": task.answer or None, "reason": task.why or None, "decided_by": task.how,
                "content": task.brought or None, "carried": source.get(task.position) or None,
            }
            for task in decided.itertuples()
        ]  # fmt: skip
    return rows


def carried_on(stage: Stage, tasks: pd.DataFrame) -> dict[str, str]:
    """What goes on with an item: what came in and, where all of its tasks keep it, what they chose or wrote."""
    carried = dict(tasks.carried.iloc[0])
    if (tasks.came != "kept").any():
        return carried
    if stage.settings["carries"]:
        carried[stage.settings["carries"]] = tasks.answer.iloc[0]
    for brought in tasks.brought:
        carried |= {f"caption-{role}": text for role, text in brought.get("texts", {}).items()}
    return carried


# The funnel


def funnel(manifest: dict, stages: list[Stage], tasks: pd.DataFrame) -> dict:
    selecting = [stage for stage in stages if not stage.settings["measures"]]
    found = {stage.name: of_items(stage.decided()) for stage in selecting}
    groups = {(row["type"], row["subtype"]): row["imported"] for row in manifest["items_by_type"]}
    kinds = {}
    for stage in selecting:
        kinds |= {row.position: (row.type, row.subtype) for row in stage.tasks.itertuples()}
    own = tasks[(tasks.kind != "judge") & tasks.own]
    known = {stage.name: set(own[own.stage == stage.name].position) for stage in selecting}
    kinds |= {row.position: (row.type, row.subtype) for row in own.itertuples()}
    for stage in selecting:
        kinds |= {row["position"]: (row["type"], row["subtype"]) for row in stage.settings["not_suitable"]}
    full = {stage.name: is_full(stage, found[stage.name], kinds, groups) for stage in selecting}
    fates = {item: fate(item, selecting, found, known, full) for item in kinds}
    unmet = {kind: count - sum(of == kind for of in kinds.values()) for kind, count in groups.items()}

    def part(wanted: list[tuple]) -> dict:
        items = [item for item, kind in kinds.items() if kind in wanted]
        return counts(items, fates, selecting, found, sum(unmet[kind] for kind in wanted), full)

    return {
        **part(list(groups)),
        "measuring": [measured(stage) for stage in stages if stage.settings["measures"]],
        "by_type": [{"type": kind, "subtype": subtype, **part([(kind, subtype)])} for kind, subtype in groups],
    }


def is_full(stage: Stage, found: dict, kinds: dict, groups: dict) -> bool:
    """Whether a sample is all there; where it is so many of each type, that of every type."""
    sample = stage.settings["sample"]
    if sample is None or not stage.settings["sample_each"]:
        return sample is not None and len(found) >= sample
    has = pd.Series([kinds[item][0] for item in found], dtype=object).value_counts()
    there = pd.Series({kind: 0 for kind, _ in groups})
    for (kind, _), count in groups.items():
        there[kind] += count
    return all(has.get(kind, 0) >= min(sample, count) for kind, count in there.items())


def of_items(decided: pd.DataFrame) -> dict[int, tuple[str, str]]:
    """(state, reason) of each item: dropped by its first task that says so, kept when all keep it."""
    found = {}
    for item, group in decided.sort_values("question").groupby("position"):
        dropped = group[group.came == "dropped"]
        if len(dropped):
            found[item] = ("dropped", dropped.why.iloc[0])
        else:
            found[item] = ("open" if (group.came == "open").any() else "kept", "")
    return found


def fate(item: int, stages: list[Stage], found: dict, known: dict, full: dict) -> dict:
    """Where an item is, follow it: stage after stage until nobody takes it up."""
    ends = []
    for stage in stages:
        settings = stage.settings
        if item not in found[stage.name]:
            if settings["source"] is None:
                ends.append(left_out(item, stage, known, not full[stage.name]))
            continue
        state, reason = found[stage.name][item]
        takers = [one for one in stages if one.settings["source"] == stage.name]
        takers = [one for one in takers if (reason or state) in one.settings["takes"]]
        for taker in takers:
            later = taker.settings["promotion"] == "closing" or taker.settings["sample"] is not None
            if item not in found[taker.name]:
                ends.append(left_out(item, taker, known, later and settings["state"] == "open"))
        if not takers:
            ends.append({"state": state, "stage": stage, "reason": reason, "waits": False, "out": False})
    ranked = sorted(ends, key=lambda end: ["dropped", "open", "kept"].index(end["state"]))
    return ranked[0] if ranked else {"state": "kept", "stage": None, "reason": "", "waits": False, "out": False}


def left_out(item: int, stage: Stage, known: dict, waits: bool) -> dict:
    if item in known[stage.name]:
        return {"state": "dropped", "stage": stage, "reason": "check_item", "waits": False, "out": True}
    if item in {row["position"] for row in stage.settings["not_suitable"]}:
        return {"state": "dropped", "stage": stage, "reason": "not_suitable", "waits": False, "out": True}
    if waits:
        return {"state": "open", "stage": stage, "reason": "", "waits": True, "out": False}
    reason = "not_suitable" if stage.settings["sample"] is None else "not_sampled"
    return {"state": "dropped", "stage": stage, "reason": reason, "waits": False, "out": True}


def counts(items: list[int], fates: dict, stages: list[Stage], found: dict, unmet: int, full: dict) -> dict:
    """`unmet` items are in no stage's tasks; they wait for the first one, or came through where none selects."""
    root = next((stage for stage in stages if stage.settings["source"] is None), None)
    nothing = {"state": "open", "stage": root, "reason": "", "waits": True, "out": False}
    through = {"state": "kept", "stage": None, "reason": "", "waits": False, "out": False}
    if root is not None and full[root.name]:
        nothing = left_out(-1, root, {root.name: set()}, False)
    ends = [fates[item] for item in items] + [nothing if root else through] * unmet
    whole = len(ends)
    number = {state: sum(end["state"] == state for end in ends) for state in ("kept", "dropped", "open")}
    return {
        "imported": whole,
        "stages": [step(stage, items, found[stage.name], ends) for stage in stages],
        **number,
        **{f"{state}_share": share(count, whole) for state, count in number.items()},
        "reasons": by_stage(ends, "dropped"),
        "open_in": by_stage(ends, "open"),
    }


def step(stage: Stage, items: list[int], found: dict, ends: list[dict]) -> dict:
    mine = [found[item] for item in items if item in found]
    number = {state: sum(one == state for one, _ in mine) for state in ("kept", "dropped", "open")}
    out = [end["reason"] for end in ends if end["out"] and end["stage"] is stage]
    return {
        "stage": stage.settings["position"],
        "name": stage.name,
        "protocol": stage.settings["protocol"],
        "entered": len(mine),
        "entered_share": share(len(mine), len(ends)),
        **number,
        **{f"{state}_share": share(count, len(mine)) for state, count in number.items()},
        "kept_of_imported": share(number["kept"], len(ends)),
        "reasons": reasons([reason for state, reason in mine if state == "dropped"], len(mine)),
        "waiting": sum(end["waits"] and end["stage"] is stage for end in ends),
        "left_out": reasons(out, len(ends)),
    }


def reasons(names: list[str], whole: int) -> list[dict]:
    rows = [{"reason": name, "items": names.count(name)} for name in sorted(set(names))]
    return [{**row, "share": share(row["items"], whole)} for row in sorted(rows, key=lambda row: -row["items"])]


def by_stage(ends: list[dict], state: str) -> list[dict]:
    places = [
        (end["stage"].settings["position"], end["stage"].name, end["reason"], end["waits"])
        for end in ends
        if end["state"] == state
    ]
    return [
        {
            "stage": place[0],
            "name": place[1],
            "reason": place[2],
            "waits": place[3],
            "items": places.count(place),
            "share": share(places.count(place), len(ends)),
        }
        for place in sorted(set(places))
    ]


def measured(stage: Stage) -> dict:
    answered = int((stage.decided().came != "open").sum())
    return {
        "stage": stage.settings["position"],
        "name": stage.name,
        "protocol": stage.settings["protocol"],
        "sampled": stage.tasks.position.nunique(),
        "tasks": len(stage.tasks),
        "answered": answered,
        "open": len(stage.tasks) - answered,
        "answered_share": share(answered, len(stage.tasks)),
    }


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# Judgments


def pace(counted: pd.DataFrame) -> dict:
    if counted.empty:
        return {"first": None, "last": None, "hours": 0.0, "per_hour": None}
    first, last = counted.created_at.min(), counted.created_at.max()
    hours = (last - first).total_seconds() / 3600
    rate = len(counted) / hours if hours else None
    return {"first": first.isoformat(), "last": last.isoformat(), "hours": hours, "per_hour": rate}


def cost(rows: pd.DataFrame, counted: int, wanted: int, pay: float) -> dict:
    minutes, left = float(rows.active_ms.sum()) / 60_000, wanted - counted
    each, away = minutes / counted if counted else math.nan, math.nan
    mine = rows.assign(given=rows.counted & (rows.kind == "judge")).groupby("annotator")[["active_ms", "given"]].sum()
    if counted and (n := len(mine)) > 1:
        off = (mine.active_ms / 60_000 - each * mine.given).astype(float)
        away = stats.t.ppf(0.975, n - 1) * math.sqrt((off**2).sum() * n / (n - 1)) / counted
    end, low, high = (minutes + left * one for one in (each, each - min(away, each), each + away))
    between = {"minutes_low": low, "minutes_high": high, "cost_low": low / 60 * pay, "cost_high": high / 60 * pay}
    found = {
        "active_minutes": minutes, "cost": minutes / 60 * pay, "to_come": left,
        "expected_minutes": end, "expected_cost": end / 60 * pay,
    }  # fmt: skip
    return {**defined(found), "range": defined(between)}


def defined(found: dict) -> dict:
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def units(table: pd.DataFrame) -> list[list[str]]:
    """The labels of each item that has two or more, items in order."""
    groups = table.groupby(TASK).label.apply(list)
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
    wide = table.assign(number=table.annotator.str[2:].astype(int)).pivot(index=TASK, columns="number", values="label")
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


def annotator(name: str, stage: Stage, seen: dict, agreements: list) -> dict:
    every, own = stage.every[stage.every.annotator == name], stage.rows[stage.rows.annotator == name]
    mine, pay = stage.counted[stage.counted.annotator == name], stage.study["pay_per_hour"]
    picks = mine[mine.place.notna()]
    shown = int(picks.shown.map(len).max()) if len(picks) else 0
    hours = float(every.active_ms.sum()) / HOUR_MS
    fixed = stage.settings["fixed_answers"]
    return {
        "annotator": name,
        "judged": len(mine),
        "median_seconds": float(np.median(mine.active_ms)) / 1000 if len(mine) else None,
        "fixed_shares": {answer: float((mine.answer == answer).mean()) if len(mine) else None for answer in fixed},
        "cannot_judge": int((mine.answer == "cannot_judge").sum()),
        "picks": len(picks),
        "places": [int((picks.place == place).sum()) for place in range(1, shown + 1)],
        "withdrawn": int(own.withdrawn.sum()),
        "surplus": int((own.surplus & ~own.withdrawn).sum()),
        "active_minutes": hours * 60,
        "paid": hours * pay,
        "signs": signs(mine, picks, stage.counted),
        "with_majority": {view: with_majority(name, table) for view, table in seen.items()},
        "kappa_mean": {found["on"]: own_kappa(int(name[2:]), found["kappa_pairs"]) for found in agreements},
    }


def signs(mine: pd.DataFrame, picks: pd.DataFrame, counted: pd.DataFrame) -> list[str]:
    found = []
    if len(mine) >= 20 and np.median(mine.active_ms) < np.median(counted.active_ms) / 2:
        found.append("fast")
    if len(picks) < 20:
        return found
    shown = picks.shown.map(len)
    return found + ["side"] * one_sided(picks, shown) + ["runs"] * repeating(picks.assign(many=shown))


def one_sided(picks: pd.DataFrame, shown: pd.Series) -> bool:
    places = range(1, int(shown.max()) + 1)
    counts = np.array([(picks.place == place).sum() for place in places])
    expected = np.array([(1 / shown[shown >= place]).sum() for place in places])
    if len(counts) < 2 or expected.min() < 5:
        return False
    if set(shown) == {2}:
        p = stats.binomtest(int(counts[0]), len(picks), 0.5).pvalue
    else:
        p = stats.chisquare(counts, expected).pvalue
    return bool(p < 0.001 and ((counts - expected) / len(picks)).max() >= 0.1 - 1e-12)


def repeating(picks: pd.DataFrame) -> bool:
    picks = picks.sort_values(["us", "position", "question", "round"])
    place, many = picks.place.to_numpy(), picks.many.to_numpy()
    again, tried = place[1:] == place[:-1], len(picks) - 1
    chance = float((1 / np.maximum(many[1:], many[:-1])).mean())
    law = stats.binom(tried, chance)
    p_repeats = min(1.0, 2 * min(law.cdf(again.sum()), law.sf(again.sum() - 1)))
    longest = max((len(run) for run in "".join("x" if same else " " for same in again).split()), default=0)
    p_longest = run_of(longest, tried, chance)
    if 2 * min(p_repeats, p_longest) >= 0.001:
        return False
    return bool(p_longest < p_repeats) or bool(abs(again.mean() - chance) >= 0.1 - 1e-12)


def run_of(length: int, tried: int, chance: float) -> float:
    """P(so many in a row or more): by the states of a chain that counts how many came in a row."""
    if not length:
        return 1.0
    chain = np.zeros((length + 1, length + 1))
    chain[:length, 0] = 1 - chance
    chain[range(length), range(1, length + 1)] = chance
    chain[length, length] = 1
    return float(np.linalg.matrix_power(chain, tried)[0, length])


def with_majority(name: str, table: pd.DataFrame) -> dict:
    mine = table[table.annotator == name].set_index(TASK).label
    others = table[table.annotator != name].groupby(TASK).label.apply(pd.Series.mode)
    same = []
    for place, label in mine.items():
        modes = others.loc[place] if place in others.index else []
        if len(modes) == 1:
            same.append(modes.iloc[0] == label)
    return {"value": float(np.mean(same)) if same else None, "n": len(same)}


def own_kappa(number: int, pairs: list[dict]) -> float | None:
    mine = [pair["value"] for pair in pairs if number in (pair["first"], pair["second"]) and pair["value"] is not None]
    return float(np.mean(mine)) if mine else None


def by_type(kind: tuple[str, str], decided: pd.DataFrame, standing: pd.DataFrame, table: pd.DataFrame) -> dict:
    part = table[(table.type == kind[0]) & (table.subtype == kind[1])]
    return {
        "type": kind[0],
        "subtype": kind[1],
        **outcomes(decided),
        "judgments": int(((standing.type == kind[0]) & (standing.subtype == kind[1])).sum()),
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


def figures(folder: Path) -> dict:
    """What the export says, without the human baseline (recompute_baseline.py) and the papers' figures of a stage
    (recompute_paper.py).
    """
    found = json.loads((folder / "figures.json").read_text())
    stages = [{name: part for name, part in stage.items() if name != "paper"} for stage in found["stages"]]
    return {"funnel": found["funnel"], "stages": stages, "outcomes": told(folder)}


def told(folder: Path) -> list[dict]:
    """What came of the live tasks, as the export says, in the order of `outcome_rows`."""
    manifest = json.loads((folder / "manifest.json").read_text())
    order = {stage["name"]: place for place, stage in enumerate(manifest["stages"])}
    tasks = [task for task in lines(folder / "tasks.jsonl") if task["live"] and task["kind"] == "judge"]
    tasks.sort(key=lambda task: (order[task["stage"]], task["position"], task["question"], task["round"]))
    names = ("stage", "item", "question", "outcome", "reason", "decided_by", "content", "carried")
    return [
        {"state": task["state"] or "open", **{name: task[name] or None for name in names}, "question": task["question"]}
        for task in tasks
    ]


def differences(ours, theirs, path: str = "") -> list[str]:
    """Where two trees differ, numbers by more than 1e-9. Words that explain a figure are left out."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = (set(ours) | set(theirs)) - ({"reason"} - set(ours))
        pairs = {name: (ours.get(name, "missing"), theirs.get(name, "missing")) for name in sorted(names)}
        return [found for name, pair in pairs.items() for found in differences(*pair, f"{path}/{name}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [found for place, pair in pairs for found in differences(*pair, f"{path}/{place}")]
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (ours, theirs)]
    same = abs(ours - theirs) <= 1e-9 * max(1, abs(ours)) if all(numbers) else ours == theirs
    return [] if same else [f"{path}: {ours!r} here, {theirs!r} in figures.json"]


def main(folder: Path) -> int:
    found = differences(recompute(folder), figures(folder))
    print("\n".join(found) or "Every figure is the same.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
