"""The rows of a release in the shape that the measures need (annotation/measures), read from its files only.

If times are not public, a judgment's place among those of its task replaces the moment it was given, and its duration
is zero: figures that depend on times are not in such a release.
"""

import json
import marshal
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.columns import TASK_KEY
from annotation.measures import pass_rules
from annotation.measures.annotator_figures import Checked
from annotation.measures.judgments import Coded, Judgments
from annotation.measures.papers.base import CountedJudgment
from annotation.measures.papers.registry import FIGURES
from annotation.measures.pay import Pay
from annotation.measures.types import Array
from annotation.protocols.base import Answer, Choice, Guideline
from annotation.protocols.compile import as_protocol
from annotation.protocols.decision_rule import Rule
from annotation.protocols.registry import built_in
from annotation.protocols.rules import rule_for
from annotation.releases.export_reader import record, record_of_open
from annotation.releases.schema import JUDGMENTS
from annotation.releases.verification.place import Place, Wrong
from benchmarks.records import ItemRecord

WORDS = ("stage", "item", "question", "kind", "type", "subtype", "annotator", "answer", "content")
NUMBERS = (
    "position", "round", "live", "slot", "screen", "place", "active_ms", "counted", "withdrawn", "surplus", "given",
)  # fmt: skip
EMPTY = ("answer", "content")  # columns that may be empty
about = itemgetter("stage", "item", "question", "round")
place_of = itemgetter("position", "question", "round")  # a TaskKey


class ReleasedTask:
    """The data that figures need from a line of tasks.jsonl, under the same keys; and its place among the tasks of the
    judgments (`code`, None if it has none).

    `kept` has each distinct value once, for all tasks that share it; there may be hundreds of thousands of tasks.
    """

    __slots__ = ("_shared", "carried", "code", "content", "item", "options", "place", "score", "texts")
    SHARED = ("stage", "type", "subtype", "overlap", "state", "outcome", "reason", "decided_by", "rules")

    position = property(lambda self: self.place[0])
    question = property(lambda self: self.place[1])
    round = property(lambda self: self.place[2])

    def __init__(self, line: Mapping, kept: dict[bytes, Any], with_texts: bool):
        self.code: int | None = None

        def once(value: Any) -> Any:
            return kept.setdefault(marshal.dumps(value, 2), value)

        self.item, self.place = line["item"], place_of(line)
        self._shared = once({name: line[name] for name in self.SHARED if name in line})
        for name in ("carried", "content", "options", "score", *(["texts"] if with_texts else [])):
            if name in line:
                setattr(self, name, once(line[name]))

    def __getitem__(self, name: str) -> Any:
        if name in self._shared:
            return self._shared[name]
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def __contains__(self, name: str) -> bool:
        return name in self._shared or hasattr(self, name)


@dataclass(eq=False)
class ReleasedStage:
    """A stage's settings, under the names that measures.funnel and measures.human_baseline use, and its rows.

    `judgments` are in the order of items, a task's in the order given; `contents` has the content of each as JSON.
    `live_tasks` are those without checks and practice, in the same order; `known_tasks` are lines of tasks.jsonl.
    """

    settings: Mapping
    rule: Rule
    judgments: Judgments = field(default_factory=lambda: Judgments.of(()))
    contents: Coded = field(default_factory=lambda: Coded.of(()))
    live_tasks: list[ReleasedTask] = field(default_factory=list)
    known_tasks: list[dict] = field(default_factory=list)  # checks and practice
    checks: dict[tuple, tuple] = field(default_factory=dict)  # by screen, the last (task, annotator, answer, withdrawn)
    checked_answers: list[tuple[tuple, str]] = field(default_factory=list)  # the counted ones

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

    def set_judgments(self, words: Mapping[str, Coded], numbers: Mapping[str, Array]) -> None:
        """Set the columns of judgments.parquet, a task's in the order given."""
        position, round_ = (Coded.of_numbers(numbers[name]) for name in ("position", "round"))
        annotators = np.array([number_of(name) for name in words["annotator"].values], dtype=np.int32)
        self.contents = words["content"]
        self.judgments = Judgments(
            Coded.of_columns(position, words["question"], round_), words["kind"], numbers["live"],
            Coded.of_columns(words["type"], words["subtype"]), numbers["slot"], annotators[words["annotator"].code],
            words["answer"],
            *(numbers[name] for name in ("place", "places", "active_ms", "counted", "surplus", "withdrawn", "at")),
        )  # fmt: skip
        for row in np.flatnonzero(words["kind"].equals("check")).tolist():
            said = {name: column.values[column.code[row]] for name, column in words.items()}
            task = self.name, said["item"], said["question"], int(numbers["round"][row])
            annotator, withdrawn = int(self.judgments.annotator[row]), bool(numbers["withdrawn"][row])
            screen = (*task, annotator, int(numbers["screen"][row]))
            self.checks[screen] = task, annotator, said["answer"], withdrawn
            if self.judgments.counted[row]:
                self.checked_answers.append((task, said["answer"]))

    def find_judgments(self) -> None:
        """Put the live tasks into the order of items, and record where each one's judgments are."""
        self.live_tasks.sort(key=attrgetter("place"))
        places = self.judgments.task.values
        codes = {place: code for code, place in enumerate(places)}
        for task in self.live_tasks:
            task.code = codes.get(task.place)
            if task.code is not None:
                task.place = places[task.code]  # if two are equal, one is enough

    def answers_to(self, task: ReleasedTask) -> list[CountedJudgment]:
        """Return the judgments that count on a live task, in the order given."""
        if task.code is None:
            return []
        starts, annotators, code_of, answers = self._counted
        rows = slice(*starts[task.code : task.code + 2])
        given = zip(annotators[rows].tolist(), code_of[rows].tolist(), strict=True)
        return [CountedJudgment(annotator, answers[code]) for annotator, code in given]

    @cached_property
    def _counted(self) -> tuple[Array, Array, Array, list[Answer]]:
        """Return (where each task's begin, annotators, answers as positions in what follows, distinct answers)."""
        given = self.judgments
        rows = np.flatnonzero(given.is_judge & given.counted & given.live)
        rows = rows[np.argsort(given.task.code[rows], kind="stable")]
        starts = np.searchsorted(given.task.code[rows], np.arange(len(given.task.values) + 1))
        said = Coded.of_columns(given.answer[rows], self.contents[rows])
        answers = [Answer(label, json.loads(content or "{}")) for label, content in said.values]
        return starts, given.annotator[rows], said.code, answers

    def known_answers(self) -> list[tuple[list[str] | None, str]]:
        """Return the right answers (None if they are not public) and the answer of each counted judgment of a check."""
        gold = {about(task): task["gold"] for task in self.known_tasks if task["kind"] == "check"}
        return [(gold[task], answer) for task, answer in self.checked_answers]

    def checked(self) -> dict[int, Checked]:
        """Return, by annotator, the results of the attention checks whose right answers are public."""
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
    """Every table on which figures depend. Raises KeyError, ValueError or OSError if a file is not as it should be."""

    place: Place

    @cached_property
    def stages(self) -> list[ReleasedStage]:
        """Return the stages in the manifest's order, each with its rows."""
        found = {one["name"]: ReleasedStage(one, rule_of(one, self.place)) for one in self.place.manifest["stages"]}
        kept: dict[bytes, Any] = {}
        for task in self.place.lines("tasks.jsonl"):
            if task["kind"] != "judge":
                found[task["stage"]].known_tasks.append(task)
            elif task["live"]:
                stage = found[task["stage"]]
                stage.live_tasks.append(ReleasedTask(task, kept, with_texts=stage.protocol in FIGURES))
        _add_judgments(self.place, found)
        for stage in found.values():
            stage.find_judgments()
        return list(found.values())

    @cached_property
    def annotators(self) -> list[dict]:
        """Return the lines of annotators.jsonl, each with its `number`."""
        return [line | {"number": number_of(line["annotator"])} for line in self.place.lines("annotators.jsonl")]

    @cached_property
    def flags(self) -> dict[str, list[bool]]:
        """Return, by stage, whether each flag is settled."""
        found = defaultdict(list)
        for line in self.place.lines("flags.jsonl"):
            found[line["stage"]].append(line["settled"])
        return found

    @cached_property
    def adjudicated(self) -> dict[tuple, dict]:
        """Return adjudicators' decisions by (stage, item, question, round)."""
        return {about(line): line for line in self.place.lines("adjudications.jsonl")}

    @cached_property
    def edits(self) -> dict[tuple, dict[str, dict[str, str]]]:
        """Return, by (stage, item, question, round), each edit's text by identity and role."""
        found: dict[tuple, dict] = defaultdict(lambda: defaultdict(dict))
        for line in self.place.lines("texts.jsonl"):
            if line["edit"]:
                found[about(line)][line["edit"]][line["role"]] = line["text"]
        return found

    @cached_property
    def origins(self) -> dict[str, Sequence[str]]:
        """Return the source of negative captions by item, if known."""
        lines = self.place.lines_of_items()
        return {line["id"]: line["meta"]["origins"] for line in lines if "origins" in line["meta"]}

    @cached_property
    def records(self) -> dict[int, ItemRecord]:
        return item_records(self.place)

    @property
    def pay(self) -> Pay:
        """Return the pay; 0 if it is not public."""
        return Pay.of(self.place.manifest["study"])


def item_records(place: Place) -> dict[int, ItemRecord]:
    """Return items by position. Open items have no line; their tasks have what the protocol file needs."""
    found = {line["position"]: record(line) for line in place.lines_of_items()}
    for task in place.lines("tasks.jsonl"):
        if "of_item" in task and task["position"] not in found:
            found[task["position"]] = record_of_open(task)
    return found


def number_of(annotator: str) -> int:
    """Return 7 for A-07."""
    return int(annotator.removeprefix("A-"))


def rule_of(settings: Mapping, place: Place) -> Rule:
    """Return the decision rule of a stage: the release's protocol file if it uses one. For other protocols the
    manifest's settings apply, whatever this version's are.
    """
    if settings["protocol_file"]:
        protocol = as_protocol(place.protocol_file(settings), settings["protocol"])
        return rule_for(protocol, settings["overlap"], settings["tie_rule"], settings["cap"], settings["rule"])
    there = built_in(settings["protocol"])  # never one that was published on this server
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


def _add_judgments(place: Place, stages: Mapping[str, ReleasedStage]) -> None:
    """Give each stage its judgments."""
    words, numbers = _columns(place)
    order, stage_of = _in_order_given(words, numbers), words.pop("stage")
    for code in dict.fromkeys(stage_of.code.tolist()):
        rows = order[stage_of.code[order] == code]
        if len(rows) == rows[-1] - rows[0] + 1 and (np.diff(rows) == 1).all():
            rows = slice(rows[0], rows[-1] + 1)  # true in every release; it saves copies
        of = {name: column[rows] for name, column in words.items()}
        given = {name: column[rows] for name, column in numbers.items()}
        stages[stage_of.values[code]].set_judgments(of, given)


def _in_order_given(words: Mapping[str, Coded], numbers: Mapping[str, Array]) -> Array:
    """Return the positions of all judgments by task in the file's order, and within a task in the order given."""
    given = numbers["given"]
    begins = np.zeros(len(given), dtype=bool)
    for column in (*(words[name].code for name in TASK_KEY if name in words), numbers["round"]):
        begins[1:] |= column[1:] != column[:-1]
    return np.lexsort((given, np.cumsum(begins)))


def _columns(place: Place) -> tuple[dict[str, Coded], dict[str, Array]]:
    """Return the columns of all judgments, in the file's order. `places` has the number of options shown, `at` when
    each was given, in microseconds or else in order.
    """
    timed, total, done = "times" in place.public, place.judgment_count, 0
    words = {name: _Words(total) for name in WORDS}
    numbers = {name: np.empty(0, dtype=np.int32) for name in (*NUMBERS, "places", "at")}
    for batch in place.judgments([*WORDS, *NUMBERS, "shown", "created_at"]):
        columns = {name: batch.column(name) for name in (*WORDS, *NUMBERS)}
        columns["places"] = pc.list_value_length(batch.column("shown"))
        columns["at"] = batch.column("created_at").cast(pa.int64()) if timed else columns["given"]
        for name in ("place", "active_ms"):
            columns[name] = columns[name].fill_null(0)
        if empty := [name for name, column in columns.items() if column.null_count and name not in EMPTY]:
            raise Wrong(f"{JUDGMENTS} has judgments without {', '.join(empty)}")
        rows = slice(done, done + len(batch))
        for name, column in words.items():
            column.add(rows, columns[name])
        for name in numbers:
            found = columns[name].to_numpy(zero_copy_only=False)
            if not done:
                numbers[name] = np.empty(total, found.dtype)
            numbers[name][rows] = found
        done += len(batch)
    if done != total:
        raise Wrong(f"{JUDGMENTS} has {done:,} judgments but claims {total:,}")
    return {name: column.coded() for name, column in words.items()}, numbers


class _Words:
    """A column of `total` words, read a batch at a time."""

    def __init__(self, total: int) -> None:
        self._places: dict[str, int] = {}
        self._codes = np.empty(total, dtype=np.int32)

    def add(self, rows: slice, column: pa.Array) -> None:
        found = column.fill_null("").dictionary_encode()
        places = [self._places.setdefault(word, len(self._places)) for word in found.dictionary.to_pylist()]
        self._codes[rows] = np.array(places, dtype=np.int32)[found.indices.to_numpy()]

    def coded(self) -> Coded:
        return Coded.of_codes(list(self._places), self._codes)
