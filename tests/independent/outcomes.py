"""What came of each task and what it had from the stages before, computed and as the files tell it."""

import pandas as pd

from tests.independent.reading import Files
from tests.independent.stages import Stage


def outcome_rows(stages: list[Stage]) -> list[dict]:
    found, rows = {}, []
    for stage in stages:
        decided = stage.decided
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


def told(files: Files) -> list[dict]:
    """What came of the live tasks, as the files say, in the order of `outcome_rows`."""
    order = {stage["name"]: place for place, stage in enumerate(files.manifest["stages"])}
    tasks = [task for task in files.tasks if task["live"] and task["kind"] == "judge"]
    tasks.sort(key=lambda task: (order[task["stage"]], task["position"], task["question"], task["round"]))
    names = ("stage", "item", "question", "outcome", "reason", "decided_by", "content", "carried")
    return [
        {"state": task["state"] or "open", **{name: task[name] or None for name in names}, "question": task["question"]}
        for task in tasks
    ]
