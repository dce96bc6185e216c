"""Check judgments.parquet against tasks.jsonl, annotators.jsonl, flags.jsonl and the manifest, some tasks at a time.

A rule about one judgment is a function of some of its columns, called once for each distinct combination of values
(`_Rows.unlike`): there are few. A rule about several judgments works on sorted columns. So a million judgments take
seconds, and no rule needs a faster variant.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import eq
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.columns import TABLES, TASK_KEY
from annotation.measures.judgments import JUDGE, Coded
from annotation.measures.ratings import codes
from annotation.measures.types import Array
from annotation.releases.schema import JUDGMENTS
from annotation.releases.verification.items import safely
from annotation.releases.verification.place import Place, Wrong
from annotation.releases.verification.report import Report
from annotation.releases.verification.schemas import key_of

SAME = ("position", "type", "subtype", "live")  # columns in which a judgment equals its task
OF_TASK = (*SAME, "overlap", "options", "corrected")
FLAGGED = ("stage", "item", "question", "round", "annotator")
FILLED = tuple(column.name for column in TABLES["judgments"].columns if not column.may_be_null)
EDIT = "edit-"
EMPTY = (None, "", "{}")  # the content of an answer that is only a pick
SEPARATOR = "\x1f"  # not allowed in any name in a release
BATCH = 10_000  # rows in memory
Found = Iterator[tuple[int, str]]  # the number of a row, and what is wrong with it


@dataclass(frozen=True, slots=True)
class Known:
    """What other files have: the versions of each stage's instructions, who is excluded, the flags by (stage, item,
    question, round, annotator), which columns are not public, and whether free comments are hidden (`quiet`);
    who judged elsewhere (`elsewhere`), and the files of their judgments by stage.
    """

    versions: Mapping[str, Set[int]]
    excluded: Mapping[str, bool]
    flagged: Mapping[tuple, Set[str]]
    hidden: Sequence[str]
    quiet: bool
    elsewhere: Mapping[str, bool]
    imported: Mapping[str, Set[str]]

    @classmethod
    def of(cls, place: Place) -> "Known":
        stages, flagged = place.manifest["stages"], defaultdict(set)
        for line in place.lines("flags.jsonl"):
            flagged[tuple(line[name] for name in FLAGGED)].add(line["reason"])
        return cls(
            {stage["name"]: {one["version"] for one in stage["instructions"]} for stage in stages},
            {line["annotator"]: line["excluded"] for line in place.lines("annotators.jsonl")},
            flagged,
            TABLES["judgments"].hidden(place.public),
            "comments" not in place.public,
            {line["annotator"]: line.get("imported", False) for line in place.lines("annotators.jsonl")},
            {stage["name"]: {one["sha256"] for one in stage.get("imported", ())} for stage in stages},
        )


@dataclass
class Tasks:
    """Each task's number, by its key, and the values of tasks.jsonl by name in the tasks' order, equal values once."""

    numbers: dict[tuple, int] = field(default_factory=dict)
    columns: Mapping[str, list] = field(default_factory=lambda: {name: [] for name in OF_TASK})
    _kept: dict[Any, Any] = field(default_factory=dict)

    def add(self, line: Mapping) -> tuple | None:
        """Add a task; return its key if it was there before."""
        key = tuple(map(self._once, key_of(line)))
        number = len(self.columns["options"])
        for name in OF_TASK:
            value = line.get(name)
            self.columns[name].append(self._once(tuple(sorted(value)) if isinstance(value, list) else value))
        return key if self.numbers.setdefault(key, number) != number else None

    def _once(self, value: Any) -> Any:
        return value if isinstance(value, int) else self._kept.setdefault(value, value)


@dataclass(frozen=True, slots=True)
class TaskJudgments:
    """The judgments of a task, which are `n` rows of a batch from `start`: the answers of those that count, and whether
    any answer has more than a label.
    """

    batch: pa.RecordBatch
    start: int
    n: int
    votes: Sequence[str]
    has_more: bool

    def rows(self) -> list[dict]:
        return self.batch.slice(self.start, self.n).to_pylist()


def judgments_by_task(
    place: Place, tasks: Tasks, known: Known, report: Report
) -> Iterator[tuple[tuple, TaskJudgments]]:
    """Yield each task's key with its judgments, in the file's order, after checking them and reporting problems."""
    rest = None  # the last task of a batch may have more judgments in the next
    for batch in filter(len, safely(report, JUDGMENTS, place.judgments(rows=BATCH))):
        whole = batch if rest is None else pa.concat_batches([rest, batch])
        last = int(np.flatnonzero(_begins(_keys(whole)))[-1])
        rest = whole.slice(last)
        if last:
            yield from _checked(whole.slice(0, last), tasks, known, report)
    if rest is not None:
        yield from _checked(rest, tasks, known, report)


def _checked(
    batch: pa.RecordBatch, tasks: Tasks, known: Known, report: Report
) -> Iterator[tuple[tuple, TaskJudgments]]:
    """Check a `batch` of whole tasks."""
    columns = _keys(batch)
    starts = np.flatnonzero(_begins(columns))
    keys = list(zip(*(column[starts].tolist() for column in columns), strict=True))
    report.count("judgments with their tasks and annotators", len(batch))
    rows = _Rows(batch, starts, [tasks.numbers.get(key) for key in keys], tasks)
    for check in (_contradictions(rows, known), _disorder(rows)):
        for row, words in sorted(safely(report, JUDGMENTS, check)):
            stage, item, *_ = keys[rows.task[row]]
            report.problem(JUDGMENTS, f"{stage}, {item!r}: {words}")
    is_pick = rows.holds(lambda content: content in EMPTY, rows["content"]) & batch.column("answers").is_null()
    has_more = np.logical_or.reduceat(~is_pick, starts)
    counted, answers = rows.numbers("counted").tolist(), rows["answer"].tolist()
    spans = zip(keys, starts.tolist(), [*starts[1:].tolist(), len(batch)], has_more.tolist(), strict=True)
    for key, start, end, more in spans:
        votes = [answer for answer, one in zip(answers[start:end], counted[start:end], strict=True) if one]
        yield key, TaskJudgments(batch, start, end - start, votes, more)


def _keys(batch: pa.RecordBatch) -> list[Coded]:
    return [_coded(batch.column(name)) for name in TASK_KEY]  # KeyError if it lacks one


def _coded(column: pa.Array) -> Coded:
    found = column.dictionary_encode(null_encoding="encode")
    return Coded(found.dictionary.to_pylist(), found.indices.to_numpy())


def _coded_lists(column: pa.Array) -> Coded:
    """Encode a column of lists of texts. Even with many judgments, there are few orders of options."""
    members = column.flatten()
    if members.null_count or pc.any(pc.match_substring(members, SEPARATOR)).as_py():
        raise Wrong("a list has a text that cannot be there")
    joined, n = _coded(pc.binary_join(column, SEPARATOR)), _coded(pc.list_value_length(column))
    both = Coded.of_columns(joined, n)  # no text and an empty text are joined alike
    return Coded([tuple(text.split(SEPARATOR)) if n else () for text, n in both.values], both.code)


def _begins(columns: Iterable[Coded | Array]) -> Array:
    """Return, for each row, whether it differs from the previous row in any of the columns."""
    first, *others = (column.code if isinstance(column, Coded) else column for column in columns)
    found: Array = np.arange(len(first)) == 0
    for code in (first, *others):
        found[1:] |= code[1:] != code[:-1]
    return found


class _Rows:
    """The judgments of whole tasks by columns; `task` is the position of each one's task among `starts`, `of_task` the
    task's values in tasks.jsonl, as a further column.
    """

    def __init__(self, batch: pa.RecordBatch, starts: Array, numbers: Sequence[int | None], tasks: Tasks):
        self.batch = batch
        self.task = np.repeat(np.arange(len(starts)), np.diff([*starts.tolist(), len(batch)]))
        self.known = np.flatnonzero(np.array([number is not None for number in numbers], dtype=bool)[self.task])
        self.of_task = {}
        for name, column in tasks.columns.items():
            values, code = codes([None if number is None else column[number] for number in numbers])
            self.of_task[name] = Coded(values, code[self.task])
        self._read: dict[str, Coded] = {}

    def __getitem__(self, name: str) -> Coded:
        if name not in self._read:
            column = self.batch.column(name)
            self._read[name] = _coded_lists(column) if pa.types.is_list(column.type) else _coded(column)
        return self._read[name]

    def numbers(self, name: str) -> Array:
        found: Array = self.batch.column(name).to_numpy(zero_copy_only=False)
        return found

    def holds(self, rule: Callable[..., bool], *columns: Coded) -> Array:
        """Return, for each row, whether the rule holds for its values in these columns."""
        both = Coded.of_columns(*columns)
        found: Array = np.array([rule(*values) for values in both.values], dtype=bool)[both.code]
        return found

    def unlike(self, rule: Callable[..., bool], *columns: Coded) -> Iterator[tuple[int, Sequence]]:
        """Yield the number of each row whose values break the rule, with these values. Rows of tasks missing from
        tasks.jsonl are left out, and reported as such.
        """
        fine = self.holds(rule, *(column[self.known] for column in columns))
        for row in self.known[~fine].tolist():
            yield row, [column.values[column.code[row]] for column in columns]


def _contradictions(rows: _Rows, known: Known) -> Found:
    """Yield contradictions between a judgment and its task, its annotator or its stage."""
    if empty := [name for name in FILLED if rows.batch.column(name).null_count]:
        raise Wrong(f"there are judgments without {', '.join(empty)}")
    for name in SAME:
        for row, (ours, theirs) in rows.unlike(eq, rows[name], rows.of_task[name]):
            yield row, f"{name} is {ours!r}, but {theirs!r} in tasks.jsonl"
    for row, (said, number) in rows.unlike(
        lambda said, number: said == (number is not None), rows["corrected"], rows.of_task["corrected"]
    ):
        yield row, f"corrected is {said}, but {number} in tasks.jsonl"
    stage, who, shown, answer, slot = (rows[name] for name in ("stage", "annotator", "shown", "answer", "slot"))
    for row, (name,) in rows.unlike(known.excluded.__contains__, who):
        yield row, f"it is by {name!r}, who is not in annotators.jsonl"
    for row, (name, said) in rows.unlike(
        lambda name, said: said == known.excluded.get(name, said), who, rows["excluded"]
    ):
        yield row, f"excluded is {said}, unlike for {name} in annotators.jsonl"
    version = rows["instructions_version"]
    for row, (_, said) in rows.unlike(lambda name, said: said in known.versions.get(name, (said,)), stage, version):
        yield row, f"instructions_version is {said}, whose text is not in the manifest"
    for row, (options, _) in rows.unlike(_are_options, shown, rows.of_task["options"]):
        yield row, f"shown is {[*options]!r:.80}, but the task has other options"
    for row, (options, said, at) in rows.unlike(_is_at, shown, answer, rows["place"]):
        yield row, f"place is {at}, but in shown the answer is at {_place_of(options, said)}"
    for row, (said, _) in rows.unlike(lambda said, answer: said == (answer is None), rows["withdrawn"], answer):
        yield row, f"withdrawn is {said}, unlike the answer"
    yield from _imported(rows, known)
    overlap = rows.of_task["overlap"]
    for row, (_, number, most) in rows.unlike(
        lambda kind, number, most: kind != JUDGE or 1 <= number <= most, rows["kind"], slot, overlap
    ):
        yield row, f"slot is {number}, but the task has {most}"
    for row in np.flatnonzero(pc.list_value_length(rows.batch.column("flags")).fill_null(0)).tolist():
        (one,) = rows.batch.slice(row, 1).to_pylist()
        if odd := {*one["flags"]} - known.flagged.get(tuple(one[name] for name in FLAGGED), set()):
            yield row, f"flags has {min(odd)!r:.60}, which is not in flags.jsonl"
    yield from _published(rows, known)


def _imported(rows: _Rows, known: Known) -> Found:
    """Yield contradictions between a judgment and the manifest or its annotator about the file it was imported from."""
    stage, who = rows["stage"], rows["annotator"]
    file, at_row = rows["imported"], rows["imported_row"]
    for row, (name, said) in rows.unlike(lambda name, said: said is None or said in known.imported[name], stage, file):
        yield row, f"imported is {said!r:.80}, a file not in the manifest for {name}"
    for row, (_, name) in rows.unlike(
        lambda said, name: (said is not None) == known.elsewhere.get(name, False), file, who
    ):
        yield row, f"imported is unlike for {name} in annotators.jsonl"
    for row, (_, number) in rows.unlike(lambda said, number: (said is None) == (number is None), file, at_row):
        yield row, f"imported_row is {number}, unlike imported"


def _published(rows: _Rows, known: Known) -> Found:
    """Yield values of a judgment that are not public."""
    for name in known.hidden:
        for row in np.flatnonzero(rows.batch.column(name).is_valid()).tolist():
            yield row, f"{name} is not public and has a value"
    if known.quiet:
        for row, _ in rows.unlike(lambda text: json.loads(text or "{}").get("reason") is None, rows["content"]):
            yield row, "its content has a reason, which is not public"


def _are_options(shown: Sequence[str], options: Sequence[str]) -> bool:
    """Return whether a screen showed the task's options (sorted), plus only edits."""
    return sorted(one for one in shown if not one.startswith(EDIT)) == [*options]


def _place_of(shown: Sequence[str], answer: str | None) -> int | None:
    return shown.index(answer) + 1 if answer in shown else None


def _is_at(shown: Sequence[str], answer: str | None, place: int | None) -> bool:
    return place == _place_of(shown, answer)


def _disorder(rows: _Rows) -> Found:
    """Yield contradictions among a task's judgments. A screen has the revisions of one answer."""
    task, annotator, given = rows.task, rows["annotator"], rows.numbers("given")
    screen, revision, counted = (rows.numbers(name) for name in ("screen", "revision", "counted"))
    for row in _not_numbered(given, task):
        yield row, "given is not numbered from 1"
    yield from _out_of_time(rows, given)
    for name in ("slot", "annotator"):
        for row in _repeated(task, rows[name].code, np.flatnonzero(counted)):
            yield row, f"two of the same {name} count"

    def named(row: int) -> str:
        return f"screen {screen[row]} of {annotator.values[annotator.code[row]]}"

    for row in _not_numbered(revision, task, annotator.code, screen):
        yield row, f"revision: the revisions of {named(row)} are not numbered from 1"
    order = np.lexsort((revision, screen, annotator.code, task))
    begins = _begins(column[order] for column in (task, annotator.code, screen))
    slot, shown = rows["slot"].code[order], rows["shown"].code[order]
    for row in order[~begins & _begins([slot, shown])].tolist():
        yield row, f"slot or shown differs between the revisions of {named(row)}"
    firsts = order[begins]
    for row in firsts[_not_numbered(screen[firsts], task[firsts], annotator.code[firsts])].tolist():
        yield row, f"the screens of {annotator.values[annotator.code[row]]} are not numbered from 1"
    # Annotators who come back count with their earlier answers, so a surplus revision replaces nothing.
    mine = order[~rows.numbers("surplus")[order].astype(bool)]
    is_replaced = ~_begins(column[mine] for column in (task, annotator.code, screen))[1:]
    for row in mine[:-1][is_replaced & counted[mine[:-1]].astype(bool)].tolist():
        yield row, f"counted is set for a revision of {named(row)} that was replaced"
    for start in {int(task[row]) for row, _ in rows.unlike(lambda shown: not any(map(is_edit, shown)), rows["shown"])}:
        of_task = np.flatnonzero(task == start)
        edits = rows.batch.slice(int(of_task[0]), len(of_task)).to_pylist()
        if unknown := {*filter(is_edit, (one for row in edits for one in row["shown"]))} - {*map(edit_name, edits)}:
            yield int(of_task[0]), f"{min(unknown)} was shown, which is not a judgment of the task"


def is_edit(identity: str) -> bool:
    return identity.startswith(EDIT)


def edit_name(row: Mapping) -> str:
    return f"{EDIT}{row['annotator']}-{row['screen']}-{row['revision']}"


def _not_numbered(number: Array, *groups: Array) -> list[int]:
    """Return one position for each group of rows that is not numbered 1, 2, 3 …"""
    order = np.lexsort((number, *reversed(groups)))  # its last key sorts first
    begins = _begins(group[order] for group in groups)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    found: list[int] = order[np.unique(first[number[order] != np.arange(len(order)) - first + 1])].tolist()
    return found


def _repeated(task: Array, value: Array, some: Array) -> list[int]:
    """Return, for each task, a position among `some` whose value occurs twice."""
    order = some[np.lexsort((value[some], task[some]))]
    again = order[~_begins([task[order], value[order]])]
    found: list[int] = again[np.unique(task[again], return_index=True)[1]].tolist()
    return found


def _out_of_time(rows: _Rows, given: Array) -> Found:
    """Yield rows out of order; times are null if they are not public."""
    is_longer = pc.greater(rows.batch.column("active_ms"), rows.batch.column("elapsed_ms"))
    for row in np.flatnonzero(is_longer.fill_null(False)).tolist():
        yield row, "active_ms is more than elapsed_ms"
    created_at = rows.batch.column("created_at")
    order = np.lexsort((given, rows.task))
    order = order[created_at.is_valid().to_numpy(zero_copy_only=False)[order]]
    at = created_at.cast(pa.int64()).fill_null(0).to_numpy()[order]
    is_late = np.append(False, (at[1:] < at[:-1]) & (rows.task[order][1:] == rows.task[order][:-1]))[: len(order)]
    for row in order[is_late].tolist():
        yield row, "given and created_at have different orders"
