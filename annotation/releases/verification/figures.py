"""Every figure of figures.json and every number of statistics.json, computed again and compared to 1e-9."""

from collections.abc import Callable, Iterator

from annotation.releases.documents import statistics
from annotation.releases.verification.place import Place
from annotation.releases.verification.recomputing.differences import differences, leaves
from annotation.releases.verification.recomputing.funnels import Walk
from annotation.releases.verification.recomputing.outcomes import outcome_rows, told
from annotation.releases.verification.recomputing.reading import Files
from annotation.releases.verification.recomputing.recomputed import parts, read_stages
from annotation.releases.verification.report import Report

FIGURES, STATISTICS, TASKS = "figures.json", "statistics.json", "tasks.jsonl"


def check(place: Place, report: Report) -> None:
    """A part that cannot be computed is a problem and leaves the others to be checked."""
    files, theirs = Files(place.folder), place.json(FIGURES)
    stages = read_stages(files)
    known = parts(files, stages)
    for name in sorted({*known, *theirs}):
        with report.reading(f"{FIGURES}: /{name}"):
            _compare(report, FIGURES, f"/{name}", known.get(name), theirs, name)
    with report.reading(TASKS):
        ours = outcome_rows(stages)
        report.count("outcomes of tasks by the decision rule", len(ours))
        for words in differences(ours, told(files)):
            report.problem(TASKS, f"what came of a task differs: {words.replace(FIGURES, TASKS)}")
    _check_fates(place, report, files, stages)


def _compare(report: Report, file: str, path: str, compute: Callable | None, theirs: dict, name: str) -> None:
    if compute is None:
        report.problem(file, f"{path}: not checked, since nothing here computes it")
        return
    if name not in theirs:
        report.problem(file, f"{path}: it is missing")
        return
    ours = compute()
    report.count("figures computed again", leaves(ours))
    for words in differences(ours, theirs[name], path):
        report.problem(file, words)


def _check_fates(place: Place, report: Report, files: Files, stages: list) -> None:
    """Where the tables put each item is where its outcomes leave it."""
    with report.reading("items.jsonl"):
        walk = Walk(files, stages)
    for name, state in (("items.jsonl", "kept"), ("dropped.jsonl", "dropped")):
        with report.reading(name):
            for line in place.lines(name):
                end = walk.ends.get(line["position"])
                report.count("items by where their outcomes leave them")
                if end and (end.state, end.reason) != (state, line.get("reason", "")):
                    is_one = f"{end.state} {end.reason}".strip()
                    report.problem(name, f"item {line['id']!r} stands there and by its outcomes is {is_one}")
                elif end and (end.stage.name if end.stage else None) != line["stage"]:
                    report.problem(
                        name, f"item {line['id']!r} has the stage {line['stage']!r}, by its outcomes another"
                    )


def check_statistics(place: Place, report: Report) -> None:
    with report.reading(STATISTICS):
        ours = statistics.compute(place.folder)
        report.count("numbers of statistics.json", leaves(ours))
        for words in lines(ours, place.json(STATISTICS)):
            report.problem(STATISTICS, words)


def lines(ours: dict, theirs: dict) -> Iterator[str]:
    return (words.replace(FIGURES, STATISTICS) for words in differences(ours, theirs))
