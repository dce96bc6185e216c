"""What the papers of the text protocols report, computed again from an export's files by other means than the app's.

Imports nothing of the project. `python recompute_paper.py FOLDER` prints the figures of each stage that has such.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy.stats import binomtest

TASK = ["stage", "item", "question", "round"]
ROLES = ("positive", "second_positive", "negative")
FATES = ("accepted", "edited", "confirmed", "dropped", "to_confirm", "to_adjudicate", "open")
DOES = ("accepted", "edited", "rejected", "confirms", "cannot_judge")
THEN = ("confirmed", "edited_again", "rejected", "otherwise", "waiting")
EDGES = {
    "characters": [0, 1, *range(5, 101, 5), np.inf],
    "words": [*range(21), np.inf],
    "overlap": [*(tenths / 10 for tenths in range(11)), np.inf],
}


def papers(folder: Path) -> dict[str, dict]:
    """By the stage's name."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tasks = asked(folder)
    return {
        stage["name"]: FIGURES[stage["protocol"]](stage, [task for task in tasks if task["stage"] == stage["name"]])
        for stage in manifest["stages"]
        if stage["protocol"] in FIGURES
    }


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def asked(folder: Path) -> list[dict]:
    """The live tasks in the items' order, each with what was `said` and the `edits` by name and role."""
    found = [task for task in lines(folder / "tasks.jsonl") if task["live"] and task["kind"] == "judge"]
    named = {tuple(task[name] for name in TASK): task | {"said": [], "edits": {}} for task in found}
    items = {item["id"]: item for name in ("items", "dropped") for item in lines(folder / f"{name}.jsonl")}
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")].sort_values(["created_at", "slot"])
    for row in rows.to_dict("records"):
        content = json.loads(row["content"]) if isinstance(row["content"], str) else {}
        named[tuple(row[name] for name in TASK)]["said"].append((row["annotator"], row["answer"], content))
    for text in lines(folder / "texts.jsonl"):
        task = named.get(tuple(text[name] for name in TASK))
        if task and text["edit"]:
            task["edits"].setdefault(text["edit"], {})[text["role"]] = text["text"]
    for task in named.values():
        task["origins"] = items.get(task["item"], {}).get("meta", {}).get("origins", [])
    return sorted(named.values(), key=lambda task: (task["position"], task["question"], task["round"]))


# VISLA


def edits(stage: dict, tasks: list[dict]) -> dict:
    lengths = [length for task in tasks for length in lengths_of(stage, task)]
    return {
        "tasks": len(tasks),
        "fates": counted((fate(stage, task) for task in tasks), FATES),
        "broken": broken(stage, tasks),
        "annotators": people(stage, tasks),
        "edits": [distances(role, lengths) for role in sorted({role for role, *_ in lengths})],
        "lexical": lexical([words for task in tasks if (words := in_the_end(task))]),
    }


def triplet(stage: dict, tasks: list[dict]) -> dict:
    said = pd.DataFrame([content.get("guidelines", {}) for task in tasks for _, _, content in task["said"]])
    codes = [one["code"] for one in stage["guidelines"]]
    held = {code: said[code].dropna() if code in said else pd.Series(dtype=bool) for code in codes}
    holds = [
        {"code": code, "holds": int(one.sum()), "n": len(one), "share": one.sum() / len(one) if len(one) else None}
        for code, one in held.items()
    ]
    return {**edits(stage, tasks), "holds": holds}


def counted(found: Iterable[str], names: Iterable[str]) -> dict[str, int]:
    counts = Counter(found)
    return {name: counts[name] for name in names}


def is_edit(label: str) -> bool:
    return re.match(r"edit(ed$|-)", label) is not None


def mind(label: str, content: dict) -> str:
    return json.dumps(content["texts"], sort_keys=True) if content.get("texts") else label


def fate(stage: dict, task: dict) -> str:
    if task["state"] is None:
        return waits(stage, [(label, content) for _, label, content in task["said"]], task["overlap"])
    if task["state"] == "dropped" or not is_edit(task["outcome"]):
        return "dropped" if task["state"] == "dropped" else "accepted"
    return "confirmed" if stage["confirms"] and task["decided_by"] != "adjudicator" else "edited"


def waits(stage: dict, given: list[tuple[str, dict]], overlap: int) -> str:
    """Of an open task: for nobody yet, for somebody who confirms, or for an adjudicator."""
    if not given or (not stage["confirms"] and len(given) < overlap):
        return "open"
    if stage["confirms"] and (len(given) < max(overlap, 2) or len(given) < stage["confirm_cap"]):
        return "to_confirm"
    return "to_adjudicate"


def broken(stage: dict, tasks: list[dict]) -> list[dict]:
    said = Counter(code for task in tasks for _, _, content in task["said"] for code in failing(content))
    over = Counter(code for task in tasks if task["state"] == "dropped" for code in failing(task["content"]))
    return [
        {
            **{name: one[name] for name in ("code", "words")},
            "judgments": said[one["code"]],
            "dropped": over[one["code"]],
        }
        for one in stage["guidelines"]
    ]


def failing(content: dict) -> list[str]:
    return [code for code, holds in content.get("guidelines", {}).items() if holds is False]


def does(stage: dict, task: dict, place: int) -> str:
    _, label, content = task["said"][place]
    if label in ("cannot_judge", *stage["drops"]):
        return "cannot_judge" if label == "cannot_judge" else "rejected"
    before = [mind(*one[1:]) for one in task["said"][:place] if is_edit(one[1])]
    if stage["confirms"] and mind(label, content) in before:
        return "confirms"
    return "edited" if is_edit(label) else "accepted"


def follows(stage: dict, task: dict, place: int) -> str:
    """What the judgment after an edit makes of it."""
    if place + 1 == len(task["said"]):
        return "waiting" if task["state"] is None else "otherwise"
    if mind(*task["said"][place][1:]) == mind(*task["said"][place + 1][1:]):
        return "confirmed"
    return {"edited": "edited_again", "rejected": "rejected"}.get(does(stage, task, place + 1), "otherwise")


def people(stage: dict, tasks: list[dict]) -> list[dict]:
    did = [
        (who, what, follows(stage, task, place) if what == "edited" else None)
        for task in tasks
        for place, (who, *_) in enumerate(task["said"])
        for what in [does(stage, task, place)]
    ]
    return [
        {
            "annotator": name,
            **counted((what for who, what, _ in did if who == name), DOES),
            "of_edits": counted((then for who, _, then in did if who == name), THEN) if stage["confirms"] else None,
        }
        for name in sorted({who for who, *_ in did}, key=lambda who: int(who[2:]))
    ]


def lengths_of(stage: dict, task: dict) -> list[tuple]:
    """(role, characters changed, words changed) of each sentence that an edit put in another's place."""
    found = []
    for place, (_, label, content) in enumerate(task["said"]):
        if label == "edited" and does(stage, task, place) == "edited":
            for role, of in content["from"].items():
                before, now = task["texts"].get(of) or task["edits"][of][role], content["texts"][role]
                found.append((role, *([None] * 2 if before == now else apart(before, now)[:2])))
    return found


def distances(role: str, lengths: list[tuple]) -> dict:
    mine = [one for one in lengths if one[0] == role]
    changed = [one for one in mine if one[1] is not None]
    words = Counter(min(one[2], 10) for one in changed)
    return {
        "role": role,
        "n": len(changed),
        "exchanged": len(mine) - len(changed),
        "characters": spread([one[1] for one in changed]),
        "words": spread([one[2] for one in changed]),
        "by_words": [words[number] for number in range(11)],
    }


def spread(values: list[int]) -> dict:
    found = pd.Series(values, dtype=float)
    named = {"mean": found.mean(), "median": found.median(), "most": found.max()}
    return {name: None if np.isnan(value) else float(value) for name, value in named.items()}


def in_the_end(task: dict) -> tuple[str, ...] | None:
    if task["state"] != "kept":
        return None
    texts = {role: task["texts"].get(f"caption-{role}-0") for role in ROLES} | task["content"].get("texts", {})
    return tuple(texts[role] for role in ROLES) if all(texts[role] for role in ROLES) else None


def lexical(ends: list[tuple[str, ...]]) -> dict:
    pairs = {"P1-P2": (0, 1), "P1-N": (0, 2), "P2-N": (1, 2)}
    found = {pair: [apart(end[a], end[b]) for end in ends] for pair, (a, b) in pairs.items()}
    return {
        pair: {"n": len(of)} | {name: shape([one[place] for one in of], name) for place, name in enumerate(EDGES)}
        for pair, of in found.items()
    }


def shape(values: list[float], name: str) -> dict:
    counts, edges = np.histogram(values, bins=EDGES[name])
    bins = [
        {"from": low, "to": None if high == np.inf else high, "count": int(count)}
        for low, high, count in zip(edges.tolist(), edges.tolist()[1:], counts, strict=False)
    ]
    told = spread(values)
    return {"mean": told["mean"], "median": told["median"], "bins": bins}


def apart(one: str, other: str) -> tuple[int, int, float]:
    """(characters, words, overlap): Levenshtein distances and Jaccard's share of words in common."""
    here, there = (list(re.findall(WORD, text.lower())) for text in (one, other))
    union = set(here) | set(there)
    shared = len(set(here) & set(there)) / len(union) if union else 1.0
    return levenshtein(one, other), levenshtein(here, there), shared


WORD = r"[^\W_]+(?:['’-][^\W_]+)*"


def levenshtein(one, other) -> int:
    """The whole table, row by row (Wagner and Fischer 1974)."""
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    table[:, 0], table[0, :] = range(len(one) + 1), range(len(other) + 1)
    for i, j in product(range(1, len(one) + 1), range(1, len(other) + 1)):
        swap = table[i - 1, j - 1] + (one[i - 1] != other[j - 1])
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, swap)
    return int(table[-1, -1])


# Hard Positive Truth


def ranks(stage: dict, tasks: list[dict]) -> dict:
    labels = [label for task in tasks for _, label, _ in task["said"]]
    given = [(who, is_right(label)) for task in tasks for who, label, _ in task["said"]]
    return {
        **right_of(tasks),
        "by_type": [{"type": kind, "subtype": subtype, **right_of(found)} for kind, subtype, found in by_type(tasks)],
        "annotators": [
            {"annotator": name, **share([right for who, right in given if who == name])}
            for name in sorted({who for who, _ in given}, key=lambda who: int(who[2:]))
        ],
        "orders": orders(labels),
        "cannot_judge": labels.count("cannot_judge"),
    }


def is_right(order: str) -> bool:
    """The negative stands alone on the last of several steps (§4.1)."""
    return order.endswith(">negative")


def right_of(tasks: list[dict]) -> dict:
    ready = [task for task in tasks if len(task["said"]) >= task["overlap"]]
    right = [all(is_right(label) for _, label, _ in task["said"]) for task in ready]
    return {**share(right), "waiting": len(tasks) - len(ready)}


def share(right: list[bool]) -> dict:
    n, count = len(right), sum(right)
    low, high = binomtest(count, n).proportion_ci(method="wilson") if n else (None, None)
    return {"right": count, "n": n, "share": count / n if n else None, "low": low, "high": high}


def by_type(tasks: list[dict]) -> list[tuple]:
    found = []
    for kind in sorted({task["type"] for task in tasks}):
        mine = [task for task in tasks if task["type"] == kind]
        subtypes = sorted({task["subtype"] for task in mine})
        found += [(kind, None, mine)]
        found += [(kind, name, [task for task in mine if task["subtype"] == name]) for name in subtypes]
    return found


def orders(labels: list[str]) -> list[dict]:
    """The 13 weak orders, from every way to give three roles a step; in the order in which the page has them."""
    every = {order(steps) for steps in product(range(3), repeat=3)}
    n = sum(labels.count(one) for one in every)
    rows = [
        {
            "order": one,
            "right": is_right(one),
            "judgments": labels.count(one),
            "share": labels.count(one) / n if n else None,
        }
        for one in every
    ]
    return sorted(rows, key=lambda row: (not row["right"], row["order"]))


def order(steps: tuple[int, ...]) -> str:
    tiers = [[role for role, at in zip(ROLES, steps, strict=True) if at == step] for step in sorted(set(steps))]
    return ">".join("=".join(tier) for tier in tiers)


# SugarCrepe


def compares(stage: dict, tasks: list[dict]) -> dict:
    answers = pd.DataFrame(
        [
            (task["type"], criterion, better(said, task["origins"]))
            for task in tasks
            for _, label, _ in task["said"]
            if label != "cannot_judge"
            for criterion, said in zip(("sense", "fluency"), label.split("/"), strict=True)
        ],
        columns=["type", "criterion", "better"],
    )
    named = list(dict.fromkeys(name for task in tasks for name in origins(task["origins"])))
    kinds = sorted({task["type"] for task in tasks})
    labels = [label for task in tasks for _, label, _ in task["said"]]
    return {
        "origins": named,
        "rows": [row for kind in kinds for row in of_kind(kind, answers[answers.type == kind], named)],
        "all": of_kind("", answers, named),
        "judgments": len(labels),
        "cannot_judge": labels.count("cannot_judge"),
    }


def origins(named: list[str]) -> list[str]:
    return named if len(named) == 2 else ["negative 1", "negative 2"]


def better(said: str, named: list[str]) -> str:
    return said if said == "tie" else origins(named)[int(said[-1])]


def of_kind(kind: str, answers: pd.DataFrame, named: list[str]) -> list[dict]:
    rows = []
    for criterion in ("sense", "fluency"):
        found = list(answers[answers.criterion == criterion].better)
        counts = {"better": [found.count(name) for name in named], "tie": found.count("tie"), "n": len(found)}
        rows.append({"type": kind, "criterion": criterion, **counts})
    return rows


FIGURES: dict[str, Callable] = {
    "visla-paraphrase": edits,
    "visla-triplet": triplet,
    "hard-positive-rank": ranks,
    "sugarcrepe-compare": compares,
}

if __name__ == "__main__":
    print(json.dumps(papers(Path(sys.argv[1])), indent=2))
