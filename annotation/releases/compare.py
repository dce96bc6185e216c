"""Compare two releases by item id: which items were added, dropped or changed, and why; and what differs in the set-up.
Pure.

Everything is read from the files of both releases; docs/reference/release-changes.md lists groups and codes of reasons.
Only the states of all items, and the lines of items that differ, are kept in memory.
"""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.measures.funnel import NOT_ASKED, WITHDRAWN
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.plan import SPLIT_NAMES
from annotation.releases.scoring import evaluation

ABSENT = "absent"
JUDGED = ("stage", "item", "question", "kind", "live", "annotator", "answer", "counted")
ROWS = 50_000  # judgments in memory

CORRECTIONS = "corrections.jsonl"
WHOLE = {"withdraw": "withdrawn", "restore": "put_back"}  # action → reason

GROUPS = ("added", "dropped", "changed", "outside")
UNCHANGED, JUDGED_AGAIN = "unchanged", "judged_again"

# Differences in the set-up
MADE = ("version", "schema_version", "source_format", "split_rule", "warnings")  # the app's version
NAMING = {"name", "version"}  # keys of the plan
NAMING_FILES = {
    "README.md", "data_statement.md", "croissant.json", "statistics.json", "release.json",
    *(f"{evaluation.FOLDER}/{split}.yaml" for split in SPLIT_NAMES),
}  # fmt: skip
BESIDE = {"name", "position", "instructions"}  # keys of a stage that are compared elsewhere

# Why an item differs
ADJUDICATOR = "adjudicator"
RESULT = ("state", "outcome", "reason", "content")
UNKNOWN = {"code": "unknown"}
DECIDING = {  # settings that determine what a stage asks, and how its answers decide
    "protocol", "overlap", "cap", "certainty", "rule", "tie_rule", "takes", "carries", "promotion", "sample",
    "stratify", "seed", "sample_each", "agreement_items", "agreement_overlap", "source", "after", "fixed_answers",
    "drops", "confirms", "confirm_cap", "alike", "protocol_file", "strategy", "audit target_half_width",
    "audit target_bound", "audit any_look", "audit wrong_reasons", "audit scores_of", "audit stops_if_futile",
    "audit changes",
}  # fmt: skip

# Differences in an item
PLAIN = ("type", "subtype", "split", "negative_image")
OF_IMPORT = {"type", "subtype", "meta", "attributes"}

Asked = tuple[str, str]  # a stage's name and its question


@dataclass(frozen=True, slots=True)
class _Item:
    """An item in one release. `line` is its line in the file of items in that state; an open item has none."""

    state: str
    line: Mapping = field(default_factory=dict)
    decisions: Mapping[Asked, Mapping] = field(default_factory=dict)  # in the order of the stages
    judges: Mapping[Asked, Collection[str]] = field(default_factory=dict)  # annotators whose exclusion differs

    @property
    def fate(self) -> dict:
        """Return its state in the files' words."""
        found: dict[str, str | None] = {"state": self.state}
        if self.state in (DROPPED, NOT_ASKED):
            found |= {"stage": self.line["stage"], "reason": self.line["reason"]}
        if self.state == KEPT:
            found["split"] = self.line.get("split")
        return found


@dataclass(slots=True)
class _Side:
    """One of the two releases."""

    states: dict[str, str] = field(default_factory=dict)  # of all decided items
    packed: dict[str, bytes] = field(default_factory=dict)  # lines of items that differ between the two
    open: dict[str, dict[Asked, dict]] = field(default_factory=dict)  # decisions of items that are open only here
    votes: Mapping[str, Mapping[Asked, Counter]] = field(default_factory=dict)
    judges: Mapping[str, Mapping[Asked, Collection[str]]] = field(default_factory=dict)
    complete: bool = False  # its files name every item that it imported

    @property
    def kept(self) -> set[str]:
        return {key for key, state in self.states.items() if state == KEPT}

    def item(self, key: str) -> _Item:
        judges = self.judges.get(key, {})
        if key in self.packed:
            line = json.loads(zlib.decompress(self.packed[key]))
            decisions = {(row["stage"], row["question"]): row for row in line["decisions"]}
            return _Item(self.states[key], line, decisions, judges)
        if key not in self.open:
            return _Item(ABSENT)
        votes = self.votes.get(key, {})
        decisions = {asked: {**row, "votes": votes.get(asked, {})} for asked, row in self.open[key].items()}
        return _Item(OPEN, {}, decisions, judges)


@dataclass(frozen=True, slots=True)
class _Context:
    """The data on which items' reasons depend, besides the items."""

    setup: Mapping
    corrections: Mapping[str, list[dict]]  # by item, as reasons: corrections only in b
    complete: tuple[bool, bool]  # for each release, whether its files name every item that it imported
    others_moved: bool  # whether some item was added to the data or dropped
    shared: Collection[str]  # items that b had to move to another split because of a shared image

    @property
    def stages(self) -> Mapping:
        return self.setup.get("stages", {})

    def excluded(self, way: str) -> dict[str, str]:
        """Return reasons by annotator, for those excluded since ("added") or no longer excluded ("removed")."""
        return {one["annotator"]: one.get("reason", "") for one in self.setup.get("exclusions", {}).get(way, [])}

    def stage_reasons(self, stage: str) -> list[dict]:
        """Return the stage's settings and instructions that differ, as reasons."""
        changed = self.stages.get("changed", {}).get(stage, {})
        settings = {name: both for name, both in changed.get("settings", {}).items() if name in DECIDING}
        parts = {"settings": settings, "instructions": changed.get("instructions")}
        return [{"code": code, "stage": stage, code: part} for code, part in parts.items() if part]


def compare(a: ReleaseFiles, b: ReleaseFiles) -> dict:
    """Return everything that differs from `a` to `b`, JSON-able:

    "same"      nothing differs but the name, the version and the files that carry them
    "releases"  of both: name, version, content, and the items in its data
    "setup"     other differences: {part: {name: [before, after]}}, without parts that are the same;
                "stages" has "added" and "removed" (names) and "changed" ({stage: {"settings", "instructions"}}),
                "audits" is {stage: {name: [before, after]}}, the audit's result in figures.json,
                "exclusions" has "added", "removed" and, with the reason "before", "changed" (lines of the manifests),
                "files" has "added", "removed" and "changed" (names)
    "totals"    items in each group; in the data of both "unchanged", and "judged_again": other votes, the same content
    "moves"     [{"from", "to", "items"}] between kept, dropped, not_asked, open and absent
    "reasons"   by group [{"code", "items"}], most first, by each item's main reason
    "items"     by group: "added" to the data, "dropped" from it, "changed" in both, "outside" of both (dropped for
                another reason, no longer open …), each {"id", "position", "type", "subtype", "from", "to", "changes",
                "reasons"}. "changes" of an item in both: {"captions": {role: [before, after]}, "images": {identity:
                {field: […]}}, "attributes": {role: […]}, "meta": {name: […]}, "type", "subtype", "split",
                "negative_image": […]}, each where it differs. "reasons": {"code", "stage"?, …facts}; the first is the
                main one, from the first stage whose result differs.

    Raises NotARelease.
    """
    setup = _setup(a.manifest, b.manifest, _audits(a), _audits(b))
    sides = _sides(a, b, setup)
    kept = [side.kept for side in sides]
    complete = sides[0].complete, sides[1].complete
    context = _Context(setup, _corrections(a, b), complete, kept[0] != kept[1], b.manifest.get("moved", {}))
    items, totals = _grouped(sides, context)
    totals[UNCHANGED] += len(kept[0] & kept[1] - set(sides[0].packed))
    return {
        "same": not any(items.values()) and not totals[JUDGED_AGAIN] and _only_naming(setup),
        "releases": [_release(one.manifest, len(ids)) for one, ids in zip((a, b), kept, strict=True)],
        "setup": setup,
        "totals": {group: totals[group] for group in (*GROUPS, UNCHANGED, JUDGED_AGAIN)},
        "moves": _moves(items),
        "reasons": {group: _by_reason(found) for group, found in items.items() if found},
        "items": items,
    }


def _release(manifest: Mapping, kept: int) -> dict:
    plan = manifest["release"]
    return {"name": plan["name"], "version": plan["version"], "content": manifest.get("content"), "kept": kept}


def _grouped(sides: tuple[_Side, _Side], context: _Context) -> tuple[dict[str, list[dict]], Counter[str]]:
    """Return the items of each group in benchmark order, and how many there are."""
    a, b = sides
    items: dict[str, list[dict]] = {group: [] for group in GROUPS}
    totals: Counter[str] = Counter()
    for key in sorted({*a.packed, *a.open, *b.packed, *b.open}):
        group, found = _compared(key, a.item(key), b.item(key), context)
        totals[group] += 1
        if found:
            items[group].append(found)
    for listed in items.values():
        listed.sort(key=lambda one: (one["position"] is None, one["position"] or 0, one["id"]))
    return items, totals


def _compared(key: str, a: _Item, b: _Item, context: _Context) -> tuple[str, dict | None]:
    """Return the item's group, and its entry in the list; None if it is only counted."""
    inside, changes = (a.state == KEPT, b.state == KEPT), {}
    if all(inside):
        if not (changes := _changes(a.line, b.line)):
            return (UNCHANGED if a.decisions == b.decisions else JUDGED_AGAIN), None
        group, reasons = "changed", _reasons_of_changes(a, b, changes, context, context.corrections.get(key, []))
    elif not any(inside) and a.fate == b.fate:
        return "", None
    else:
        group = "added" if inside[1] else "dropped" if inside[0] else "outside"
        reasons = [*context.corrections.get(key, []), *_reasons(a, b, context)] or [UNKNOWN]
    line = b.line or a.line
    named = {"id": key, **{name: line.get(name) for name in ("position", "type", "subtype")}}
    return group, {**named, "from": a.fate, "to": b.fate, "changes": changes, "reasons": reasons}


def _moves(items: Mapping[str, list[dict]]) -> list[dict]:
    met = Counter((one["from"]["state"], one["to"]["state"]) for found in items.values() for one in found)
    return [{"from": a, "to": b, "items": n} for (a, b), n in sorted(met.items()) if a != b]


def _by_reason(found: Sequence[Mapping]) -> list[dict]:
    met = Counter(one["reasons"][0]["code"] for one in found)
    return [{"code": code, "items": n} for code, n in sorted(met.items(), key=lambda pair: (-pair[1], pair[0]))]


# Reading both releases, each file once


def _sides(a: ReleaseFiles, b: ReleaseFiles, setup: Mapping) -> tuple[_Side, _Side]:
    before, after = _Side(), _Side()
    for key, state, raw in _decided_items(a):
        before.states[key], before.packed[key] = state, zlib.compress(raw, 1)
    for key, state, raw in _decided_items(b):
        after.states[key], after.packed[key] = state, zlib.compress(raw, 1)
        if before.states.get(key) == state and before.packed.get(key) == after.packed[key]:
            del before.packed[key], after.packed[key]
    for release, side in ((a, before), (b, after)):
        side.open = _open_items(release, side.states)
        side.complete = len(side.states) + len(side.open) == release.manifest.get("counts", {}).get("imported")
    for key in set(before.open) & set(after.open):
        del before.open[key], after.open[key]
    people = {one["annotator"] for found in setup.get("exclusions", {}).values() for one in found}
    wanted = {*before.open, *after.open} | ({*before.packed, *after.packed} if people else set())
    for release, side in ((a, before), (b, after)):
        side.votes, side.judges = _judgments(release, wanted, people)
    return before, after


def _decided_items(release: ReleaseFiles) -> Iterator[tuple[str, str, bytes]]:
    """Yield (id, state, line) of every item that is not open. The same item has the same bytes in every release."""
    for state, name in FILES_OF_ITEMS.items():
        for raw in release.raw_lines(name):
            yield json.loads(raw)["id"], state, raw


def _corrections(a: ReleaseFiles, b: ReleaseFiles) -> dict[str, list[dict]]:
    """Return, by item, the corrections that only `b` has, as reasons in their order."""
    known = {one["number"] for one in _lines_of_corrections(a)}
    found: dict[str, list[dict]] = defaultdict(list)
    for one in _lines_of_corrections(b):
        if one["number"] not in known:
            code = WHOLE.get(one["action"], "corrected")
            parts = ("place", "old", "new") if code == "corrected" else ()
            found[one["item"]].append({"code": code, "why": one["reason"], **{name: one[name] for name in parts}})
    return dict(found)


def _lines_of_corrections(release: ReleaseFiles) -> Iterator[dict]:
    yield from release.lines(CORRECTIONS) if CORRECTIONS in release.manifest.get("files", {}) else ()


def _open_items(release: ReleaseFiles, decided: Collection[str]) -> dict[str, dict[Asked, dict]]:
    """Return the questions about each open item, as decisions with unknown votes; `state` is "open" if none came."""
    found: dict[str, dict[Asked, dict]] = defaultdict(dict)
    names = ("stage", "question", "round", "outcome", "reason", "decided_by")
    for task in release.lines("tasks.jsonl"):
        if task["item"] in decided or not task.get("own", True) or task["kind"] != "judge":
            continue
        asked = found[task["item"]]
        if task["live"]:
            row = {name: task.get(name) or None for name in names}
            asked[task["stage"], task["question"]] = {"state": task["state"] or OPEN, "votes": None, **row}
    return dict(found)


def _judgments(release: ReleaseFiles, items: Collection[str], people: Collection[str]) -> tuple[Mapping, Mapping]:
    """Return, by item id and question, the counted answers, and those of `people` whose judgments count."""
    votes: dict[str, dict[Asked, Counter]] = defaultdict(lambda: defaultdict(Counter))
    judges: dict[str, dict[Asked, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in _counted(release, items) if items else ():
        asked = row["stage"], row["question"] or ""
        votes[row["item"]][asked][row["answer"]] += 1
        if row["annotator"] in people:
            judges[row["item"]][asked].add(row["annotator"])
    return votes, judges


def _counted(release: ReleaseFiles, items: Collection[str]) -> Iterator[dict]:
    wanted = pa.array(sorted(items), pa.string())
    for batch in release.batches("judgments.parquet", ROWS, JUDGED):
        counts = pc.and_(pc.and_(batch["counted"], batch["live"]), pc.equal(batch["kind"], "judge"))
        yield from batch.filter(pc.and_(counts, pc.is_in(batch["item"], value_set=wanted))).to_pylist()


# Differences besides the items


def _audits(release: ReleaseFiles) -> dict[str, dict]:
    """Return the results of the stages that are audits, by name."""
    if not any("audit" in stage for stage in release.manifest.get("stages", [])):
        return {}
    stages = release.json("figures.json")["stages"]
    return {one["study"]["stage_name"]: one["audit"] for one in stages if "audit" in one}


def _setup(a: Mapping, b: Mapping, a_audits: Mapping[str, Mapping], b_audits: Mapping[str, Mapping]) -> dict:
    """Compare two manifests, and the results of their audits."""
    stages = [{one["name"]: one for one in manifest.get("stages", [])} for manifest in (a, b)]
    found = {
        "release": _differing(a["release"], b["release"]),
        "study": _differing(a.get("study", {}), b.get("study", {})),
        "made": _differing(*({name: one.get(name) for name in MADE} for one in (a, b))),
        "splits": _differing(*({name: one["items"] for name, one in m.get("splits", {}).items()} for m in (a, b))),
        "columns": _differing(a.get("columns", {}), b.get("columns", {})),
        "counts": _differing(*(_numbers(one.get("counts", {})) for one in (a, b))),
        "stages": _keyed(stages[0], stages[1], _stage),
        "audits": _keyed(a_audits, b_audits, _differing).get("changed", {}),
        "exclusions": _exclusions(a.get("exclusions", []), b.get("exclusions", [])),
        "files": _files(a.get("files", {}), b.get("files", {})),
    }
    return {name: part for name, part in found.items() if part}


def _only_naming(setup: Mapping) -> bool:
    """Return whether only the release's name and version differ, and the files that contain them."""
    files = {name for names in setup.get("files", {}).values() for name in names}
    return set(setup) <= {"release", "files"} and set(setup.get("release", {})) <= NAMING and files <= NAMING_FILES


def _differing(a: Mapping, b: Mapping) -> dict[str, list]:
    """Return {name: [in a, in b]}, with None if one lacks it."""
    return {name: [a.get(name), b.get(name)] for name in sorted({*a, *b}) if a.get(name) != b.get(name)}


def _keyed(a: Mapping, b: Mapping, differ: Callable[[Mapping, Mapping], object]) -> dict:
    """Return "added", "removed" and "changed" (the differences that `differ` finds), leaving out empty ones."""
    found = {
        "added": [key for key in b if key not in a],
        "removed": [key for key in a if key not in b],
        "changed": {key: parts for key in a if key in b and (parts := differ(a[key], b[key]))},
    }
    return {way: part for way, part in found.items() if part}


def _numbers(counts: Mapping) -> dict[str, int]:
    return {name: value for name, value in counts.items() if isinstance(value, int)}


def _stage(a: Mapping, b: Mapping) -> dict:
    before, after = ({one["version"]: one.get("text", "") for one in s.get("instructions", [])} for s in (a, b))
    found = {
        "settings": _differing(_settings(a), _settings(b)),
        "instructions": [max(one, default=None) for one in (before, after)] if before != after else [],
    }
    return {name: part for name, part in found.items() if part}


def _settings(stage: Mapping) -> dict:
    """Return a stage's settings, with only the number of items it could not ask about, and only the SHA-256 of its
    protocol file. Audit settings are named `audit target_half_width` …
    """
    found = {name: value for name, value in stage.items() if name not in {*BESIDE, "audit"}}
    found |= {f"audit {name}": value for name, value in stage.get("audit", {}).items()}
    if file := found.get("protocol_file"):
        found["protocol_file"] = file["sha256"]
    return found | ({"not_suitable": len(found["not_suitable"])} if "not_suitable" in found else {})


def _exclusions(a: Sequence[Mapping], b: Sequence[Mapping]) -> dict:
    before, after = ({one["annotator"]: one for one in sorted(m, key=lambda one: one["annotator"])} for m in (a, b))
    found = _keyed(before, after, lambda one, other: one.get("reason") != other.get("reason"))
    lines = {
        "added": [after[who] for who in found.get("added", ())],
        "removed": [before[who] for who in found.get("removed", ())],
        "changed": [{**after[who], "before": before[who].get("reason")} for who in found.get("changed", ())],
    }
    return {way: part for way, part in lines.items() if part}


def _files(a: Mapping, b: Mapping) -> dict[str, list[str]]:
    found = _keyed(a, b, lambda one, other: one["sha256"] != other["sha256"])
    return {way: sorted(names) for way, names in found.items()}


# Why an item differs


def _reasons(a: _Item, b: _Item, context: _Context) -> list[dict]:
    """Return the reasons for an item whose fate or content differs, by what each stage decided."""
    if ABSENT in (a.state, b.state):
        came = a.state == ABSENT
        return [{"code": "imported", "came": came, "sure": context.complete[0 if came else 1]}]
    found = []
    for reason in _stage_results(a, b, context):
        if reason not in found:  # a stage may ask several questions
            found.append(reason)
    if (b.state == NOT_ASKED or b.line.get("reason") == WITHDRAWN) and a.fate != b.fate:
        left = {"code": "stage", "stage": b.line["stage"], "came": False, "left_out": b.line["reason"]}
        place = next((i for i, one in enumerate(found) if one.get("stage") == left["stage"]), len(found))
        found[place : place + 1] = [left]
    if not found and a.state != b.state:
        ways = (("added", True), ("removed", False))
        found = [
            {"code": "stage", "stage": stage, "came": came}
            for way, came in ways
            for stage in context.stages.get(way, ())
        ]
    return found


def _stage_results(a: _Item, b: _Item, context: _Context) -> Iterator[dict]:
    """Yield the differences in the stages' results, in the order in which an item meets the stages."""
    earlier = False
    for asked in sorted({*a.decisions, *b.decisions}, key=lambda one: _place(a, b, one)):
        before, after = a.decisions.get(asked), b.decisions.get(asked)
        if before and after:
            if all((before.get(name) or None) == (after.get(name) or None) for name in RESULT):
                continue
            yield from _other_result(asked, a, b, context)
        else:
            yield from _asked_in_one(asked[0], after, earlier, context)
        earlier = True


def _place(a: _Item, b: _Item, asked: Asked) -> tuple[int, str]:
    """Return the sort key: the stage's position, which open items lack; theirs keep the files' order."""
    known = [one.decisions.get(asked, {}).get("stage_position") for one in (a, b)]
    order = [*a.decisions, *(one for one in b.decisions if one not in a.decisions)]
    return next(filter(None, known), order.index(asked) + 1), asked[1]


def _asked_in_one(stage: str, after: Mapping | None, earlier: bool, context: _Context) -> Iterator[dict]:
    """Yield reasons why only one release's stage asks about the item; `earlier`: an earlier stage decided otherwise."""
    yield {"code": "stage", "stage": stage, "came": after is not None, "now": after["state"] if after else None}
    yield from [] if earlier else context.stage_reasons(stage)


def _other_result(asked: Asked, a: _Item, b: _Item, context: _Context) -> Iterator[dict]:
    stage, before, after = asked[0], a.decisions[asked], b.decisions[asked]
    cause, rest = _cause(asked, a, b, context), context.stage_reasons(stage)
    if cause == UNKNOWN and rest and rest[0]["code"] == "settings":
        cause, *rest = rest
    if cause == UNKNOWN and before.get("posterior") != after.get("posterior"):
        cause = {"code": "estimate"}
    yield {**cause, "stage": stage, "now": after["state"], "by": after.get("decided_by")}
    yield from rest


def _cause(asked: Asked, a: _Item, b: _Item, context: _Context) -> dict:
    """Return the nearest cause that both releases give for one stage's different result."""
    before, after = a.decisions[asked], b.decisions[asked]
    if ADJUDICATOR in (before.get("decided_by"), after.get("decided_by")):
        return {"code": "adjudication", "was": before.get("decided_by")}
    if after["round"] > before["round"]:
        return {"code": "asked_again", "round": after["round"]}
    for way, judges in (("added", a.judges), ("removed", b.judges)):
        excluded = context.excluded(way)
        if who := sorted(excluded.keys() & set(judges.get(asked, ()))):
            return {"code": "exclusion", "excluded": way == "added", "annotators": {one: excluded[one] for one in who}}
    return _by_votes(before, after)


def _by_votes(before: Mapping, after: Mapping) -> dict:
    was_open = before["state"] == OPEN and after["state"] != OPEN
    if before["votes"] is None or after["votes"] is None:
        return {"code": "was_open"} if was_open else UNKNOWN
    was, now = Counter(before["votes"]), Counter(after["votes"])
    if was == now:
        return UNKNOWN
    more = now.total() - was.total()
    votes = [dict(sorted(one.items())) for one in (was, now)]
    return {"code": "was_open" if was_open and more > 0 else "judgments", "more": more, "votes": votes}


# Differences in an item that is in both releases' data, and why


def _changes(a: Mapping, b: Mapping) -> dict:
    """Compare two lines of items.jsonl."""
    images = [{one["key"]: _image(one) for one in line["images"]} for line in (a, b)]
    found = {
        **_differing(*({name: line.get(name) for name in PLAIN} for line in (a, b))),
        "captions": _differing(_captions(a), _captions(b)),
        "images": {key: _differing(before or {}, after or {}) for key, (before, after) in _differing(*images).items()},
        "attributes": _differing(_attributes(a), _attributes(b)),
        "meta": _differing(a.get("meta") or {}, b.get("meta") or {}),
    }
    return {name: part for name, part in found.items() if part}


def _image(image: Mapping) -> dict:
    """Return the image without whether it is chosen: `negative_image` has that."""
    return {name: value for name, value in image.items() if name not in ("key", "chosen")}


def _captions(line: Mapping, as_imported: bool = False) -> dict[str, str]:
    return {
        name: caption.get("imported", caption["text"]) if as_imported else caption["text"]
        for name, caption in _named_captions(line)
    }


def _attributes(line: Mapping) -> dict[str, dict]:
    """Return the attributes of its captions; images' attributes are compared with the rest of the image."""
    return {name: caption["attributes"] for name, caption in _named_captions(line) if "attributes" in caption}


def _named_captions(line: Mapping) -> Iterator[tuple[str, Mapping]]:
    """Yield captions by role; a second one of a role is `role-1`."""
    met: Counter[str] = Counter()
    for caption in line["captions"]:
        role = caption["role"]
        yield f"{role}-{met[role]}" if met[role] else role, caption
        met[role] += 1


def _reasons_of_changes(
    a: _Item, b: _Item, changes: Collection[str], context: _Context, corrections: Sequence[dict]
) -> list[dict]:
    """Return corrections, then decisions of stages that determine what changed, then unexplained changes."""
    by_stages = {"captions", "negative_image"} & set(changes)
    found = [*corrections, *(_reasons(a, b, context) if by_stages else [])]
    others = set(changes) - ({"captions", "images"} if corrections else set())
    for reason in _beside_the_stages(a.line, b.line, others, context, bool(corrections)):
        if reason not in found:
            found.append(reason)
    return found or [UNKNOWN]


def _beside_the_stages(
    a: Mapping, b: Mapping, changes: Collection[str], context: _Context, corrected: bool
) -> Iterator[dict]:
    newest = [max((image.get("round") or 1 for image in line["images"]), default=1) for line in (a, b)]
    if "images" in changes and newest[1] > newest[0]:
        yield {"code": "imported_again", "round": newest[1]}
    elif {"images", *OF_IMPORT} & set(changes) or (
        not corrected and _captions(a, as_imported=True) != _captions(b, as_imported=True)
    ):
        yield {"code": "imported_again"}
    if "split" in changes:
        yield _split_reason(b["id"], context)


def _split_reason(key: str, context: _Context) -> dict:
    planned = context.setup.get("release", {})
    if key in context.shared:
        return {"code": "split", "shared": True}
    if cut := {name: planned[name] for name in ("splits", "seed") if name in planned}:
        return {"code": "settings", "settings": cut}
    return {"code": "split", "shared": False} if context.others_moved else UNKNOWN
