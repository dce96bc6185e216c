"""The figures of one stage, from what a release holds of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import pandas as pd

from tests.independent import agreeing, audits, deciding, people, working
from tests.independent.reading import TASK, Files, share

OF_STAGE = (
    "protocol", "strategy", "overlap", "cap", "rule", "tie_rule", "batch_size", "agreement_items", "agreement_overlap",
    "sample", "quota", "check_rate",
)  # fmt: skip


class Stage:
    """What a release holds of one stage. `settings` are the manifest's, `public` is Files.public."""

    def __init__(self, files: Files, settings: Mapping):
        self.study, self.settings, self.name = files.manifest["study"], settings, settings["name"]
        self.public, self.rule = files.public, deciding.Rule(settings)
        rows = files.judgments
        self.every = rows[rows.stage == self.name]
        self.rows = self.every[self.every.kind == "judge"]
        self.counted = self.rows[self.rows.counted].sort_values([*TASK, "given"]).reset_index(drop=True)
        self.standing = self.counted[self.counted.live].reset_index(drop=True)
        checks = [task for task in files.tasks if task["stage"] == self.name and task["kind"] == "check"]
        self.gold = {(task["item"], task["question"], task["round"]): task["gold"] for task in checks}
        mine = [task for task in files.tasks if task["stage"] == self.name and task["live"] and task["kind"] == "judge"]
        self.tasks = _table(mine).sort_values(TASK).reset_index(drop=True)
        self.flags = [flag for flag in files.lines("flags.jsonl") if flag["stage"] == self.name]
        adjudicated = [row for row in files.lines("adjudications.jsonl") if row["stage"] == self.name]
        self.adjudicated = {(row["item"], row["question"], row["round"]): row for row in adjudicated}
        self.people = [(who, seat) for who in files.annotators for seat in who["stages"] if seat["stage"] == self.name]
        self.views = self.views_of(files)

    def views_of(self, files: Files) -> dict[str, Callable[[str], str]]:
        return {"answer": deciding.mended, **{name: self.rule.view(name) for name in self.settings["views"]}}

    @cached_property
    def decided(self) -> pd.DataFrame:
        """Each live task with (state, outcome, reason, how, content) by the rule, an adjudicator's word before it."""
        given: dict[tuple, list] = {}
        for *task, answer, content in self.standing[[*TASK, "answer", "content"]].itertuples(index=False, name=None):
            given.setdefault(tuple(task), []).append((answer, content))
        likely, found = self.likely, []
        for task in self.tasks.itertuples():
            place = (task.position, task.question, task.round)
            word = self.adjudicated.get((task.item, task.question, task.round))
            if word:
                found.append((word["state"], word["outcome"], word["reason"], "adjudicator", word["content"]))
            elif self.settings["confirms"]:
                found.append(self.rule.confirm(given.get(place, []), task.overlap))
            else:
                found.append(self.rule.settle(given.get(place, []), task.overlap, likely.get(place)))
        named = pd.DataFrame(found, columns=["came", "answer", "why", "how", "brought"], dtype=object)
        return pd.concat([self.tasks, named], axis=1)

    @cached_property
    def likely(self) -> dict[tuple, dict[str, float]]:
        """Of each task, how probable each kind of answer is, where that decides."""
        if self.settings["rule"] == "majority":
            return {}
        rows = self.standing[[*TASK, "annotator", "answer"]].itertuples(index=False, name=None)
        return deciding.posteriors(
            [(tuple(task), who, deciding.estimated(self.rule.kind(answer))) for *task, who, answer in rows]
        )

    @cached_property
    def said(self) -> dict[str, agreeing.Said]:
        """What stands, by task, under each view."""
        return {name: agreeing.by_task(self.standing, view) for name, view in self.views.items()}

    @cached_property
    def agreements(self) -> list[dict]:
        """On each view."""
        return [agreeing.agreement(name, said) for name, said in self.said.items()]

    @cached_property
    def majorities(self) -> dict[str, dict[str, tuple[int, int]]]:
        return {view: self.with_others(view, said) for view, said in self.said.items()}

    def with_others(self, view: str, said: agreeing.Said) -> dict[str, tuple[int, int]]:
        """Of each annotator how often they said what most of the others said, of how many."""
        return agreeing.with_majority(said)

    @property
    def coarse(self) -> str:
        """The view in words for people."""
        return list(self.views)[min(1, len(self.views) - 1)]

    @property
    def level(self) -> dict[str, str]:
        """That of the labels under that view, unless they have no order."""
        return {}

    def figures(self) -> dict:
        """All but what the protocol's paper reports (papers.py), as far as it is public."""
        shown = "annotators" in self.public
        hidden = () if shown else ("kappa_pairs",)
        agreements = [{name: of for name, of in one.items() if name not in hidden} for one in self.agreements]
        wanted, gone = self.wanted(), len(self.counted) - len(self.standing)
        pay = self.study["pay_per_hour"]
        timed = "times" in self.public and {
            "pace": working.pace(self.counted),
            "cost": working.cost(self.every, len(self.counted), wanted + gone, pay),
            "series": working.series(self.counted),
        }
        return {
            "study": self.named(),
            "progress": self.progress(wanted, gone),
            "outcomes": outcomes(self.decided),
            "agreement": agreements,
            "disagreements": {name: disagreements(said) for name, said in self.said.items()},
            "by_type_on": self.coarse,
            "by_type": self.by_type(),
            **(timed or {}),
            **({"annotators": people.rows(self)} if shown else {}),
        }

    def wanted(self) -> int:
        if self.settings["strategy"] == "audit":
            return len(self.standing) + audits.judgments_to_come(self, audits.audit(self))
        return int(self.tasks.overlap.sum())

    def named(self) -> dict:
        of_study = {name: self.study[name] for name in ("name", "pay_per_hour", "currency")}
        place = {"stage": self.settings["position"], "stage_name": self.name, "views": list(self.views)}
        return {**of_study, **place, **{name: self.settings[name] for name in OF_STAGE}}

    def progress(self, wanted: int, gone: int) -> dict:
        return {
            "items": self.tasks.item.nunique(),
            "tasks": len(self.tasks),
            "settled": int((self.decided.came != "open").sum()),
            "judgments_wanted": wanted,
            "judgments_counted": len(self.standing),
            "judgments_gone": gone,
            "judgment_rows": len(self.rows),
            "withdrawn": int(self.rows.withdrawn.sum()),
            "surplus": int((self.rows.surplus & ~self.rows.withdrawn).sum()),
            "flags": len(self.flags),
            "flags_open": sum(not flag["settled"] for flag in self.flags),
        }

    def by_type(self) -> list[dict]:
        said, found = self.said[self.coarse], []
        for (kind, subtype), group in self.decided.groupby(["type", "subtype"], sort=True):
            tasks = group[TASK].itertuples(index=False, name=None)
            part = {task: said[task] for task in tasks if task in said}
            units = agreeing.units(part)
            agreed = {"percent": agreeing.percent(units), "alpha_nominal": agreeing.alpha_with_interval(units)}
            found.append(
                {
                    "type": kind,
                    "subtype": subtype,
                    **outcomes(group),
                    "judgments": sum(map(len, part.values())),
                    "measures": agreed,
                }
            )
        return found


def _table(tasks: Sequence[dict]) -> pd.DataFrame:
    """Of the tasks' columns that figures rest on, also where there are none."""
    names = ("item", *TASK, "type", "subtype", "overlap", "batch", "carried", "options", "state", "outcome")
    names += ("score",) if tasks and "score" in tasks[0] else ()
    return pd.DataFrame({name: pd.Series([task[name] for task in tasks], dtype=object) for name in names}).astype(
        {"position": "int64", "round": "int64", "overlap": "int64"}
    )


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
        "kept_share": share(kept, kept + dropped),
    }


def disagreements(said: agreeing.Said) -> int:
    """Tasks with two different labels."""
    return sum(len(set(labels)) > 1 for labels in agreeing.units(said))
