"""What VISLA's stages report: what became of sentences, who did what with them, how far edits and ends are apart."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

ROLES = ("positive", "second_positive", "negative")
FATES = ("accepted", "edited", "confirmed", "dropped", "to_confirm", "to_adjudicate", "open")
DOES = ("accepted", "edited", "rejected", "confirms", "cannot_judge")
THEN = ("confirmed", "edited_again", "rejected", "otherwise", "waiting")
EDGES = {
    "characters": [0, 1, *range(5, 101, 5), np.inf],
    "words": [*range(21), np.inf],
    "overlap": [*(tenths / 10 for tenths in range(11)), np.inf],
}
WORD = r"[^\W_]+(?:['’-][^\W_]+)*"


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
        for name in sorted({who for who, *_ in did}, key=lambda who: int(who.removeprefix("A-")))
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


def levenshtein(one: Sequence, other: Sequence) -> int:
    """The table of Wagner and Fischer (1974), row by row."""
    above = list(range(len(other) + 1))
    for i, here in enumerate(one, 1):
        row = [i]
        for j, there in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (here != there)))
        above = row
    return above[-1]
