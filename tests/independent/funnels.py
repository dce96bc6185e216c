"""From imported to kept: where the outcomes of the stages leave each item."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from tests.independent.reading import Files, share
from tests.independent.stages import Stage

STATES = ("dropped", "not_asked", "open", "kept")  # the first that a stage says of an item is its fate
Kind = tuple[str, str]


class End(NamedTuple):
    """The last word of a stage on an item. `waits`: it has not come in; `out`: it never will."""

    state: str
    stage: Stage | None = None
    reason: str = ""
    waits: bool = False
    out: bool = False


class Walk:
    """`found` has (state, reason) of each item in each selecting stage, `kinds` the (type, subtype) of items by place;
    items that no file tells apart are counted in `unmet` by their kind.
    """

    def __init__(self, files: Files, stages: Sequence[Stage]):
        self.stages = [stage for stage in stages if not stage.settings["measures"]]
        self.groups = {(row["type"], row["subtype"]): row["imported"] for row in files.manifest["items_by_type"]}
        self.found = {stage.name: of_items(stage.decided) for stage in self.stages}
        lacking = {stage.name: stage.settings["not_suitable"] for stage in self.stages}
        own = [task for task in files.tasks if task["kind"] != "judge" and task["own"]]
        self.known = {name: {task["position"] for task in own if task["stage"] == name} for name in self.found}
        self.lacking = {name: {row["position"] for row in rows} for name, rows in lacking.items()}
        self.kinds: dict[int, Kind] = {}
        for stage in self.stages:
            self.kinds |= {row.position: (row.type, row.subtype) for row in stage.tasks.itertuples()}
        gone = [line for line in files.lines("dropped.jsonl") if line["reason"] == "withdrawn"]
        self.withdrawn = {line["position"] for line in gone}
        for row in [*own, *gone, *(row for rows in lacking.values() for row in rows)]:
            self.kinds[row["position"]] = (row["type"], row["subtype"])
        met = Counter(self.kinds.values())
        self.unmet = {kind: count - met[kind] for kind, count in self.groups.items()}
        self.full = {stage.name: self.is_full(stage) for stage in self.stages}
        self.ends = {item: self.end_of(item) for item in self.kinds}

    def is_full(self, stage: Stage) -> bool:
        """Whether a sample is all there; where it is so many of each type, that of every type."""
        sample, found = stage.settings["sample"], self.found[stage.name]
        if sample is None or not stage.settings["sample_each"]:
            return sample is not None and len(found) >= sample
        has, there = Counter(self.kinds[item][0] for item in found), Counter()
        for (kind, _), count in self.groups.items():
            there[kind] += count
        return all(has[kind] >= min(sample, count) for kind, count in there.items())

    def end_of(self, item: int) -> End:
        """Where an item is, follow it: stage after stage until nobody takes it up. One withdrawn is out before all."""
        if item in self.withdrawn:
            return End("dropped", self.stages[0] if self.stages else None, "withdrawn", out=True)
        ends = [end for stage in self.stages for end in self.words_of(stage, item)]
        return min(ends, key=lambda end: STATES.index(end.state), default=End("kept"))

    def words_of(self, stage: Stage, item: int) -> Iterable[End]:
        settings = stage.settings
        if item not in self.found[stage.name]:
            if settings["source"] is None:
                yield self.left_out(item, stage, not self.full[stage.name])
            return
        state, reason = self.found[stage.name][item]
        takers = [one for one in self.stages if one.settings["source"] == stage.name]
        takers = [one for one in takers if (reason or state) in one.settings["takes"]]
        for taker in takers:
            later = taker.settings["promotion"] == "closing" or taker.settings["sample"] is not None
            if item not in self.found[taker.name]:
                yield self.left_out(item, taker, later and settings["state"] == "open")
        if not takers:
            yield End(state, stage, reason)

    def left_out(self, item: int | None, stage: Stage, waits: bool) -> End:
        if item in self.known[stage.name]:
            return End("not_asked", stage, "check_item", out=True)
        if item in self.lacking[stage.name]:
            return End("not_asked", stage, "not_suitable", out=True)
        if waits:
            return End("open", stage, waits=True)
        return End("not_asked", stage, "not_suitable" if stage.settings["sample"] is None else "not_sampled", out=True)

    def unmet_end(self) -> End:
        """Of items that are in no stage's tasks: they wait for the first one, or came through where none selects."""
        root = next((stage for stage in self.stages if stage.settings["source"] is None), None)
        if root is None:
            return End("kept")
        return self.left_out(None, root, not self.full[root.name])


def funnel(files: Files, stages: Sequence[Stage]) -> dict:
    walk = Walk(files, stages)
    return {
        **counts(walk, list(walk.kinds), sum(walk.unmet.values())),
        "measuring": [measured(stage) for stage in stages if stage.settings["measures"]],
        "by_type": [
            {"type": kind[0], "subtype": kind[1], **counts(walk, items, walk.unmet[kind])}
            for kind, items in ((kind, [item for item, of in walk.kinds.items() if of == kind]) for kind in walk.groups)
        ],
    }


def of_items(decided: pd.DataFrame) -> dict[int, tuple[str, str]]:
    """(state, reason) of each item: dropped by its first task that says so, kept when all keep it."""
    rows = decided.sort_values(["position", "question"])
    found: dict[int, tuple[str, str]] = {}
    for item, came, why in rows[["position", "came", "why"]].itertuples(index=False, name=None):
        before = found.get(item, ("kept", ""))
        if came == "dropped" and before[0] != "dropped":
            found[item] = ("dropped", why)
        else:
            found[item] = ("open", "") if came == "open" and before[0] == "kept" else before
    return found


def counts(walk: Walk, items: Sequence[int], unmet: int) -> dict:
    ends = [walk.ends[item] for item in items] + [walk.unmet_end()] * unmet
    whole = len(ends)
    number = {state: sum(end.state == state for end in ends) for state in STATES}
    return {
        "imported": whole,
        "stages": [step(stage, items, walk.found[stage.name], ends) for stage in walk.stages],
        **number,
        **{f"{state}_share": share(count, whole) for state, count in number.items()},
        "reasons": by_stage(ends, "dropped"),
        "not_asked_in": by_stage(ends, "not_asked"),
        "open_in": by_stage(ends, "open"),
    }


def named(stage: Stage) -> dict:
    return {"stage": stage.settings["position"], "name": stage.name, "protocol": stage.settings["protocol"]}


def step(stage: Stage, items: Sequence[int], found: Mapping, ends: Sequence[End]) -> dict:
    mine = [found[item] for item in items if item in found]
    number = {state: sum(one == state for one, _ in mine) for state in ("kept", "dropped", "open")}
    out = [end.reason for end in ends if end.out and end.stage is stage]
    return {
        **named(stage),
        "entered": len(mine),
        "entered_share": share(len(mine), len(ends)),
        **number,
        **{f"{state}_share": share(count, len(mine)) for state, count in number.items()},
        "kept_of_imported": share(number["kept"], len(ends)),
        "reasons": reasons([reason for state, reason in mine if state == "dropped"], len(mine)),
        "waiting": sum(end.waits and end.stage is stage for end in ends),
        "left_out": reasons(out, len(ends)),
    }


def reasons(names: Sequence[str], whole: int) -> list[dict]:
    """Most items first."""
    rows = [{"reason": name, "items": count, "share": share(count, whole)} for name, count in Counter(names).items()]
    return sorted(rows, key=lambda row: (-row["items"], row["reason"]))


def by_stage(ends: Sequence[End], state: str) -> list[dict]:
    found = Counter(
        (end.stage.settings["position"], end.stage.name, end.reason, end.waits)
        for end in ends
        if end.state == state and end.stage
    )
    names = ("stage", "name", "reason", "waits")
    return [
        {**dict(zip(names, place, strict=True)), "items": count, "share": share(count, len(ends))}
        for place, count in sorted(found.items())
    ]


def measured(stage: Stage) -> dict:
    answered = int((stage.decided.came != "open").sum())
    return {
        **named(stage),
        "sampled": stage.tasks.position.nunique(),
        "tasks": len(stage.tasks),
        "answered": answered,
        "open": len(stage.tasks) - answered,
        "answered_share": share(answered, len(stage.tasks)),
    }
