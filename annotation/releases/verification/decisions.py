"""Check each item's entry against the tasks: decisions, texts, images, the negative image."""

import marshal
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.protocols.base import passed_on
from annotation.releases.verification.corrections import words_before
from annotation.releases.verification.items import safely
from annotation.releases.verification.place import MANIFEST, Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.texts import WORDS

OWN = "negative-0"
CHOSEN = "candidate-"
KIND = ("item", "type", "subtype")
ORDER = itemgetter("stage_position", "question", "round")


class Items:
    """By position: `kinds` (id, type, subtype), `words` as imported and `images`, by identity; `decisions`, what the
    tasks decide about an item. Open items are not in any file: `open_words` are those that the first task shows. Words
    and decisions are bytes (marshal), which take a fifth of the memory, and equal values are kept once.
    """

    def __init__(self, corrections: Mapping[str, list[dict]], withdrawn: Collection[str]) -> None:
        self.corrections, self.withdrawn = corrections, withdrawn  # by an item's id
        self.kinds: dict[int, tuple] = {}
        self.words: dict[int, bytes] = {}
        self.images: dict[int, frozenset[str]] = {}
        self.decisions: dict[int, list[bytes]] = defaultdict(list)
        self.open_words: dict[tuple[int, str], str] = {}
        self._kept: dict[Any, Any] = {}

    def _once(self, value: Any) -> Any:
        return self._kept.setdefault(value, value)

    def add_file(self, name: str, place: Place, report: Report) -> None:
        last = -1
        for line in place.lines(name):
            position = line["position"]
            if position in self.kinds or position <= last:
                report.problem(name, f"item {line['id']!r} is out of order or listed twice")
            last = position
            self.kinds[position] = line["id"], self._once(line["type"]), self._once(line["subtype"])
            if line["id"] in self.withdrawn:
                continue
            self.words[position] = marshal.dumps(_imported(line))
            self.images[position] = self._once(frozenset(image["key"] for image in line["images"]))

    def check_task(self, task: Mapping, stage: Mapping, votes: Mapping, quiet: bool) -> Iterator[str]:
        """Yield contradictions with another file, or an earlier task, about the item."""
        position, shown = task["position"], [*task["shows"], *task["options"]]
        if quiet and (task["content"] or {}).get("reason") is not None:
            yield "its content has a reason, which is not public"
        if odd := {*task["texts"]} - {*shown}:
            yield f"it has the text of {min(odd)}, which it does not show"
        if not task["own"]:
            return
        kind = tuple(task[name] for name in KIND)
        if self.kinds.setdefault(position, kind) != kind:
            yield f"item, type and subtype are {kind}, but elsewhere position {position} is {self.kinds[position]}"
        elif position in self.words:
            yield from self._of_parts(task, shown)
        elif task["item"] in self.withdrawn and (own := _own_texts(task)):
            yield f"it has the text of {own[0]}, but the item was withdrawn"
        elif task["corrected"] is None:
            for one in _own_texts(task):
                words, first = task["texts"][one], self.open_words.setdefault((position, one), task["texts"][one])
                if words != first:
                    yield f"{one} is {words!r:.60}, but {first!r:.60} in another task of the item"
        if task["live"] and task["kind"] == "judge":
            self.decisions[position].append(self._once(marshal.dumps(_decision(task, stage, votes), 2)))

    def _of_parts(self, task: Mapping, shown: list[str]) -> Iterator[str]:
        came = {f"{key}-0": text for key, text in task["carried"].items() if key.startswith(WORDS)}
        before = words_before(self.corrections.get(task["item"], []), task["corrected"]) if task["corrected"] else {}
        words = marshal.loads(self.words[task["position"]]) | before | came
        if task["texts"] != {one: words[one] for one in shown if one in words}:
            yield f"texts is {task['texts']!r:.60}, but the item has other texts"
        if odd := {*shown} - {*words} - self.images[task["position"]]:
            yield f"it shows {min(odd)}, which the item does not have"


def _own_texts(task: Mapping) -> list[str]:
    """Return the identities of its item's own texts; the others were written in earlier stages."""
    return sorted(task["texts"].keys() - {f"{key}-0" for key in task["carried"]})


def _imported(line: Mapping) -> dict[str, str]:
    """Return an item's words as imported, by identity."""
    places: Counter[str] = Counter()
    words = {}
    for caption in line["captions"]:
        text = caption.get("imported", caption["text"])
        if text is not None:
            words[f"{WORDS}{caption['role']}-{places[caption['role']]}"] = text
            places[caption["role"]] += 1
    return words


def _decision(task: Mapping, stage: Mapping, votes: Mapping) -> dict:
    return {
        "stage": task["stage"], "stage_position": stage["position"], "question": task["question"],
        "round": task["round"], "state": task["state"] or "open", "outcome": task["outcome"] or None,
        "reason": task["reason"] or None, "decided_by": task["decided_by"], "votes": votes,
        **({"content": task["content"]} if task["content"] else {}),
        **({} if task["posterior"] is None else {"posterior": task["posterior"]}),
    }  # fmt: skip


def check_decisions(place: Place, report: Report, items: Items) -> None:
    stages = {stage["name"]: stage for stage in place.manifest["stages"]}
    for name in FILES_OF_ITEMS.values():
        with report.reading(name):
            for line in place.lines(name):
                report.count("items with their decisions, words and images")
                for words in safely(report, name, _of_item(line, stages, items)):
                    report.problem(name, f"item {line['id']!r}: {words}")
    for name, stage in stages.items():
        for row in stage["not_suitable"]:
            kind = tuple(row[key] for key in KIND)
            if items.kinds.get(row["position"], kind) != kind:
                report.problem(MANIFEST, f"{name}: the unsuitable items, {kind}, differ in the tables")


def _of_item(line: Mapping, stages: Mapping[str, Mapping], items: Items) -> Iterator[str]:
    carried = _carried_by(line, stages)
    yield from _decided(line, items)
    yield from _captions(line, carried)
    yield from _images(line, carried)


def _decided(line: Mapping, items: Items) -> Iterator[str]:
    of_tasks = map(marshal.loads, items.decisions.get(line["position"], ()))
    ours, theirs = (sorted(rows, key=ORDER) for rows in (of_tasks, line["decisions"]))
    if len(ours) != len(theirs):
        yield f"it has {len(theirs)} decisions, but {len(ours)} in tasks.jsonl"
        return
    for one, other in zip(ours, theirs, strict=True):
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key) or (key in one) != (key in other):
                words = f"{key} is {other.get(key)!r:.60}, but {one.get(key)!r:.60} by tasks and judgments"
                yield f"in its decision in {one['stage']} {words}"


def _carried_by(line: Mapping, stages: Mapping[str, Mapping]) -> dict[str, str]:
    """Return what stages chose and wrote, up to the last one that decided the item, by its own decisions."""
    chain, name = [], line["stage"]
    while name is not None and name not in chain:
        chain.append(name)
        name = stages[name]["source"] if name in stages else None
    carried: dict[str, str] = {}
    for name in reversed(chain):
        rows = [row for row in line["decisions"] if row["stage"] == name]
        if rows and all(row["state"] == "kept" for row in rows):
            contents = [row.get("content", {}) for row in rows]
            carried = passed_on(carried, stages[name]["carries"], rows[0]["outcome"], contents)
    return carried


def _captions(line: Mapping, carried: Mapping[str, str]) -> Iterator[str]:
    texts = {key.removeprefix(WORDS): text for key, text in carried.items() if key.startswith(WORDS)}
    for caption in line["captions"]:
        role = caption["role"]
        text = texts.pop(role, None)
        if text is not None and text != caption["text"]:
            yield f"its {role} caption is {caption['text']!r:.60}, but {text!r:.60} by the decisions"
        changed = {key: caption[key] for key in caption if key not in ("role", "text", "imported", "attributes")}
        if "imported" in caption and (text is None or caption["imported"] == text):
            yield f"its {role} caption is marked as changed since import, but no decision changed it"
        if changed != (_writer(line, role, caption["text"]) if "imported" in caption else {}):
            yield f"its {role} caption has {changed}, unlike the decisions"
    for role in texts:
        yield f"it has no {role} caption, but the decisions give it one"


def _writer(line: Mapping, role: str, text: str) -> dict:
    """Return the last stage whose outcome has these words, and their source."""
    for row in reversed(line["decisions"]):
        content = row.get("content", {})
        if content.get("texts", {}).get(role) == text:
            return {"changed_by": row["stage"], "made_of": content.get("from", {}).get(role)}
    return {}


def _images(line: Mapping, carried: Mapping[str, str]) -> Iterator[str]:
    chosen = [row["outcome"] for row in line["decisions"] if (row["outcome"] or "").startswith(CHOSEN)]
    negative = carried.get("negative") or (chosen[-1] if chosen else OWN)
    keys = [image["key"] for image in line["images"]]
    there = negative if negative in keys else None
    if line.get("negative_image", there) != there:
        yield f"negative_image is {line['negative_image']!r}, but {there!r} by the decisions"
    if len({*keys}) < len(keys):
        yield "two of its images have the same key"
    for image in line["images"]:
        if image["chosen"] != (image["key"] == negative):
            yield f"chosen is {image['chosen']} for image {image['key']}, unlike the decisions"
