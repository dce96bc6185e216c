"""Two releases beside each other: which items came, went and changed, and why; what differs in the set-up. Pure.

Reasons are read from the files of both releases alone. docs/reference/release-changes.md lists their codes.
"""

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.releases import compare_contents as contents
from annotation.releases.archive_reader import Opened
from annotation.releases.compare_reasons import UNKNOWN, Setting, why
from annotation.releases.compare_setup import nothing_else, set_up
from annotation.releases.compare_views import ABSENT, KEPT, OPEN, Asked, Judged, Sight, judged, open_items, raw_items

GROUPS = ("added", "dropped", "changed", "outside")
AS_IT_WAS, JUDGED_AGAIN = "unchanged", "judged_again"


@dataclass(slots=True)
class Lines:
    """A release's decided items: their states, and the packed lines of those that differ from the other's."""

    states: dict[str, str] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)

    def add(self, key: str, state: str, raw: bytes) -> None:
        self.states[key], self.packed[key] = state, zlib.compress(raw, 1)

    @property
    def kept(self) -> set[str]:
        return {key for key, state in self.states.items() if state == KEPT}


@dataclass(frozen=True, slots=True)
class Side:
    """What is held of one release to tell what became of an item."""

    lines: Lines
    opened: Mapping[str, Mapping[Asked, Mapping]]  # items that are open here alone
    judged: Judged
    sure: bool  # its files name every item that it imported

    def sight(self, key: str) -> Sight:
        people = self.judged.people.get(key, {})
        if key in self.lines.packed:
            line = json.loads(zlib.decompress(self.lines.packed[key]))
            decisions = {(row["stage"], row["question"]): row for row in line["decisions"]}
            return Sight(self.lines.states[key], line, decisions, people)
        if key not in self.opened:
            return Sight(ABSENT)
        votes = self.judged.votes.get(key, {})
        decisions = {asked: {**row, "votes": votes.get(asked, {})} for asked, row in self.opened[key].items()}
        return Sight(OPEN, {}, decisions, people)


def compare(a: Opened, b: Opened) -> dict:
    """JSON-able:
    "same"      nothing differs but the name, the version and the files that carry them
    "releases"  of both: name, version, content, and the items in its data
    "setup"     releases.compare_setup.set_up
    "totals"    items in each group; in the data of both "unchanged", and "judged_again": other votes, the same content
    "moves"     [{"from", "to", "items"}] between kept, dropped, open and absent
    "reasons"   by group [{"code", "items"}], most first, by each item's main reason
    "items"     by group: "added" to the data, "dropped" from it, "changed" in both, "outside" of both (dropped for
                another reason, no longer open …), each {"id", "position", "type", "subtype", "from", "to",
                "changes" (releases.compare_contents.changes), "reasons" (releases.compare_reasons.why)}

    Raises NotARelease.
    """
    setup = set_up(a.manifest, b.manifest)
    sides = _sides(a, b, setup)
    kept = [side.lines.kept for side in sides]
    setting = Setting(setup, tuple(side.sure for side in sides), kept[0] != kept[1], b.manifest.get("moved", {}))
    items, totals = _grouped(sides, setting)
    totals[AS_IT_WAS] += len(kept[0] & kept[1] - set(sides[0].lines.packed))
    return {
        "same": not any(items.values()) and not totals[JUDGED_AGAIN] and nothing_else(setup),
        "releases": [_release(one.manifest, len(ids)) for one, ids in zip((a, b), kept, strict=True)],
        "setup": setup,
        "totals": {group: totals[group] for group in (*GROUPS, AS_IT_WAS, JUDGED_AGAIN)},
        "moves": _moves(items),
        "reasons": {group: _by_reason(found) for group, found in items.items() if found},
        "items": items,
    }


def _grouped(sides: list[Side], setting: Setting) -> tuple[dict[str, list[dict]], Counter]:
    """What is told of the items of each group, in the order of the benchmark; how many there are."""
    items, totals = {group: [] for group in GROUPS}, Counter()
    for key in sorted({key for side in sides for key in (*side.lines.packed, *side.opened)}):
        group, told = _told(key, *(side.sight(key) for side in sides), setting)
        totals[group] += 1
        if told:
            items[group].append(told)
    for found in items.values():
        found.sort(key=lambda one: (one["position"] is None, one["position"] or 0, one["id"]))
    return items, totals


def _sides(a: Opened, b: Opened, setup: Mapping) -> list[Side]:
    """Both releases, each file read once."""
    lines = _lines(a, b)
    opened = [open_items(one, its.states) for one, its in zip((a, b), lines, strict=True)]
    imported = [one.manifest.get("counts", {}).get("imported") for one in (a, b)]
    sure = [len(its.states) + len(there) == n for its, there, n in zip(lines, opened, imported, strict=True)]
    for key in set(opened[0]) & set(opened[1]):
        del opened[0][key], opened[1][key]
    people = {one["annotator"] for found in setup.get("exclusions", {}).values() for one in found}
    wanted = {*opened[0], *opened[1]} | {key for its in lines if people for key in its.packed}
    return [
        Side(its, there, judged(one, wanted, people), known)
        for one, its, there, known in zip((a, b), lines, opened, sure, strict=True)
    ]


def _lines(a: Opened, b: Opened) -> tuple[Lines, Lines]:
    before, after = Lines(), Lines()
    for found in raw_items(a):
        before.add(*found)
    for key, state, raw in raw_items(b):
        after.add(key, state, raw)
        if before.states.get(key) == state and before.packed.get(key) == after.packed[key]:
            del before.packed[key], after.packed[key]
    return before, after


def _told(key: str, a: Sight, b: Sight, setting: Setting) -> tuple[str, dict | None]:
    """The item's group, and what is told of it."""
    inside = a.state == KEPT, b.state == KEPT
    if all(inside):
        return _content(key, a, b, setting)
    if not any(inside) and a.fate == b.fate:
        return "", None
    group = "added" if inside[1] else "dropped" if inside[0] else "outside"
    return group, _item(key, a, b, {}, why(a, b, setting) or [UNKNOWN])


def _content(key: str, a: Sight, b: Sight, setting: Setting) -> tuple[str, dict | None]:
    if changed := contents.changes(a.line, b.line):
        told = contents.reasons(a.line, b.line, changed, why(a, b, setting), setting)
        return "changed", _item(key, a, b, changed, told)
    return (AS_IT_WAS if a.decisions == b.decisions else JUDGED_AGAIN), None


def _item(key: str, a: Sight, b: Sight, changed: dict, reasons: list[dict]) -> dict:
    line = b.line or a.line
    return {
        "id": key,
        **{name: line.get(name) for name in ("position", "type", "subtype")},
        "from": a.fate,
        "to": b.fate,
        "changes": changed,
        "reasons": reasons,
    }


def _release(manifest: Mapping, kept: int) -> dict:
    plan = manifest["release"]
    return {"name": plan["name"], "version": plan["version"], "content": manifest.get("content"), "kept": kept}


def _moves(items: Mapping[str, list[dict]]) -> list[dict]:
    met = Counter((one["from"]["state"], one["to"]["state"]) for found in items.values() for one in found)
    return [{"from": a, "to": b, "items": n} for (a, b), n in sorted(met.items()) if a != b]


def _by_reason(found: list[dict]) -> list[dict]:
    met = Counter(one["reasons"][0]["code"] for one in found)
    return [{"code": code, "items": n} for code, n in sorted(met.items(), key=lambda pair: (-pair[1], pair[0]))]
