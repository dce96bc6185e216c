"""Every figure of figures.json and every number of statistics.json, computed again and compared to 1e-9.

The numbers of statistics.json are counted from items.jsonl by code that is not its writer (documents/statistics.py).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from annotation.measures.funnel import fates
from annotation.releases.verification import outcomes, recomputed
from annotation.releases.verification.differences import differences, leaves
from annotation.releases.verification.place import FIGURES, Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.rows import Rows

STATISTICS, TASKS = "statistics.json", "tasks.jsonl"
SIDES = {"positive", "negative"}
ROLES = {"positive", "negative", "second_positive", "candidate"}  # others are the user's own
Part = tuple[str, ...]  # "whole", or "splits", "types" or "rows" with the names of one of them


def check_figures(place: Place, report: Report) -> None:
    """A part that cannot be computed is a problem and leaves the others to be checked."""
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
                ours: Any = known[name]()
                told = place.part_of_figures(name)
                if name == "stages" and len(ours) == len(told):
                    ours, told = recomputed.comparable(rows, ours), recomputed.comparable(rows, told)
                _compare(report, FIGURES, "figures computed again", {name: ours}, {name: told})
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


def check_statistics(place: Place, report: Report) -> None:
    _compare(report, STATISTICS, f"numbers of {STATISTICS}", _statistics(place), place.json(STATISTICS))


def _compare(report: Report, file: str, what: str, ours: object, theirs: object) -> None:
    report.count(what, leaves(ours))
    for words in differences(ours, theirs, file=file):
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
                    report.problem(name, f"item {line['id']!r} is listed here, but is {is_one} by its outcomes")
                elif end and (end.stage.name if end.stage else None) != line["stage"]:
                    report.problem(
                        name, f"item {line['id']!r} has the stage {line['stage']!r}, but another by its outcomes"
                    )


# The numbers of statistics.json


class _Counts:
    """Of some items: their `numbers` by name, the hashes of their `images`, and how often captions of a role have each
    length in words and in characters.
    """

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()
        self.images: set[bytes] = set()
        self.lengths: dict[str, tuple[Counter, Counter]] = {}

    def add_all(self, other: "_Counts") -> None:
        self.numbers.update(other.numbers)
        self.images |= other.images
        for role, lengths in other.lengths.items():
            for mine, theirs in zip(self.lengths.setdefault(role, (Counter(), Counter())), lengths, strict=True):
                mine.update(theirs)

    def figures(self) -> dict:
        by_role = {
            role: {"captions": words.total(), "words": _lengths(words), "characters": _lengths(characters)}
            for role, (words, characters) in self.lengths.items()
        }
        return {
            **{name: self.numbers[name] for name in ("items", "captions", "image_to_text", "text_to_image")},
            "images": len(self.images),
            "questions": self.numbers["image_to_text"] + self.numbers["text_to_image"],
            "captions_by_role": by_role,
        }


def _statistics(place: Place) -> dict:
    """All of statistics.json. A line of items.jsonl is read at a time."""
    rows: dict[Part, _Counts] = defaultdict(_Counts)  # by split, type and subtype
    for line in place.lines("items.jsonl"):
        _count(line, rows)
    found: dict[Part, _Counts] = defaultdict(_Counts)
    for (split, *kind), counts in rows.items():
        for part in (("whole",), ("splits", split), ("types", *kind), ("rows", split, *kind)):
            found[part].add_all(counts)
    parts = sorted(found)
    kinds, names = ("type", "subtype"), ("split", "type", "subtype")
    return {
        "whole": found[("whole",)].figures(),
        "splits": {part[1]: found[part].figures() for part in parts if part[0] == "splits"},
        "types": [
            dict(zip(kinds, part[1:], strict=True)) | found[part].figures() for part in parts if part[0] == "types"
        ],
        "rows": [
            dict(zip(names, part[1:], strict=True)) | found[part].figures() for part in parts if part[0] == "rows"
        ],
    }


def _count(line: Mapping, rows: Mapping[Part, _Counts]) -> None:
    shown = [image["sha256"] for image in line["images"] if image["key"] in ("positive-0", line["negative_image"])]
    own = [image["sha256"] for image in line["images"] if image["key"].rpartition("-")[0] not in ROLES]
    sides = len(SIDES & {caption["role"] for caption in line["captions"]})
    counts = rows[line["split"], line["type"], line["subtype"]]
    counts.numbers["items"] += 1
    counts.numbers["captions"] += len(line["captions"])
    counts.numbers["image_to_text"] += len(shown) if sides == 2 else 0
    counts.numbers["text_to_image"] += sides if len(shown) == 2 else 0
    counts.images.update(map(bytes.fromhex, shown + own))
    for caption in line["captions"]:
        words, characters = counts.lengths.setdefault(caption["role"], (Counter(), Counter()))
        words[len(caption["text"].split())] += 1
        characters[len(caption["text"])] += 1


def _lengths(found: Counter) -> dict:
    """`found` has how many captions have each length."""
    return {"mean": sum(n * many for n, many in found.items()) / found.total(), "min": min(found), "max": max(found)}
