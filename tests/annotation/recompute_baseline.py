"""The human baseline of an export, computed again from its files by other means than the app's (BiVLC, App. D).

Imports nothing of the project. `python recompute_baseline.py FOLDER` prints the measures that it finds.
"""

import json
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from scipy.stats import binomtest

FOUR = ["i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i"]
NEEDS = {"i2t": FOUR[:2], "t2i": FOUR[2:], "group": FOUR, **{name: [name] for name in FOUR}}
CHANCE = {"i2t": 0.25, "t2i": 0.25, "group": 1 / 6, **dict.fromkeys(FOUR, 0.5)}


def baseline(folder: Path) -> dict:
    """The measures of the export's one baseline: overall, by type and subtype, and of each annotator."""
    manifest = json.loads((folder / "manifest.json").read_text())
    measuring = [stage for stage in manifest["stages"] if stage["protocol"] in ("bivlc-i2t", "bivlc-t2i")]
    ways = {stage["name"]: "i" if stage["protocol"] == "bivlc-i2t" else "t" for stage in measuring}
    tasks = pd.DataFrame(json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines())
    tasks = tasks[tasks.stage.isin(ways) & tasks.live & (tasks.kind == "judge")].copy()
    tasks["name"] = [asked(ways[row.stage], row.question) for row in tasks.itertuples()]
    tasks["wanted"] = [option(row) for row in tasks.itertuples()]
    tasks["right"] = [None if pd.isna(row.state) else row.outcome == row.wanted for row in tasks.itertuples()]
    judged = judgments(folder, tasks)
    kinds = sorted(set(zip(tasks.type, tasks.subtype, strict=True)))
    groups = [(kind, subtype) for kind in sorted({kind for kind, _ in kinds}) for subtype in [None, *of(kinds, kind)]]
    return {
        "items": tasks.position.nunique(),
        "questions": len(tasks),
        "answered": int(tasks.state.notna().sum()),
        "measures": measures(tasks),
        "by_type": [group(tasks, kind, subtype) for kind, subtype in groups],
        "annotators": [
            {"annotator": who, "answered": len(mine), "right": int(mine.right.sum()), "measures": measures(mine)}
            for who, mine in judged.groupby("annotator")
        ],
    }


def asked(way: str, question: str) -> str:
    return f"{way}_{question[:3]}2{'t' if way == 'i' else 'i'}"


def option(task) -> str:
    """The right one: the caption of the shown image's role, or the image of the shown caption's."""
    if task.name.startswith("i_"):
        return f"caption-{task.question}-0"
    original = [name for name in task.options if name == "positive-0"]
    others = [name for name in task.options if name != "positive-0"]
    return (original if task.question == "positive" else others)[0]


def of(kinds: list[tuple[str, str]], kind: str) -> list[str]:
    return [subtype for one, subtype in kinds if one == kind]


def judgments(folder: Path, tasks: pd.DataFrame) -> pd.DataFrame:
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")]
    key = ["stage", "item", "question", "round"]
    named = rows[[*key, "annotator", "answer"]].merge(tasks[[*key, "position", "name", "wanted"]], on=key)
    return named.assign(right=named.answer == named.wanted)


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


if __name__ == "__main__":
    print(json.dumps(baseline(Path(sys.argv[1]))["measures"], indent=2))
