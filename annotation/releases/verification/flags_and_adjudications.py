"""flags.jsonl and adjudications.jsonl against tasks and annotators."""

from collections.abc import Mapping

from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import about

FLAGS, ADJUDICATIONS, TASKS = "flags.jsonl", "adjudications.jsonl", "tasks.jsonl"
CAME = ("state", "outcome", "content", "reason")


def check_flags_and_adjudications(place: Place, report: Report) -> None:
    with report.reading(FLAGS):
        _check_flags(place, report)
    with report.reading(ADJUDICATIONS):
        _check_adjudications(place, report)


def _check_flags(place: Place, report: Report) -> None:
    tasks = {about(line) for line in place.lines(TASKS)}
    people = {line["annotator"] for line in place.lines("annotators.jsonl")}
    for line in place.lines(FLAGS):
        report.count("flags with their tasks and annotators")
        if about(line) not in tasks:
            report.problem(FLAGS, f"a flag is of a task that {TASKS} has not: {about(line)}")
        if line["annotator"] not in people:
            report.problem(FLAGS, f"a flag is by {line['annotator']!r}, whom annotators.jsonl has not")


def _check_adjudications(place: Place, report: Report) -> None:
    """Each is what came of its task, and each task that an adjudicator decided has one."""
    tasks: dict[tuple, list[tuple]] = {}
    for line in place.lines(TASKS):
        if line["decided_by"] == "adjudicator":
            tasks.setdefault(about(line), []).append(_outcome(line))
    for line in place.lines(ADJUDICATIONS):
        report.count("adjudications with their tasks")
        verdicts = tasks.get(about(line), [])
        if _outcome(line) in verdicts:
            verdicts.remove(_outcome(line))
        else:
            words = f"{about(line)} came to {_outcome(line)[:2]} by an adjudicator, in {TASKS} it did not"
            report.problem(ADJUDICATIONS, words)
        if line["by"] != "adjudicator":
            report.problem(ADJUDICATIONS, f"{about(line)} is by {line['by']!r}; who it was is never public")
    for key in (key for key, verdicts in tasks.items() if verdicts):
        report.problem(ADJUDICATIONS, f"{key} was decided by an adjudicator and is missing")


def _outcome(line: Mapping) -> tuple:
    """What an export writes as null here it may write as an empty text there."""
    return tuple(line[name] or None for name in CAME)
