"""Compute every figure of figures.json again, and compare to 1e-9."""

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.measures.funnel import fates
from annotation.releases.verification import outcomes, recomputed
from annotation.releases.verification.differences import differences, leaves
from annotation.releases.verification.place import FIGURES, Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import Rows

TASKS = "tasks.jsonl"


def check_figures(place: Place, report: Report) -> None:
    """Check the figures; a part that cannot be computed is a problem, and the others are still checked."""
    rows, theirs = Rows(place), place.figure_parts
    decided = outcomes.decide(rows)
    known = recomputed.parts(rows, decided)
    for name in sorted({*known, *theirs}):
        with report.reading(f"{FIGURES}: /{name}"):
            if name not in known:
                report.problem(FIGURES, f"/{name}: not checked, because the figure is unknown")
            elif name not in theirs:
                report.problem(FIGURES, f"/{name}: missing")
            else:
                ours, told = {name: known[name]()}, {name: place.part_of_figures(name)}
                compare(report, FIGURES, "figures computed again", ours, told)
    with report.reading(TASKS):
        pairs = enumerate(zip(outcomes.computed(rows, decided), outcomes.listed(rows.stages), strict=True))
        differing = [words for number, pair in pairs for words in differences(*pair, f"/{number}", TASKS)]
        report.count("outcomes of tasks by the decision rule", sum(map(len, decided.values())))
        for words in differing:
            report.problem(TASKS, f"the outcome of a task differs: {words}")
        for task, found in outcomes.rules(rows):
            report.count("outcomes of tasks by each rule of their protocol file")
            if task["rules"] != found:
                words = f"rules is {task['rules']!r:.80}, but {found!r:.80} by the protocol file"
                report.problem(TASKS, f"{task['stage']}, {task['item']!r}: {words}")
    _check_fates(place, report, rows, decided)


def compare(report: Report, file: str, what: str, ours: object, theirs: object) -> None:
    report.count(what, leaves(ours))
    for words in differences(ours, theirs, file=file):
        report.problem(file, words)


def _check_fates(place: Place, report: Report, rows: Rows, decided: recomputed.Outcomes) -> None:
    """Check that each item is in the state that its outcomes lead to."""
    with report.reading("items.jsonl"):
        ends = fates(recomputed.walk_of(rows, decided))
    for state, name in FILES_OF_ITEMS.items():
        with report.reading(name):
            for line in place.lines(name):
                end = ends[line["position"]]
                report.count("items by the state that their outcomes lead to")
                if (end.state, end.reason) != (state, line.get("reason", "")):
                    is_one = f"{end.state} {end.reason}".strip()
                    report.problem(name, f"item {line['id']!r} is listed here, but its outcomes make it {is_one}")
                elif (end.stage.name if end.stage else None) != line["stage"]:
                    report.problem(
                        name, f"item {line['id']!r} is listed under stage {line['stage']!r}, unlike its outcomes"
                    )
