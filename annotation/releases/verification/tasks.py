"""Each task beside its judgments and its texts, and what that says of items; flags and adjudications beside tasks.

tasks.jsonl, judgments.parquet and texts.jsonl have the tasks in one order, so they are read side by side, a task's rows
at a time.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, groupby
from typing import Any

from annotation.releases.verification import answers, decisions, declared
from annotation.releases.verification.decisions import Items
from annotation.releases.verification.items import safely
from annotation.releases.verification.place import JUDGMENTS, Place
from annotation.releases.verification.protocols import files_by_stage
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import about
from annotation.releases.verification.schemas import key_of
from annotation.releases.verification.task_judgments import judgments_by_task

TASKS, TEXTS, FLAGS, ADJUDICATIONS = "tasks.jsonl", "texts.jsonl", "flags.jsonl", "adjudications.jsonl"
CAME = ("state", "outcome", "content", "reason")
BATCH = 2_000


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
                why = "belongs to no task in tasks.jsonl" if number < 0 else "is not in the order of tasks.jsonl"
                self.report.problem(self.name, f"its entry for {key} {why}")
            else:
                last = number
                yield number, rows

    def rows_of(self, number: int) -> Any:
        """None if there are none. Asked for in order."""
        if self.next is None or self.next[0] != number:
            return None
        rows, self.next = self.next[1], next(self.groups, None)
        return rows


def check_tasks(place: Place, report: Report) -> None:
    numbers: dict[tuple, int] = {}
    kept: dict[object, object] = {}
    adjudicated = []
    for number, line in enumerate(place.lines(TASKS)):
        key = tuple(kept.setdefault(one, one) for one in key_of(line))
        if numbers.setdefault(key, number) != number:
            report.problem(TASKS, f"{key} is listed twice")
        if line.get("decided_by", "adjudicator") == "adjudicator":  # of one without it, the check says that it lacks it
            adjudicated.append(line)
    items = Items()
    for name in ("items.jsonl", "dropped.jsonl"):
        with report.reading(name):
            items.add_file(name, place, report)
    with report.reading(FLAGS):
        _check_flags(place, report, {key[:4] for key in numbers})
    with report.reading(ADJUDICATIONS):
        _check_adjudications(place, report, adjudicated)
    with report.reading(TASKS):
        _walk(place, report, numbers, items)
        decisions.check_decisions(place, report, items)


def _walk(place: Place, report: Report, numbers: Mapping[tuple, int], items: Items) -> None:
    stages = {stage["name"]: stage for stage in place.manifest["stages"]}
    known, files = _known(place), files_by_stage(place)
    batches = safely(report, JUDGMENTS, place.judgments(rows=BATCH))
    judged = Beside(JUDGMENTS, judgments_by_task(batches, known), numbers, report)
    texts_by_task = groupby(safely(report, TEXTS, place.lines(TEXTS)), key=key_of)
    wrote = Beside(TEXTS, ((key, list(rows)) for key, rows in texts_by_task), numbers, report)
    versions = {name: {one["version"] for one in stage["instructions"]} for name, stage in stages.items()}
    for number, task in enumerate(place.lines(TASKS)):
        given, texts, stage = judged.rows_of(number), wrote.rows_of(number) or [], stages.get(task["stage"])
        if stage is None:
            report.problem(TASKS, f"a task belongs to the stage {task['stage']!r}, which is not in the manifest")
            continue
        report.count("tasks with their judgments, texts and items")
        file = files.get(task["stage"])
        is_asked = file or not stage["protocol_file"]  # otherwise the file cannot be read, which another check says
        found: dict[str, list[Iterator[str]]] = {JUDGMENTS: [], TEXTS: [], TASKS: []}
        is_plain = given and not stage["protocol_file"] and given.are_plain_for(task, versions[task["stage"]])
        rows = given.rows() if given and not is_plain else []
        if not is_plain:
            found[JUDGMENTS] = [answers.check_judgment(row, task, versions[task["stage"]], known) for row in rows]
            found[JUDGMENTS].append(answers.check_judgments(rows))
        if not is_plain or texts:
            found[TEXTS].append(answers.check_texts(texts, task, rows, stage["confirms"], file))
        if is_asked:
            found[JUDGMENTS] += [declared.check_answers(row, task, file) for row in rows]
            found[TASKS].append(declared.check_names(task, file))
        found[TASKS].append(answers.check_proposals(task, rows))
        votes = given.votes if is_plain else [row["answer"] for row in rows if row["counted"]]
        found[TASKS].append(items.check_task(task, stage, dict(Counter(votes)), known.quiet))
        for name, checks in found.items():
            for words in chain.from_iterable(safely(report, name, check) for check in checks):
                report.problem(name, f"{task['stage']}, {task['item']!r}: {words}")


def _known(place: Place) -> answers.Known:
    flagged: dict[tuple, set[str]] = defaultdict(set)
    for line in place.lines("flags.jsonl"):
        flagged[tuple(line[name] for name in answers.FLAGGED)].add(line["reason"])
    excluded = {line["annotator"]: line["excluded"] for line in place.lines("annotators.jsonl")}
    return answers.Known(excluded, flagged, "comments" not in place.public)


# Flags and adjudications


def _check_flags(place: Place, report: Report, tasks: Set[tuple]) -> None:
    people = {line["annotator"] for line in place.lines("annotators.jsonl")}
    for line in place.lines(FLAGS):
        report.count("flags with their tasks and annotators")
        if about(line) not in tasks:
            report.problem(FLAGS, f"a flag belongs to a task that is not in {TASKS}: {about(line)}")
        if line["annotator"] not in people:
            report.problem(FLAGS, f"a flag is by {line['annotator']!r}, who is not in annotators.jsonl")


def _check_adjudications(place: Place, report: Report, adjudicated: Iterable[Mapping]) -> None:
    """Each is what came of its task, and each task that an adjudicator decided has one."""
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
    """What an export writes as null here it may write as an empty text there."""
    return tuple(line[name] or None for name in CAME)
