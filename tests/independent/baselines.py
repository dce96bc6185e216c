"""The human baseline: how well annotators answer what models are asked (BiVLC, App. D)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
from scipy.stats import binomtest

from tests.independent.reading import Files

WAYS = {"bivlc-i2t": "i2t", "bivlc-t2i": "t2i"}
FOUR = ["i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i"]
NEEDS = {"i2t": FOUR[:2], "t2i": FOUR[2:], "group": FOUR, **{name: [name] for name in FOUR}}
CHANCE = {"i2t": 0.25, "t2i": 0.25, "group": 1 / 6, **dict.fromkeys(FOUR, 0.5)}
KEY = ["stage", "item", "question", "round"]
ASKED = [*KEY, "position", "type", "subtype", "options", "state", "outcome", "live", "kind"]


def baselines(files: Files) -> list[dict]:
    """Of each image-to-text stage with the text-to-image stage that goes with it, or of one alone."""
    return [of_stages(files, pair) for pair in pairs(files.manifest["stages"])]


def pairs(stages: Sequence[Mapping]) -> list[list[Mapping]]:
    """In order: a stage joins the newest pair in which its other half stands, follows it or has the same source."""
    found: list[list[Mapping]] = []
    for stage in stages:
        if stage["protocol"] in WAYS:
            home = next((pair for pair in reversed(found) if belongs(stage, pair)), None)
            if home is None:
                found.append([stage])
            else:
                home.append(stage)
    return found


def belongs(stage: Mapping, pair: Sequence[Mapping]) -> bool:
    if len(pair) > 1 or pair[0]["protocol"] == stage["protocol"]:
        return False
    return stage["after"] == pair[0]["name"] if stage["after"] else stage["source"] == pair[0]["source"]


def of_stages(files: Files, pair: Sequence[Mapping]) -> dict:
    ways = {stage["name"]: "i" if stage["protocol"] == "bivlc-i2t" else "t" for stage in pair}
    mine = [task for task in files.tasks if task["stage"] in ways and task["live"] and task["kind"] == "judge"]
    tasks = pd.DataFrame({name: pd.Series([task[name] for task in mine], dtype=object) for name in ASKED})
    tasks["name"] = [asked(ways[row.stage], row.question) for row in tasks.itertuples()]
    tasks["wanted"] = [option(row) for row in tasks.itertuples()]
    tasks["right"] = [None if row.state is None else row.outcome == row.wanted for row in tasks.itertuples()]
    judged = judgments(files, tasks)
    kinds = sorted(set(zip(tasks.type, tasks.subtype, strict=True)))
    groups = [(kind, subtype) for kind in sorted({kind for kind, _ in kinds}) for subtype in [None, *of(kinds, kind)]]
    found = {
        "stages": [named(stage) for stage in pair],
        "design": design(judged),
        "items": tasks.position.nunique(),
        "questions": len(tasks),
        "answered": int(tasks.state.notna().sum()),
        "measures": measures(tasks),
        "by_type": [group(tasks, kind, subtype) for kind, subtype in groups],
    }
    return found | ({"annotators": people(judged)} if "annotators" in files.public else {})


def named(stage: Mapping) -> dict:
    way = WAYS[stage["protocol"]]
    return {"stage": stage["position"], "name": stage["name"], "direction": way, "overlap": stage["overlap"]}


def asked(way: str, question: str) -> str:
    return f"{way}_{question[:3]}2{'t' if way == 'i' else 'i'}"


def option(task) -> str:
    """The right one: the caption of the shown image's role, or the image of the shown caption's."""
    if task.name.startswith("i_"):
        return f"caption-{task.question}-0"
    original = [name for name in task.options if name == "positive-0"]
    others = [name for name in task.options if name != "positive-0"]
    return (original if task.question == "positive" else others)[0]


def of(kinds: Sequence[tuple[str, str]], kind: str) -> list[str]:
    return [subtype for one, subtype in kinds if one == kind]


def judgments(files: Files, tasks: pd.DataFrame) -> pd.DataFrame:
    rows = files.judgments
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")]
    found = rows[[*KEY, "annotator", "answer"]].merge(tasks[[*KEY, "position", "name", "wanted"]], on=KEY)
    return found.assign(right=found.answer == found.wanted)


def design(judged: pd.DataFrame) -> dict[str, int]:
    """Items with two answers or more, by whether one annotator gave all, each another one, or neither."""
    given = defaultdict(list)
    for item, who in judged[["position", "annotator"]].itertuples(index=False, name=None):
        given[item].append(who)
    several = [names for names in given.values() if len(names) > 1]
    one = sum(len(set(names)) == 1 for names in several)
    different = sum(len(set(names)) == len(names) for names in several)
    return {"one": one, "different": different, "mixed": len(several) - one - different}


def people(judged: pd.DataFrame) -> list[dict]:
    return [
        {"annotator": who, "answered": len(mine), "right": int(mine.right.sum()), "measures": measures(mine)}
        for who, mine in sorted(judged.groupby("annotator"), key=lambda one: int(one[0].removeprefix("A-")))
    ]


def measures(rows: pd.DataFrame) -> dict:
    table = rows.pivot(index="position", columns="name", values="right").reindex(columns=FOUR)
    return {name: accuracy(table[needed].dropna().astype(bool), CHANCE[name]) for name, needed in NEEDS.items()}


def accuracy(whole: pd.DataFrame, chance: float) -> dict:
    n, right = len(whole), int(whole.all(axis=1).sum())
    low, high = binomtest(right, n).proportion_ci(method="wilson") if n else (None, None)
    return {"right": right, "n": n, "share": right / n if n else None, "low": low, "high": high, "chance": chance}


def group(tasks: pd.DataFrame, kind: str, subtype: str | None) -> dict:
    part = tasks[(tasks.type == kind) & ((tasks.subtype == subtype) if subtype is not None else True)]
    return {"type": kind, "subtype": subtype, "items": part.position.nunique(), "measures": measures(part)}
