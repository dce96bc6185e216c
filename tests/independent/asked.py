"""A stage that asks a protocol file with picks of many, points and boxes: its views, what it decides, what is right.

The standard error of a mean is that of a ratio (Cochran 1977, §6.4). ValueError: a file that asks for something else.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.stats
import yaml

from tests.independent import agreeing, clusters, levels
from tests.independent.agreeing import Said
from tests.independent.deciding import CANNOT_JUDGE, OPEN
from tests.independent.levels import CHIEF, NOMINAL, SET, View, chosen, jaccard
from tests.independent.reading import TASK, Files
from tests.independent.stages import Stage, outcomes

# The file


class File:
    """Of several answers, as its YAML has them."""

    def __init__(self, files: Files, settings: Mapping):
        self.data = yaml.safe_load((files.folder / settings["protocol_file"]["path"]).read_text(encoding="utf-8"))
        self.answers = {one["name"]: one for one in self.data["answers"]}
        kinds = {one["kind"] if one["kind"] != "pick" or one.get("many") else "" for one in self.answers.values()}
        if len(self.answers) < 2 or not kinds <= {"pick", "points", "boxes"}:
            raise ValueError(f"there is no word on {settings['protocol']} here")

    def views(self) -> dict[str, View]:
        found = {"answer": View(str)}
        for place, (name, one) in enumerate(self.answers.items()):
            level = SET if one["kind"] == "pick" else one["kind"]

            def part(label: str, place: int = place) -> str:
                return label if label == CANNOT_JUDGE else label.split("/")[place].partition(";")[0]

            found[name] = View(part, level, one.get("radius", 0.05))
            if level == SET:
                found[f"{name}, by option"] = View(part, options=lambda label, name=name: self.options(name, label))
        return found

    def part(self, name: str, label: str) -> str:
        return label if label == CANNOT_JUDGE else label.split("/")[list(self.answers).index(name)]

    def options(self, name: str, label: str) -> list[str]:
        """Every option on the screen; where items have different numbers of them, the answer says how many."""
        told, found = iter(self.part(name, label).partition(";")[2].split("+")), []
        for role in self.answers[name]["of"]:
            kind, _, role = role.partition(".")
            count = str(self.data["item"][kind][role])
            many = int(next(told)) if ".." in count else int(count)
            found += [f"{role}-{place}" for place in range(many)] if count != "1" else [role]
        return found

    def right(self, name: str, label: str) -> frozenset[str]:
        roles = self.data["right"][name]
        return frozenset(one for one in self.options(name, label) if one.rpartition("-")[0] in roles or one in roles)

    def limits(self, name: str) -> tuple[int, int]:
        least, _, most = str(self.answers[name]["many"]).partition("..")
        return int(least), int(most)

    def decide(self, labels: Sequence[str], overlap: int) -> tuple:
        """The first rule that drops it, else the first that waits, else the first."""
        if len(labels) < overlap:
            return OPEN
        found = []
        for rule in self.data["decide"]:
            said = [self.part(rule["answer"], label) for label in labels]
            found.append(self.by_options(rule, said) if rule["rule"] == "majority" else self.by_agreement(rule, said))
        return min(found, key=lambda one: ("dropped", "open", "kept").index(one[0]))

    def by_options(self, rule: Mapping, said: Sequence[str]) -> tuple:
        """The options that more than half chose, if they may be chosen together."""
        given = [chosen(one) for one in said]
        votes = Counter(option for one in given for option in one)
        if any(2 * count == len(given) for count in votes.values()):
            return ("dropped", None, "tie_unresolved", "tie_rule") if rule.get("tie", "drop") == "drop" else OPEN
        how = "only_answer" if len(given) == 1 else "unanimous" if len(set(given)) == 1 else "majority"
        won = sorted(option for option, count in votes.items() if 2 * count > len(given))
        if CANNOT_JUDGE in won:
            return "dropped", CANNOT_JUDGE, rule["drop"].get(CANNOT_JUDGE, CANNOT_JUDGE), how
        least, most = self.limits(rule["answer"])
        if not least <= len(won) <= most:
            return "dropped", ",".join(won), rule["drop"]["else"], "no_agreement"
        roles = {one.rpartition("-")[0] or one for one in won}
        why = next((reason for role, reason in rule["drop"].items() if role in roles), None)
        return "dropped" if why else "kept", ",".join(won), why, how

    def by_agreement(self, rule: Mapping, said: Sequence[str]) -> tuple:
        able = [one for one in said if one != CANNOT_JUDGE]
        if 2 * len(able) < len(said):
            return "dropped", CANNOT_JUDGE, CANNOT_JUDGE, "majority"
        like = self.views()[rule["answer"]].like
        level = np.mean([like(*pair) for pair in itertools.combinations(able, 2)] or [1.0])
        kept = level >= rule["at_least"] - 1e-9
        return "kept" if kept else "dropped", f"{level:.6g}", None if kept else rule["below"], "agreement"


# The stage


class AskedStage(Stage):
    def views_of(self, files: Files) -> dict[str, View]:
        self.file = File(files, self.settings)
        return self.file.views()

    @property
    def coarse(self) -> str:
        return next(iter(self.file.answers))

    @property
    def level(self) -> dict[str, str]:
        return {"level": self.views[self.coarse].level}

    @cached_property
    def decided(self) -> pd.DataFrame:
        given: dict[tuple, list[str]] = defaultdict(list)
        for *task, answer in self.standing[[*TASK, "answer"]].itertuples(index=False, name=None):
            given[tuple(task)].append(answer)
        found = []
        for task in self.tasks.itertuples():
            word = self.adjudicated.get((task.item, task.question, task.round))
            labels = given[task.position, task.question, task.round]
            if word and word["outcome"]:  # as if all had said so
                state, _, why, _ = self.file.decide([word["outcome"]] * self.settings["overlap"], 1)
                found.append((state, word["outcome"], why, "adjudicator", {}))
            elif word:
                found.append((word["state"], None, word["reason"], "adjudicator", {}))
            else:
                found.append((*self.file.decide(labels, task.overlap), {}))
        named = pd.DataFrame(found, columns=["came", "answer", "why", "how", "brought"], dtype=object)
        return pd.concat([self.tasks, named], axis=1)

    @cached_property
    def said(self) -> dict[str, Said]:
        return {name: view.said(self.standing) for name, view in self.views.items()}

    @cached_property
    def agreements(self) -> list[dict]:
        unable = int((self.standing.answer == CANNOT_JUDGE).sum())
        found = []
        for name, view in self.views.items():
            if view.level == NOMINAL:
                unit = {"unit": "option"} if view.options else {}
                found.append(agreeing.agreement(name, self.said[name]) | unit)
            else:
                aside = {CANNOT_JUDGE: unable} if unable else {}
                found.append(
                    {"on": name, "level": view.level, "aside": aside, **levels.on_level(view, self.said[name])}
                )
        return found

    def with_others(self, view: str, said: Said) -> dict[str, tuple[int, int]]:
        return (
            super().with_others(view, said)
            if self.views[view].level == NOMINAL
            else levels.near(self.views[view], said)
        )

    def figures(self) -> dict:
        found = super().figures()
        return found | {
            "disagreements": {name: levels.differing(said) for name, said in self.said.items()},
            **self.scores(),
        }

    def by_type(self) -> list[dict]:
        view, said, found = self.views[self.coarse], self.said[self.coarse], []
        for (kind, subtype), group in self.decided.groupby(["type", "subtype"], sort=True):
            tasks = set(group[TASK].itertuples(index=False, name=None))
            part = {task: given for task, given in said.items() if task in tasks}
            measures = levels.on_level(view, part)["measures"]
            row = {"type": kind, "subtype": subtype, **outcomes(group)}
            row["judgments"] = sum((self.standing.type == kind) & (self.standing.subtype == subtype))
            found.append(row | {"measures": {key: measures[key] for key in ("percent", CHIEF[view.level])}})
        return found

    def scores(self) -> dict:
        """What is right of picks of many."""
        if not (names := self.file.data.get("right")):
            return {}
        answers = [self.right(name) for name in names]
        return {"scores": {"answers": answers, "groups": [], "strengths": [], "mean_ranks": []}}

    def right(self, name: str) -> dict:
        able = self.standing[self.standing.answer != CANNOT_JUDGE]
        given = [chosen(self.file.part(name, label)) for label in able.answer]
        there = [self.file.options(name, label) for label in able.answer]
        right = [self.file.right(name, label) for label in able.answer]
        least, most = self.file.limits(name)
        chances = [
            1 / sum(math.comb(len(all_of), size) for size in range(least, min(most, len(all_of)) + 1))
            if least <= len(of) <= most else 0.0
            for all_of, of in zip(there, right, strict=True)
        ]  # fmt: skip
        cells = Counter(
            (str(option in mine), str(option in of))
            for mine, of, all_of in zip(given, right, there, strict=True) for option in all_of
        )  # fmt: skip
        pairs = list(zip(given, right, strict=True))
        return {
            "answer": name,
            "ask": self.file.answers[name].get("ask", self.file.data["ask"]),
            "cannot_judge": len(self.standing) - len(able),
            "no_value": 0,
            "right": broken_down(able, [float(mine == of) for mine, of in pairs], is_share=True)
            | {"chance": float(np.mean(chances)) if chances else None},
            "jaccard": broken_down(able, [jaccard(mine, of) for mine, of in pairs], is_share=False),
            "kappa": {"value": agreeing.kappa(cells), "n": cells.total()},
        }


# Scores


def broken_down(rows: pd.DataFrame, values: Sequence[float], is_share: bool) -> dict:
    scored = rows.assign(scored=list(values))
    by_type = [
        {"type": kind, "subtype": subtype, **mean_of(group, is_share)}
        for (kind, subtype), group in scored.groupby(["type", "subtype"], sort=True)
    ]
    return {"whole": mean_of(scored, is_share), "by_type": by_type}


def mean_of(rows: pd.DataFrame, is_share: bool) -> dict:
    """A mean of judgments between 0 and 1, with its intervals over items, and over items and annotators."""
    judged, n, people = len(rows), rows.position.nunique(), rows.annotator.nunique()
    value, these, others = (float(rows.scored.mean()) if judged else None), (None, None), None
    if n:
        found = (None, None)
        if n > 1:
            parts = (rows.scored.to_numpy(dtype=float) - value) / judged
            found = clusters.errors(parts, rows.position.to_list(), rows.annotator.to_list())
        these = interval(value, found[0], judged, n, is_share)
        others = found[1] and interval(value, found[1], judged, n, is_share)
    (low, high), over = (these, "items") if others is None else (others, "annotators")
    return {
        "value": value, "low": low, "high": high, "over": None if low is None else over,
        "these_low": these[0], "these_high": these[1],
        "n_items": n, "n_judgments": judged, "n_annotators": people,
    }  # fmt: skip


def interval(value: float, error: clusters.Error | None, judged: int, items: int, is_share: bool) -> tuple:
    """Wilson's, of as many judgments as say so much; where all items are alike, what as many more could hide."""
    z = scipy.stats.norm.ppf(0.975)
    if error and error[0] > agreeing.TINY:
        most = judged if is_share else math.inf
        effective = min(most, value * (1 - value) / error[0]) * (z / error[1]) ** 2
    elif is_share:
        effective = items
    elif items < 2:
        return None, None
    else:
        unseen = 1 - 0.025 ** (1 / items)
        return value - unseen * value, value + unseen * (1 - value)
    middle = value + z**2 / 2 / effective
    half = z * math.sqrt(value * (1 - value) / effective + (z / 2 / effective) ** 2)
    return tuple(float((middle + sign * half) / (1 + z**2 / effective)) for sign in (-1, 1))
