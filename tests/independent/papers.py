"""What the papers of some protocols report beside agreement and outcomes."""

from collections.abc import Callable
from itertools import product

import pandas as pd
from scipy.stats import binomtest

from tests.independent import paper_edits
from tests.independent.deciding import is_right
from tests.independent.paper_edits import ROLES
from tests.independent.reading import Files

TASK = ["stage", "item", "question", "round"]


def papers(files: Files) -> dict[str, dict]:
    """By the stage's name; of stages that have such."""
    stages = [stage for stage in files.manifest["stages"] if stage["protocol"] in FIGURES]
    tasks = asked(files) if stages else []
    found = {
        stage["name"]: FIGURES[stage["protocol"]](stage, [task for task in tasks if task["stage"] == stage["name"]])
        for stage in stages
    }
    if "annotators" in files.public:
        return found
    return {name: {part: of for part, of in one.items() if part != "annotators"} for name, one in found.items()}


def asked(files: Files) -> list[dict]:
    """The live tasks in the items' order, each with what was `said` and the `edits` by name and role."""
    found = [task for task in files.tasks if task["live"] and task["kind"] == "judge"]
    named = {tuple(task[name] for name in TASK): task | {"said": [], "edits": {}} for task in found}
    rows = files.judgments
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")].sort_values("given", kind="stable")
    for *task, who, answer, content in rows[[*TASK, "annotator", "answer", "content"]].itertuples(index=False):
        named[tuple(task)]["said"].append((who, answer, content))
    for text in files.lines("texts.jsonl"):
        task = named.get(tuple(text[name] for name in TASK))
        if task and text["edit"]:
            task["edits"].setdefault(text["edit"], {})[text["role"]] = text["text"]
    origin = {
        item["id"]: item["meta"].get("origins", [])
        for name in ("items", "dropped")
        for item in files.lines(f"{name}.jsonl")
    }
    for task in named.values():
        task["origins"] = origin.get(task["item"], [])
    return sorted(named.values(), key=lambda task: (task["position"], task["question"], task["round"]))


# Hard Positive Truth


def ranks(stage: dict, tasks: list[dict]) -> dict:
    labels = [label for task in tasks for _, label, _ in task["said"]]
    given = [(who, is_right(label)) for task in tasks for who, label, _ in task["said"]]
    return {
        **right_of(tasks),
        "by_type": [{"type": kind, "subtype": subtype, **right_of(found)} for kind, subtype, found in by_type(tasks)],
        "annotators": [
            {"annotator": name, **share([right for who, right in given if who == name])}
            for name in sorted({who for who, _ in given}, key=lambda who: int(who.removeprefix("A-")))
        ],
        "orders": orders(labels),
        "cannot_judge": labels.count("cannot_judge"),
    }


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
    """The 13 weak orders, from every way to give three roles a step; those that are right come first."""
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
    return sorted(rows, key=lambda row: (not row["right"], place_of(row["order"])))


def order(steps: tuple[int, ...]) -> str:
    tiers = [[role for role, at in zip(ROLES, steps, strict=True) if at == step] for step in sorted(set(steps))]
    return ">".join("=".join(tier) for tier in tiers)


def place_of(order: str) -> list[tuple[int, list[int]]]:
    """Orders with more on their first step come first, then those with roles that come first."""
    tiers = [[ROLES.index(role) for role in tier.split("=")] for tier in order.split(">")]
    return [(-len(tier), tier) for tier in tiers]


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
    "visla-paraphrase": paper_edits.edits,
    "visla-triplet": paper_edits.triplet,
    "hard-positive-rank": ranks,
    "sugarcrepe-compare": compares,
}
