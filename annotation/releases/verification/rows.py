"""The rows of a release in the shape that the measures count (annotation/measures), read from its files alone.

Where times are not public, the place of a judgment among those of its task stands for the moment at which it was given,
and it took no time: what rests on times is not in the figures of such a release.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from sys import intern

import pyarrow as pa
import pyarrow.compute as pc

from annotation.measures import pass_rules
from annotation.measures.annotator_figures import Checked
from annotation.measures.judgments import JudgmentRow, TaskKey
from annotation.measures.papers.base import CountedJudgment
from annotation.protocols.base import Answer, AnswerContent, Choice, Guideline
from annotation.protocols.decision_rule import Rule
from annotation.protocols.declared.compile import as_protocol
from annotation.protocols.registry import PROTOCOLS
from annotation.protocols.rules import rule_for
from annotation.releases.export_reader import record
from annotation.releases.verification.place import Place
from annotation.releases.verification.schemas import key_of

COLUMNS = [
    "stage", "item", "position", "question", "round", "kind", "live", "type", "subtype", "annotator", "slot", "screen",
    "revision", "answer", "content", "place", "active_ms", "counted", "withdrawn", "surplus", "given",
]  # fmt: skip
about = itemgetter("stage", "item", "question", "round")
place_of = itemgetter("position", "question", "round")  # a TaskKey


@dataclass(eq=False)
class ReleasedStage:
    """A stage's settings, under the names that measures.funnel and measures.human_baseline ask for, and its rows.

    `judgments` are in the order of items, a task's in the order of giving; `answers` are those that count on live
    tasks. `live_tasks` are lines of tasks.jsonl without checks and training, in the same order.
    """

    settings: Mapping
    rule: Rule
    judgments: list[JudgmentRow] = field(default_factory=list)
    answers: dict[TaskKey, list[CountedJudgment]] = field(default_factory=lambda: defaultdict(list))
    live_tasks: list[dict] = field(default_factory=list)
    known_tasks: list[dict] = field(default_factory=list)  # checks and training
    checks: dict[tuple, tuple] = field(default_factory=dict)  # by screen, the last (task, annotator, answer, withdrawn)

    pk = name = property(lambda self: self.settings["name"])
    position = property(lambda self: self.settings["position"])
    protocol = property(lambda self: self.settings["protocol"])
    state = property(lambda self: self.settings["state"])
    source_id = property(lambda self: self.settings["source"])
    after_id = property(lambda self: self.settings["after"])
    takes = property(lambda self: self.settings["takes"])
    promotion = property(lambda self: self.settings["promotion"])
    sample = property(lambda self: self.settings["sample"])
    sample_each = property(lambda self: self.settings["sample_each"])
    overlap = property(lambda self: self.settings["overlap"])

    def add(self, row: Mapping, parsed: dict[str, AnswerContent]) -> None:
        """A row of judgments.parquet, a task's in the order of giving."""
        given, answer = _given(row), row["answer"] or ""
        self.judgments.append(given)
        if given.kind == "check":
            task, screen = about(row), (given.annotator, row["screen"])
            self.checks[(*task, *screen)] = task, given.annotator, answer, given.withdrawn
        elif given.kind == "judge" and given.counted and given.live:
            text = row["content"] or "{}"
            if text not in parsed:
                parsed[text] = json.loads(text)
            self.answers[given.task].append(CountedJudgment(given.annotator, Answer(given.answer, parsed[text])))

    def checked(self) -> dict[int, Checked]:
        """By annotator: how the attention checks went, of which the right answers are public."""
        known = {about(task): task for task in self.known_tasks if task["kind"] == "check"}
        fixed, found = len(self.settings["fixed_answers"]), defaultdict(list)
        for task, annotator, answer, withdrawn in self.checks.values():
            if not withdrawn:
                gold, options = known[task]["gold"], known[task]["options"]
                found[annotator].append((answer in gold, pass_rules.guess_rate(gold, len(options) + fixed)))
        return {
            who: Checked(len(rows), sum(right for right, _ in rows), sum(guess for _, guess in rows) / len(rows))
            for who, rows in found.items()
        }


@dataclass
class Rows:
    """Every table that figures rest on. KeyError, ValueError or OSError where a file is not what it should be."""

    place: Place

    @cached_property
    def stages(self) -> list[ReleasedStage]:
        """In the manifest's order, each with its rows."""
        found = {one["name"]: ReleasedStage(one, rule_of(one, self.place)) for one in self.place.manifest["stages"]}
        for task in self.place.lines("tasks.jsonl"):
            if task["kind"] != "judge":
                found[task["stage"]].known_tasks.append(task)
            elif task["live"]:
                found[task["stage"]].live_tasks.append(task)
        parsed: dict[str, AnswerContent] = {}  # contents, each text parsed once
        for _, task_rows in groupby(_judgments(self.place), key=key_of):
            for row in sorted(task_rows, key=itemgetter("given")):
                found[row["stage"]].add(row, parsed)
        for stage in found.values():
            stage.live_tasks.sort(key=place_of)
        return list(found.values())

    @cached_property
    def annotators(self) -> list[dict]:
        """Lines of annotators.jsonl, each with its `number`."""
        return [line | {"number": number_of(line["annotator"])} for line in self.place.lines("annotators.jsonl")]

    @cached_property
    def flags(self) -> dict[str, list[bool]]:
        """By stage: of each flag, whether it is settled."""
        found = defaultdict(list)
        for line in self.place.lines("flags.jsonl"):
            found[line["stage"]].append(line["settled"])
        return found

    @cached_property
    def adjudicated(self) -> dict[tuple, dict]:
        """By stage, item, question and round: what an adjudicator decided."""
        return {about(line): line for line in self.place.lines("adjudications.jsonl")}

    @cached_property
    def edits(self) -> dict[tuple, dict[str, dict[str, str]]]:
        """By stage, item, question and round: the words of each edit by its identity and role."""
        found: dict[tuple, dict] = defaultdict(lambda: defaultdict(dict))
        for line in self.place.lines("texts.jsonl"):
            if line["edit"]:
                found[about(line)][line["edit"]][line["role"]] = line["text"]
        return found

    @cached_property
    def origins(self) -> dict[str, Sequence[str]]:
        """By item: whose its negative captions are, where it says so."""
        files = ("items.jsonl", "dropped.jsonl")
        lines = (line for name in files for line in self.place.lines(name))
        return {line["id"]: line["meta"]["origins"] for line in lines if "origins" in line["meta"]}

    @cached_property
    def attributes(self) -> dict[int, dict[str, Mapping]]:
        """By an item's position: by identity what its parts say of themselves; {} where they say nothing. Open items
        have no line.
        """
        lines = (line for name in ("items.jsonl", "dropped.jsonl") for line in self.place.lines(name))
        return {line["position"]: record(line).attributes() for line in lines}

    @property
    def pay(self) -> float:
        """An hour; 0 where it is not public."""
        return float(self.place.manifest["study"]["pay_per_hour"] or 0)


def number_of(annotator: str) -> int:
    """7 of A-07."""
    return int(annotator.removeprefix("A-"))


def rule_of(settings: Mapping, place: Place) -> Rule:
    """The decision rule of a stage: by the protocol file in the release if it asks one. Of other protocols, what the
    manifest says holds, whatever this version says of them.
    """
    if settings["protocol_file"]:
        protocol = as_protocol(place.protocol_file(settings), settings["protocol"])
        return rule_for(protocol, settings["overlap"], settings["tie_rule"], settings["cap"], settings["rule"])
    there = PROTOCOLS[settings["protocol"]]  # never one that is published on this server
    form = there.form and replace(
        there.form, confirms=settings["confirms"], guidelines=tuple(Guideline(**one) for one in settings["guidelines"])
    )
    protocol = replace(
        there, form=form, drops=settings["drops"], alike=settings["alike"], measures=settings["measures"],
        fixed=tuple(Choice(identity, identity, ()) for identity in settings["fixed_answers"]),
        projections={name: there.projections[name] for name in settings["views"]},
    )  # fmt: skip
    return rule_for(protocol, settings["overlap"], settings["tie_rule"], settings["cap"], settings["rule"])


# Judgments


def _judgments(place: Place) -> Iterator[dict]:
    """With how many options were shown (`places`), and when it was given (`at`) in microseconds or else in order."""
    timed = "times" in place.public
    for batch in place.judgments([*COLUMNS, "shown", "created_at"]):
        places = pc.list_value_length(batch.column("shown")).to_pylist()
        at = batch.column("created_at").cast(pa.int64()) if timed else batch.column("given")
        for row, many, when in zip(batch.select(COLUMNS).to_pylist(), places, at.to_pylist(), strict=True):
            yield row | {"places": many, "at": when}


def _given(row: Mapping) -> JudgmentRow:
    """Equal words are kept once, which halves the memory of a million rows."""
    return JudgmentRow(
        (row["position"], intern(row["question"]), row["round"]), intern(row["kind"]), row["live"],
        intern(row["type"]), intern(row["subtype"]), row["slot"], number_of(row["annotator"]),
        intern(row["answer"] or ""), row["place"], row["places"], row["active_ms"] or 0, row["counted"],
        row["surplus"], row["withdrawn"], row["at"],
    )  # fmt: skip
