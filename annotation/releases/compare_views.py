"""What a release says of each item: in its data, dropped, open or not there; read twice, in bounded memory. Pure."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from annotation.releases.archive_reader import Opened
from annotation.releases.export_reader import streamed

KEPT, DROPPED, OPEN, ABSENT = "kept", "dropped", "open", "absent"
IN_FILES = {KEPT: "items.jsonl", DROPPED: "dropped.jsonl"}
JUDGED = ("stage", "item", "question", "kind", "live", "annotator", "answer", "counted")
ROWS = 50_000  # judgments in memory

Asked = tuple[str, str]  # a stage's name and its question


@dataclass(frozen=True, slots=True)
class Sight:
    """An item as one release has it. `line` is that of items.jsonl or dropped.jsonl; an open item has none."""

    state: str
    line: Mapping = field(default_factory=dict)
    decisions: Mapping[Asked, Mapping] = field(default_factory=dict)  # in the order of the stages
    people: Mapping[Asked, Collection[str]] = field(default_factory=dict)  # of those asked for, whose judgments count

    @property
    def fate(self) -> dict:
        """Where it stands, in the words of the files."""
        found = {"state": self.state}
        if self.state == DROPPED:
            found |= {"stage": self.line["stage"], "reason": self.line["reason"]}
        if self.state == KEPT:
            found["split"] = self.line.get("split")
        return found


def raw_items(release: Opened) -> Iterator[tuple[str, str, bytes]]:
    """(id, state, line) of every item that is decided."""
    for state, name in IN_FILES.items():
        for raw in release.raw_lines(name):
            yield json.loads(raw)["id"], state, raw


def open_items(release: Opened, decided: Collection[str]) -> dict[str, dict[Asked, dict]]:
    """What was asked of each item that is neither kept nor dropped: {id: decisions}, `state` "open" where none came."""
    found = defaultdict(dict)
    for task in release.lines("tasks.jsonl"):
        if task["item"] in decided or not task.get("own", True) or task["kind"] != "judge":
            continue
        asked = found[task["item"]]
        if task["live"]:
            asked[task["stage"], task["question"]] = _decision(task)
    return found


def _decision(task: Mapping) -> dict:
    """A line of tasks.jsonl as one of an item's decisions, whose votes are not known."""
    names = ("stage", "question", "round", "outcome", "reason", "decided_by")
    return {"state": task["state"] or OPEN, "votes": None, **{name: task.get(name) or None for name in names}}


@dataclass(frozen=True, slots=True)
class Judged:
    """Of some items, by id and what was asked: the counted answers, and whose they were, of some annotators."""

    votes: Mapping[str, Mapping[Asked, Counter]]
    people: Mapping[str, Mapping[Asked, Collection[str]]]


def judged(release: Opened, items: Collection[str], people: Collection[str]) -> Judged:
    """One pass over judgments.parquet; nothing where there are no items."""
    votes, who = defaultdict(lambda: defaultdict(Counter)), defaultdict(lambda: defaultdict(set))
    for row in _counted(release, items) if items else ():
        asked = row["stage"], row["question"] or ""
        votes[row["item"]][asked][row["answer"]] += 1
        if row["annotator"] in people:
            who[row["item"]][asked].add(row["annotator"])
    return Judged(votes, who)


def _counted(release: Opened, items: Collection[str]) -> Iterator[dict]:
    wanted = pa.array(sorted(items), pa.string())
    with release.open("judgments.parquet") as source, streamed(source) as file:
        for batch in file.iter_batches(ROWS, columns=list(JUDGED), use_threads=False):
            counts = pc.and_(pc.and_(batch["counted"], batch["live"]), pc.equal(batch["kind"], "judge"))
            yield from batch.filter(pc.and_(counts, pc.is_in(batch["item"], value_set=wanted))).to_pylist()
