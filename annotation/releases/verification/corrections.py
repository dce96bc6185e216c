"""Check corrections.jsonl against the items with the corrected words, and the tasks that showed the earlier ones."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.measures.funnel import WITHDRAWN
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report

CORRECTIONS, TASKS = "corrections.jsonl", "tasks.jsonl"
AUDIT, OF_PARTS = "audit", ("caption", "image")


def by_item(place: Place) -> dict[str, list[dict]]:
    """Return the corrections of each item, by its id, in order."""
    found = defaultdict(list)
    for line in place.lines(CORRECTIONS):
        found[line["item"]].append(line)
    return dict(found)


def withdrawn(place: Place) -> set[str]:
    """Return the ids of the items that were withdrawn and not put back."""
    return {item for item, lines in by_item(place).items() if _is_withdrawn(lines)}


def _is_withdrawn(lines: list[dict]) -> bool:
    whole = [line["action"] for line in lines if not line["place"]]
    return bool(whole) and whole[-1] == "withdraw"


def words_before(lines: list[dict], number: int) -> dict[str, str]:
    """Return, by place, the texts before that correction that have changed since."""
    found: dict[str, str] = {}
    for line in lines:
        if line["number"] >= number and line["action"] == "caption" and line["old"] is not None:
            found.setdefault(line["place"], line["old"])
    return found


def check_corrections(place: Place, report: Report) -> None:
    corrections = by_item(place)
    numbers = [line["number"] for line in place.lines(CORRECTIONS)]
    report.count("corrections with their items and tasks", len(numbers))
    if numbers != sorted(set(numbers)):
        report.problem(CORRECTIONS, "its lines are not in the order of their numbers, or repeat one")
    now: dict[tuple, str] = {}
    for line in place.lines(CORRECTIONS):
        at = line["item"], line["place"]
        kind = "caption" if line["place"].startswith("caption-") else "image" if line["place"] else ""
        if kind != (line["action"] if line["action"] in OF_PARTS else ""):
            report.problem(CORRECTIONS, f"{line['number']} cannot be {line['action']!r:.60} of {line['place']!r:.60}")
        if line["place"] and now.get(at, line["old"]) != line["old"]:
            report.problem(CORRECTIONS, f"{line['number']}: {line['old']!r:.60} was {now[at]!r:.60} before")
        now[at] = line["new"]
    gone, there = withdrawn(place), set()
    for name in FILES_OF_ITEMS.values():
        for line in place.lines(name):
            is_gone = line.get("reason") == WITHDRAWN
            if is_gone != (line["id"] in gone):
                report.problem(name, f"item {line['id']!r} is {'' if is_gone else 'not '}withdrawn, unlike in the file")
            there |= {line["id"]} if is_gone else set()
            for words in [] if is_gone else _of_item(line, corrections.get(line["id"], [])):
                report.problem(name, f"item {line['id']!r}: {words}")
    with report.reading(TASKS):
        audits = {stage["name"] for stage in place.manifest["stages"] if stage["strategy"] == AUDIT}
        for task in place.lines(TASKS):
            if task["corrected"] is not None:
                for words in _of_task(task, corrections.get(task["item"], []), audits):
                    report.problem(TASKS, f"{task['stage']}, {task['item']!r}: {words}")


def _of_item(line: Mapping, corrections: list[dict]) -> Iterator[str]:
    """Check that the last text at each place is the item's, unless a stage has changed it since."""
    words: dict[str, str | None] = {}
    for caption in line["captions"]:
        place = f"caption-{caption['role']}-"
        number = sum(one.startswith(place) for one in words)
        words[f"{place}{number}"] = caption.get("imported", caption["text"])
    words |= {image["key"]: image["source_name"] for image in line["images"]}
    last = {one["place"]: one["new"] for one in corrections if one["place"]}
    for place, new in last.items():
        if words.get(place) != new:
            yield f"{place} is {words.get(place)!r:.60}, but was corrected to {new!r:.60}"


def _of_task(task: Mapping, corrections: list[dict], audits: set[str]) -> Iterator[str]:
    shown = {*task["shows"], *task["options"]}
    if not any(one["number"] == task["corrected"] and one["place"] in shown for one in corrections):
        yield f"corrected is {task['corrected']}, which is not a correction of what it shows"
    if task["live"] and task["stage"] not in audits:
        yield "it is about text that was corrected, but is still live"
