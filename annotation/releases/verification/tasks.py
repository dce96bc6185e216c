"""Check each task against its judgments, its texts and its item; flags and adjudications against tasks.

tasks.jsonl, judgments.parquet and texts.jsonl have the tasks in one order, so they are read side by side, a task's rows
at a time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, groupby
from typing import Any

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.protocols.conditions import depends_on_items
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.tasks import file_about
from annotation.releases.verification import corrections, decisions, declared, texts
from annotation.releases.verification.decisions import Items
from annotation.releases.verification.items import safely
from annotation.releases.verification.judgments import Known, Tasks, edit_name, judgments_by_task
from annotation.releases.verification.place import JUDGMENTS, Place
from annotation.releases.verification.protocols import files_by_stage
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import about, item_records
from annotation.releases.verification.schemas import key_of
from benchmarks.records import ItemRecord

TASKS, TEXTS, FLAGS, ADJUDICATIONS = "tasks.jsonl", "texts.jsonl", "flags.jsonl", "adjudications.jsonl"
ANNOTATORS = "annotators.jsonl"
CAME = ("state", "outcome", "content", "reason")


class Beside:
    """The rows of a file by task; `numbers` has each task's place. `groups` are the tasks' keys with their rows."""

    def __init__(self, name: str, groups: Iterable[tuple], numbers: Mapping[tuple, int], report: Report):
        self.name, self.numbers, self.report = name, numbers, report
        self.groups = self._known(safely(report, name, iter(groups)))
        self.next = next(self.groups, None)

    def _known(self, groups: Iterator) -> Iterator[tuple[int, Any]]:
        last = -1
        for key, rows in groups:
            number = self.numbers.get(key, -1)
            if number <= last:
                why = "is not for any task in tasks.jsonl" if number < 0 else "is not in the order of tasks.jsonl"
                self.report.problem(self.name, f"its entry for {key} {why}")
            else:
                last = number
                yield number, rows

    def rows_of(self, number: int) -> Any:
        """Return the task's rows, None if there are none. Call it in order."""
        if self.next is None or self.next[0] != number:
            return None
        rows, self.next = self.next[1], next(self.groups, None)
        return rows


def check_tasks(place: Place, report: Report) -> None:
    known_tasks, adjudicated = Tasks(), []
    for line in place.lines(TASKS):
        if twice := known_tasks.add(line):
            report.problem(TASKS, f"{twice} is listed twice")
        if line.get("decided_by", "adjudicator") == "adjudicator":  # a line without it is reported by another check
            adjudicated.append(line)
    with report.reading(ANNOTATORS):
        _check_seats(place, report)
    items = Items(corrections.by_item(place), corrections.withdrawn(place))
    for name in FILES_OF_ITEMS.values():
        with report.reading(name):
            items.add_file(name, place, report)
    with report.reading(FLAGS):
        _check_flags(place, report, {key[:4] for key in known_tasks.numbers})
    with report.reading(ADJUDICATIONS):
        _check_adjudications(place, report, adjudicated)
    with report.reading(TASKS):
        _walk(place, report, known_tasks, items)
        decisions.check_decisions(place, report, items)


def _walk(place: Place, report: Report, known_tasks: Tasks, items: Items) -> None:
    """Check all tasks; judgments are read only if an answer has more than a label, or a protocol file restricts it."""
    stages = {stage["name"]: stage for stage in place.manifest["stages"]}
    known, files = Known.of(place), files_by_stage(place)
    by_item = any(depends_on_items(answer) for file in files.values() for answer in file.answers)
    records = item_records(place) if by_item else {}
    judged = Beside(JUDGMENTS, judgments_by_task(place, known_tasks, known, report), known_tasks.numbers, report)
    texts_by_task = groupby(safely(report, TEXTS, place.lines(TEXTS)), key=key_of)
    wrote = Beside(TEXTS, ((key, list(rows)) for key, rows in texts_by_task), known_tasks.numbers, report)
    for number, task in enumerate(place.lines(TASKS)):
        given, written, stage = judged.rows_of(number), wrote.rows_of(number) or [], stages.get(task["stage"])
        if stage is None:
            report.problem(TASKS, f"a task belongs to the stage {task['stage']!r}, which is not in the manifest")
            continue
        report.count("tasks with their judgments, texts and items")
        file = files.get(task["stage"])
        needs_rows = given and (file or given.has_more or written or task["proposals"])
        rows = given.rows() if needs_rows else []
        votes = dict(Counter(given.votes)) if given else {}
        found: dict[str, list[Iterator[str]]] = {
            JUDGMENTS: [],
            TEXTS: [texts.check_texts(written, task, rows, stage["confirms"], file)],
            TASKS: [_check_proposals(task, rows), items.check_task(task, stage, votes, known.quiet)],
        }
        if file or not stage["protocol_file"]:  # otherwise the file cannot be read, which another check reports
            asked = _asked(file, task, records) if file else None
            found[JUDGMENTS] += [declared.check_answers(row, task, file if row["corrected"] else asked) for row in rows]
            found[TASKS].append(declared.check_names(task, file))
        for name, checks in found.items():
            for words in chain.from_iterable(safely(report, name, check) for check in checks):
                report.problem(name, f"{task['stage']}, {task['item']!r}: {words}")


def _asked(file: ProtocolFile, task: Mapping, records: Mapping[int, ItemRecord]) -> ProtocolFile:
    """Return the file with the questions for the task's item; not for withdrawn items or earlier states of items."""
    record = records.get(task["position"]) if task["live"] else None
    return file_about(file, record, task["carried"]) if record and (record.images or record.captions) else file


def _check_proposals(task: Mapping, rows: Iterable[Mapping]) -> Iterator[str]:
    if odd := {*task["proposals"]} - {*map(edit_name, rows)}:
        yield f"proposals has {min(odd)}, which is not a judgment of the task"
    if task["gold"] and task["kind"] == "judge":
        yield f"gold is {task['gold']}, but the task is not a check"


def _check_seats(place: Place, report: Report) -> None:
    """Check that no two annotators share a place in a batch."""
    taken: set[tuple] = set()
    for line in place.lines(ANNOTATORS):
        for seat in line["stages"]:
            at = seat["stage"], seat["batch"], seat["place"]
            if at[1:] == (None, None):
                continue
            if at in taken or None in at or seat["place"] < 1:
                report.problem(ANNOTATORS, f"{line['annotator']} cannot have place {at[2]} of batch {at[1]} in {at[0]}")
            taken.add(at)


# Flags and adjudications


def _check_flags(place: Place, report: Report, tasks: Set[tuple]) -> None:
    people = {line["annotator"] for line in place.lines(ANNOTATORS)}
    for line in place.lines(FLAGS):
        report.count("flags with their tasks and annotators")
        if about(line) not in tasks:
            report.problem(FLAGS, f"a flag belongs to a task that is not in {TASKS}: {about(line)}")
        if line["annotator"] not in people:
            report.problem(FLAGS, f"a flag is by {line['annotator']!r}, who is not in annotators.jsonl")


def _check_adjudications(place: Place, report: Report, adjudicated: Iterable[Mapping]) -> None:
    """Check that each is its task's outcome, and each task that an adjudicator decided has one."""
    tasks: dict[tuple, list[tuple]] = {}
    for line in adjudicated:
        if line["decided_by"] == "adjudicator":
            tasks.setdefault(about(line), []).append(_outcome(line))
    for line in place.lines(ADJUDICATIONS):
        report.count("adjudications with their tasks")
        verdicts = tasks.get(about(line), [])
        if _outcome(line) in verdicts:
            verdicts.remove(_outcome(line))
        else:
            words = f"{about(line)} has the outcome {_outcome(line)[:2]} by an adjudicator, but not in {TASKS}"
            report.problem(ADJUDICATIONS, words)
        if line["by"] != "adjudicator":
            report.problem(ADJUDICATIONS, f"{about(line)} is by {line['by']!r}; adjudicators are never public")
    for key in (key for key, verdicts in tasks.items() if verdicts):
        report.problem(ADJUDICATIONS, f"{key} was decided by an adjudicator but is missing")


def _outcome(line: Mapping) -> tuple:
    """Return the outcome; what an export writes as null in one file may be an empty text in the other."""
    return tuple(line[name] or None for name in CAME)
