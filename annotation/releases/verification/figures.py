"""Every figure of figures.json and every number of statistics.json, computed again and compared to 1e-9."""

from collections.abc import Callable, Iterator

from annotation.measures.funnel import fates
from annotation.releases.verification import outcomes, recomputed, statistics
from annotation.releases.verification.differences import differences, leaves
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import Rows

FIGURES, STATISTICS, TASKS = "figures.json", "statistics.json", "tasks.jsonl"


def check_figures(place: Place, report: Report) -> None:
    """A part that cannot be computed is a problem and leaves the others to be checked."""
    rows, theirs = Rows(place), place.json(FIGURES)
    decided = outcomes.decide(rows)
    known = recomputed.parts(rows, decided)
    for name in sorted({*known, *theirs}):
        with report.reading(f"{FIGURES}: /{name}"):
            _compare(report, FIGURES, f"/{name}", known.get(name), theirs, name)
    with report.reading(TASKS):
        ours = outcomes.computed(rows, decided)
        report.count("outcomes of tasks by the decision rule", len(ours))
        for words in differences(ours, outcomes.listed(rows.stages)):
            report.problem(TASKS, f"what came of a task differs: {words.replace(FIGURES, TASKS)}")
    _check_fates(place, report, rows, decided)


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


def _check_fates(place: Place, report: Report, rows: Rows, decided: recomputed.Outcomes) -> None:
    """Where the tables put each item is where its outcomes leave it."""
    with report.reading("items.jsonl"):
        ends = fates(recomputed.walk_of(rows, decided))
    for name, state in (("items.jsonl", "kept"), ("dropped.jsonl", "dropped")):
        with report.reading(name):
            for line in place.lines(name):
                end = ends.get(line["position"])
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
        ours = statistics.count(place)
        report.count("numbers of statistics.json", leaves(ours))
        for words in lines(ours, place.json(STATISTICS)):
            report.problem(STATISTICS, words)


def lines(ours: dict, theirs: dict) -> Iterator[str]:
    return (words.replace(FIGURES, STATISTICS) for words in differences(ours, theirs))
