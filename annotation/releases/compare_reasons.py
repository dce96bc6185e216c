"""Why an item is not what it was: read from what both releases say that each stage decided, and by what. Pure.

A reason is {"code", "stage"?, …facts}. The first is the main one: that of the first stage whose result is another.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from annotation.releases.compare_views import ABSENT, DROPPED, OPEN, Asked, Sight

ADJUDICATOR = "adjudicator"
LEFT_OUT = {"check_item", "not_sampled", "not_suitable"}  # reasons of items that a stage never asked about
RESULT = ("state", "outcome", "reason", "content")
UNKNOWN = {"code": "unknown"}
DECIDING = {  # settings on which it rests what a stage asks, and what it makes of the answers
    "protocol", "overlap", "cap", "rule", "tie_rule", "takes", "carries", "promotion", "sample", "stratify", "seed",
    "sample_each", "agreement_items", "agreement_overlap", "source", "after", "fixed_answers", "drops", "confirms",
    "confirm_cap", "alike",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """What else differs (releases.compare_setup.set_up), and whether each release names every item that it imported."""

    setup: Mapping = field(default_factory=dict)
    sure: tuple[bool, bool] = (True, True)
    moved: bool = False  # some item came into the data, or left it
    shared: Collection[str] = ()  # items that b had to move to another split, for an image that they share

    @property
    def stages(self) -> Mapping:
        return self.setup.get("stages", {})

    def excluded(self, way: str) -> dict[str, str]:
        """Annotator → reason of those excluded since ("added"), or taken back ("removed")."""
        return {one["annotator"]: one.get("reason", "") for one in self.setup.get("exclusions", {}).get(way, [])}

    def of_stage(self, stage: str) -> list[dict]:
        """What else is another in it, as reasons."""
        changed = self.stages.get("changed", {}).get(stage, {})
        settings = {name: both for name, both in changed.get("settings", {}).items() if name in DECIDING}
        told = {"settings": settings, "instructions": changed.get("instructions")}
        return [{"code": code, "stage": stage, code: what} for code, what in told.items() if what]


def why(a: Sight, b: Sight, setting: Setting) -> list[dict]:
    """Of an item whose fate or content differs."""
    if ABSENT in (a.state, b.state):
        came = a.state == ABSENT
        return [{"code": "imported" if came else "no_longer_imported", "sure": setting.sure[0 if came else 1]}]
    found = []
    for reason in _decisions(a, b, setting):
        if reason not in found:  # a stage may ask several questions
            found.append(reason)
    if b.state == DROPPED and b.line["reason"] in LEFT_OUT and a.fate != b.fate:
        told = {"code": "left_out", "stage": b.line["stage"], "reason": b.line["reason"]}
        place = next((i for i, one in enumerate(found) if one.get("stage") == told["stage"]), len(found))
        found.insert(place, told)
    if not found and a.fate["state"] != b.fate["state"]:
        found = [
            {"code": f"stage_{way}", "stage": stage}
            for way in ("added", "removed")
            for stage in setting.stages.get(way, ())
        ]
    return found


def _decisions(a: Sight, b: Sight, setting: Setting) -> Iterator[dict]:
    """What differs in the stages' results, in the order in which an item meets them."""
    earlier = False
    for asked in sorted({*a.decisions, *b.decisions}, key=lambda one: _place(a, b, one)):
        before, after = a.decisions.get(asked), b.decisions.get(asked)
        if before and after and all(_same(before.get(name), after.get(name)) for name in RESULT):
            continue
        if before and after:
            yield from _changed(asked, a, b, setting)
        else:
            yield from _came_or_went(asked[0], after, earlier, setting)
        earlier = True


def _same(one: object, other: object) -> bool:
    return (one or None) == (other or None)


def _place(a: Sight, b: Sight, asked: Asked) -> tuple[int, str]:
    """By the stage's position, which open items do not know: theirs come as their files have them."""
    known = [one.decisions.get(asked, {}).get("stage_position") for one in (a, b)]
    order = [*a.decisions, *(one for one in b.decisions if one not in a.decisions)]
    return next(filter(None, known), order.index(asked) + 1), asked[1]


def _came_or_went(stage: str, after: Mapping | None, earlier: bool, setting: Setting) -> Iterator[dict]:
    """The stage asks about the item in one release alone; `earlier`: what an earlier stage decided differs."""
    if stage in setting.stages.get("added" if after else "removed", ()):
        yield {"code": "stage_added" if after else "stage_removed", "stage": stage}
        return
    code = "left" if not after else "followed" if earlier else "entered"
    yield {"code": code, "stage": stage, "now": after["state"] if after else None}
    yield from [] if earlier else setting.of_stage(stage)


def _changed(asked: Asked, a: Sight, b: Sight, setting: Setting) -> Iterator[dict]:
    stage, before, after = asked[0], a.decisions[asked], b.decisions[asked]
    cause, rest = _cause(asked, a, b, setting), setting.of_stage(stage)
    if cause == UNKNOWN and rest and rest[0]["code"] == "settings":
        cause, *rest = rest
    if cause == UNKNOWN and before.get("posterior") != after.get("posterior"):
        cause = {"code": "estimate"}
    yield {**cause, "stage": stage, "now": after["state"], "by": after.get("decided_by")}
    yield from rest


def _cause(asked: Asked, a: Sight, b: Sight, setting: Setting) -> dict:
    """The nearest that both releases tell of one stage's result."""
    before, after = a.decisions[asked], b.decisions[asked]
    match [one.get("decided_by") == ADJUDICATOR for one in (before, after)]:
        case [False, True]:
            return {"code": "adjudicated"}
        case [True, True]:
            return {"code": "adjudicated_anew"}
        case [True, False]:
            return {"code": "adjudication_lifted"}
    if after["round"] > before["round"]:
        return {"code": "asked_anew", "round": after["round"]}
    for code, way, people in (("excluded", "added", a.people), ("exclusion_lifted", "removed", b.people)):
        told = setting.excluded(way)
        if who := sorted(told.keys() & set(people.get(asked, ()))):
            return {"code": code, "annotators": {one: told[one] for one in who}}
    return _by_votes(before, after)


def _by_votes(before: Mapping, after: Mapping) -> dict:
    was_open = before["state"] == OPEN and after["state"] != OPEN
    if before["votes"] is None or after["votes"] is None:
        return {"code": "was_open"} if was_open else UNKNOWN
    was, now = Counter(before["votes"]), Counter(after["votes"])
    if was == now:
        return UNKNOWN
    more = now.total() - was.total()
    code = "more_judgments" if more > 0 else "fewer_judgments" if more < 0 else "other_judgments"
    told = {"more": more, "votes": [dict(sorted(was.items())), dict(sorted(now.items()))]}
    return {"code": "was_open" if was_open and more > 0 else code, **told}
