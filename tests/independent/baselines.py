"""The human baseline: how well annotators answer what models are asked (BiVLC, App. D)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm, t

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
        "measures": measures(tasks, judged),
        "by_type": [group(tasks, judged, kind, subtype) for kind, subtype in groups],
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


def measures(rows: pd.DataFrame, judged: pd.DataFrame | None = None) -> dict:
    """With `judged`, intervals are over the annotators of these judgments, else over items."""
    table = rows.pivot(index="position", columns="name", values="right").reindex(columns=FOUR)
    found = {}
    for name, needed in NEEDS.items():
        right = table[needed].dropna().astype(bool).all(axis=1)
        found[name] = accuracy(right, CHANCE[name])
        if judged is not None:
            found[name] |= over_annotators(right, judged[judged.name.isin(needed)])
    return found


def accuracy(right: pd.Series, chance: float) -> dict:
    n, count = len(right), int(right.sum())
    low, high = binomtest(count, n).proportion_ci(method="wilson") if n else (None, None)
    return {"right": count, "n": n, "share": count / n if n else None, "low": low, "high": high, "chance": chance}


def over_annotators(right: pd.Series, judged: pd.DataFrame) -> dict:
    """Wilson's interval on as many items as say as much, by the random effects of annotators on items."""
    if right.empty:
        return {"low": None, "high": None, "effective": None, "over": None}
    effective, over = effective_n(right.to_numpy(dtype=float), weights(right.index, judged))
    p, z = right.mean(), norm.ppf(0.975)
    middle, spread = p + z**2 / (2 * effective), z * np.sqrt(p * (1 - p) / effective + (z / (2 * effective)) ** 2)
    low, high = ((middle + sign * spread) / (1 + z**2 / effective) for sign in (-1, 1))
    return {"low": max(0, low), "high": min(1, high), "effective": effective, "over": over}


def weights(items: pd.Index, judged: pd.DataFrame) -> np.ndarray:
    """Of each item the share of its judgments by each annotator; items without any have one of their own."""
    judged = judged[judged.position.isin(items)]
    codes, names = judged.annotator.factorize()
    counts = np.zeros((len(items), len(names)))
    np.add.at(counts, (items.get_indexer(judged.position), codes), 1)
    alone = np.diag((counts.sum(axis=1) == 0).astype(int))
    every = np.hstack([counts, alone[:, alone.any(axis=0)]])
    return every / every.sum(axis=1, keepdims=True)


def effective_n(right: np.ndarray, shares: np.ndarray) -> tuple[float, str]:
    """Variances of annotators and of what is left, from r'r and r'Kr of the residuals r and their expectations."""
    n = len(right)
    shared, centre = shares @ shares.T, np.eye(n) - 1 / n
    if not (shared - np.diag(np.diag(shared))).any():
        return n, "annotators"
    centred = centre @ shared @ centre
    expected = np.array([[n - 1, np.trace(centred)], [np.trace(centred), (centred**2).sum()]])
    overlap = shared.sum() / n**2
    if (known := np.linalg.det(expected) / (n - 1) / (n * overlap) ** 2) < 0.5 - 1e-9:
        return n, "items"
    rest = right - right.mean()
    left, people = np.linalg.solve(expected, [rest @ rest, rest @ shared @ rest])
    plain, parts = right.var(ddof=1) / n, np.array([max(0, left) / n, people * overlap])
    if people <= 0 or parts.sum() <= plain * (1 + 1e-9):
        return n, "annotators"
    doubt = parts @ [known**-0.5, max(0.5, 1 / overlap - 1) ** -0.5]
    return n * plain / parts.sum() * (norm.ppf(0.975) / quantile((parts.sum() / doubt) ** 2)) ** 2, "annotators"


def quantile(freedom: float) -> float:
    """Of Student's t; 1 / freedom is interpolated."""
    whole = np.floor(max(1, freedom)) + np.array([1, 0])
    return np.interp(1 / max(1, freedom), 1 / whole, t.ppf(0.975, whole))


def group(tasks: pd.DataFrame, judged: pd.DataFrame, kind: str, subtype: str | None) -> dict:
    part = tasks[(tasks.type == kind) & ((tasks.subtype == subtype) if subtype is not None else True)]
    return {
        "type": kind,
        "subtype": subtype,
        "items": part.position.nunique(),
        "measures": measures(part, judged[judged.position.isin(part.position)]),
    }
