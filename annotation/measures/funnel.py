"""Follow every item in a study from imported to kept, stage by stage. Pure: figures/funnel.py reads the rows from
the database, releases/verification from the files of a release.

Stages that measure remove nothing and are listed separately. The unit is always the item; one that is asked about again
in a later round counts once, by its live tasks. Always: imported = kept + dropped by reason + not asked about by reason
+ open by place.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.measures.counts import ratio
from annotation.measures.types import Stage
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN

NOT_ASKED = "not_asked"  # a stage that should have taken the item never asked about it, for one of these reasons
CHECK_ITEM, NOT_SAMPLED, NOT_SUITABLE = "check_item", "not_sampled", "not_suitable"
WITHDRAWN = "withdrawn"  # reason of dropped items that are no longer in the benchmark, whatever stages decided
STATES = (KEPT, DROPPED, NOT_ASKED, OPEN)

Kind = tuple[str, str]  # type and subtype


@dataclass(frozen=True, slots=True)
class Fate:
    """The fate of an item: one of STATES. `stage` is where; None if no stage selects."""

    state: str
    stage: Stage | None = None
    reason: str = ""  # if the item was dropped or not asked about
    waits: bool = False  # if open: not in the stage until the stage before it closes

    @property
    def left_out(self) -> bool:
        """Return whether the item ended without ever having been in the stage."""
        return self.state == NOT_ASKED or self.reason == WITHDRAWN


@dataclass(frozen=True, slots=True)
class Walk:
    """Facts about a study's items, by the stage's `pk`. `found` has the (state, reason) of the items in it."""

    stages: Sequence[Stage]
    kinds: Mapping[int, Kind]
    found: Mapping[Any, Mapping[int, tuple[str, str]]]
    known: Mapping[Any, Collection[int]] = field(default_factory=dict)  # items whose answer a stage already has
    unsuited: Mapping[Any, Collection[int]] = field(default_factory=dict)  # items that a stage could not ask about
    withdrawn: Collection[int] = frozenset()

    def takers(self, stage: Stage) -> list[Stage]:
        return [taker for taker in self.stages if taker.source_id == stage.pk]


def figures(walk: Walk, ends: Mapping[int, Fate], measuring: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts and shares at every step, JSON-able (docs/reference/measures.md). `ends` are the `fates`;
    `measuring`: see `measured`.
    """
    groups = defaultdict(list)
    for item, kind in walk.kinds.items():
        groups[kind].append(item)
    return {
        **_counts(walk, ends, walk.kinds),
        "measuring": list(measuring),
        "by_type": [
            {"type": kind, "subtype": subtype, **_counts(walk, ends, items)}
            for (kind, subtype), items in sorted(groups.items())
        ],
    }


def fates(walk: Walk) -> dict[int, Fate]:
    """Return each item's fate: dropped if one stage drops it and no later one takes it; otherwise not asked about if a
    stage does not ask; kept if every deciding stage keeps it. Items with the same result in every stage share one Fate.
    """
    full = {stage.pk: _is_full(walk, stage) for stage in walk.stages}
    places, known, unsuited = [stage.pk for stage in walk.stages], walk.known, walk.unsuited
    ends: dict[Any, Fate] = {}
    found = {}
    gone = Fate(DROPPED, walk.stages[0] if walk.stages else None, WITHDRAWN)
    for item in walk.kinds:
        if item in walk.withdrawn:
            found[item] = gone
            continue
        told = tuple(
            (walk.found[place].get(item), item in known.get(place, ()), item in unsuited.get(place, ()))
            for place in places
        )
        if told not in ends:
            ends[told] = _fate(list(_last_words(walk, item, full)))
        found[item] = ends[told]
    return found


def _fate(words: list[Fate]) -> Fate:
    for state in (DROPPED, NOT_ASKED, OPEN, KEPT):
        for word in words:
            if word.state == state:
                return word
    return Fate(KEPT)


def _last_words(walk: Walk, item: int, full: Mapping[Any, bool]) -> Iterable[Fate]:
    """Yield the results of the last stages that have the item; `full` has which stages have their full sample."""
    for stage in walk.stages:
        result = walk.found[stage.pk].get(item)
        if result is None:
            if stage.source_id is None:
                yield _left_out(walk, stage, item, waits=not full[stage.pk])
            continue
        state, reason = result
        wanting = [taker for taker in walk.takers(stage) if (reason or state) in taker.takes]
        for taker in wanting:
            if item not in walk.found[taker.pk]:
                yield _left_out(walk, taker, item, waits=waits_for(taker, stage))
        if not wanting:
            yield Fate(state, stage, reason)


def _is_full(walk: Walk, stage: Stage) -> bool:
    """Return whether a stage that takes the benchmark's items has its full sample, by type if sampled so."""
    if stage.sample is None:
        return False
    found = walk.found[stage.pk]
    if not stage.sample_each:
        return len(found) >= stage.sample
    has, there = (Counter(walk.kinds[item][0] for item in items) for items in (found, walk.kinds))
    return all(has[kind] >= min(stage.sample, there[kind]) for kind in there)


def waits_for(taker: Stage, source: Stage) -> bool:
    """Return whether the receiving stage gets settled items only when the source closes."""
    at_once = taker.promotion == "settled" and taker.sample is None
    return source.state == "open" and not at_once


def _left_out(walk: Walk, stage: Stage, item: int, waits: bool) -> Fate:
    if item in walk.known[stage.pk]:
        return Fate(NOT_ASKED, stage, CHECK_ITEM)
    if item in walk.unsuited[stage.pk]:
        return Fate(NOT_ASKED, stage, NOT_SUITABLE)
    if waits:
        return Fate(OPEN, stage, waits=True)
    return Fate(NOT_ASKED, stage, NOT_SUITABLE if stage.sample is None else NOT_SAMPLED)


def _counts(walk: Walk, ends: Mapping[int, Fate], items: Collection[int]) -> dict[str, Any]:
    """Count these items: imported, a row for each stage, and their final states."""
    mine = [ends[item] for item in items]
    states = Counter(end.state for end in mine)
    total = len(mine)
    return {
        "imported": total,
        "stages": [_step(walk, stage, items, mine) for stage in walk.stages],
        **{state: states[state] for state in STATES},
        **{f"{state}_share": ratio(states[state], total) for state in STATES},
        "reasons": _by_stage(mine, DROPPED),
        "not_asked_in": _by_stage(mine, NOT_ASKED),
        "open_in": _by_stage(mine, OPEN),
    }


def _step(walk: Walk, stage: Stage, items: Collection[int], ends: Sequence[Fate]) -> dict[str, Any]:
    """Return one stage's items and their outcomes, and the items that have not entered yet."""
    there = walk.found[stage.pk]
    found = [there[item] for item in items if item in there]
    states = Counter(state for state, _ in found)
    entered, imported = len(found), len(ends)
    waiting = sum(end.waits and end.stage is stage for end in ends)
    left_out = Counter(end.reason for end in ends if end.left_out and end.stage is stage)
    return {
        **_naming(stage),
        "entered": entered,
        "entered_share": ratio(entered, imported),
        **{state: states[state] for state in (KEPT, DROPPED, OPEN)},
        **{f"{state}_share": ratio(states[state], entered) for state in (KEPT, DROPPED, OPEN)},
        "kept_of_imported": ratio(states[KEPT], imported),
        "reasons": _rows(Counter(reason for state, reason in found if state == DROPPED), entered),
        "waiting": waiting,
        "left_out": _rows(left_out, imported),
    }


def _naming(stage: Stage) -> dict[str, Any]:
    return {"stage": stage.position, "name": stage.name, "protocol": stage.protocol}


def _rows(reasons: Counter[str], total: int) -> list[dict[str, Any]]:
    """Return a row for each reason, most items first."""
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"reason": reason, "items": count, "share": ratio(count, total)} for reason, count in ordered]


def _by_stage(ends: Sequence[Fate], state: str) -> list[dict[str, Any]]:
    """Count items with that fate by stage and reason, each with its share of all."""
    mine = [(end, end.stage) for end in ends if end.state == state and end.stage]
    found = Counter((stage.position, stage.name, end.reason, end.waits) for end, stage in mine)
    names = ("stage", "name", "reason", "waits")
    return [
        {**dict(zip(names, place, strict=True)), "items": count, "share": ratio(count, len(ends))}
        for place, count in sorted(found.items())
    ]


def measured(stage: Stage, items: int, tasks: int, answered: int) -> dict[str, Any]:
    """Return a measuring stage's sampled items, their tasks, and how many of these are answered."""
    return {
        **_naming(stage),
        "sampled": items,
        "tasks": tasks,
        "answered": answered,
        "open": tasks - answered,
        "answered_share": ratio(answered, tasks),
    }
