"""Cards with questions for a new study: those that suit the benchmark's first item, best first, and why the others
don't, with an alternative.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from annotation.designs import fit, presets
from annotation.designs.plan import StagePlan
from annotation.protocols.base import CANNOT_JUDGE, Protocol, UnsuitableItem
from annotation.protocols.registry import protocol_named
from annotation.protocols.roles import joined, split
from annotation.studies.starting_points import StartingPoint
from benchmarks.naming import part_name, role_name
from benchmarks.records import ItemRecord

_OWN = ("copy", "template")
_GENERATED = {"candidate image": "images-new", "hard negative": "captions-new", "second positive": "captions-new"}
_GIVES = {  # by the kind of the first answer, if it decides nothing
    "scale": "mean score", "number": "numbers", "rank": "ranking", "pair": "preferences", "words": "marked words",
    "points": "marks on pictures", "boxes": "marks on pictures", "check": "share of “yes”", "text": "written texts",
    "edit": "revised texts", "pick": "share of each answer",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """A starting point that suits the benchmark.

    `asks` is its question, `hides` the parts of an item that are not shown, `gives` its result; `roles` has the
    benchmark's names for roles, if they differ; `coverage` the share of the item's roles that are shown.
    """

    start: StartingPoint
    asks: str = ""
    hides: str = ""
    gives: str = ""
    roles: str = ""
    coverage: float = 0


class Offers(NamedTuple):
    """`best` shows most of an item, without mapped roles if possible; it comes first among the `fitting`.
    `unfit` has the others, by reason and alternative (its words and address).
    """

    fitting: list[Card]
    best: Card | None
    unfit: list[tuple[tuple[str, str, str], list[StartingPoint]]]


def offers(starts: Iterable[StartingPoint], first: ItemRecord | None, benchmark: str = "") -> Offers:
    """Sort the starting points by whether they suit the benchmark's first item, if it has one.

    A study is refused if any item does not suit it, so what does not suit the first item cannot be used.
    """
    fitting: list[Card] = []
    unfit: dict[tuple[str, str, str], list[StartingPoint]] = {}
    for start in starts:
        if card := card_of(start, first):
            fitting.append(card)
        elif first and (reason := _unsuited(start.stages, first)):
            needs = (
                f"{reason.needs} per item; the first item has {reason.has or 'none'}" if reason.needs else f"{reason}"
            )
            unfit.setdefault((needs, *_way_out(start, first, reason, benchmark)), []).append(start)
    best = max(fitting, key=lambda one: (one.coverage, not one.roles), default=None) if first else None
    fitting.sort(key=lambda one: (one is not best, one.start.kind not in _OWN, bool(one.roles), -one.coverage))
    return Offers(fitting, best, list(unfit.items()))


def card_of(start: StartingPoint, first: ItemRecord | None) -> Card | None:
    """Return the card; None if the starting point does not suit the item."""
    if first is None:
        return Card(start, _asks(start), gives=_gives(start.stages))
    stages = fit.fitted(start.stages, first)
    if stages is None:
        return None
    mapped = {role: to for stage in stages for role, to in split(stage.protocol)[1].items()}
    if mapped and start.kind == "preset":  # its numbers assume the papers' roles; its questions are offered one by one
        return None
    gives, hides = _gives(stages, first), _hides(stages, first)
    return Card(start, _asks(start), hides, gives, _uses(mapped), round(fit.coverage(stages, first), 6))


def _uses(mapped: Mapping[str, str]) -> str:
    """Return “the scene image as “picture” and the foil text as “prompt””."""
    names = [(*role.split("."), to) for role, to in mapped.items() if not role.endswith(f".{to}")]
    nouns = {"images": "image"}
    return " and ".join(f"the {role_name(to)} {nouns.get(kind, 'text')} as “{role_name(of)}”" for kind, of, to in names)


def _asks(start: StartingPoint) -> str:
    """Return the only question, or the summary if somebody has set up several."""
    return protocol_named(start.stages[0].protocol).question if start.kind == "protocol" else start.summary


def _hides(stages: Sequence[StagePlan], first: ItemRecord) -> str:
    """Return “not shown: hard negative and candidate images”; "" if nothing is left out."""
    there = {"captions": [one.role for one in first.captions], "images": [one.role for one in first.images]}
    parts = [part_name(kind, role, there[kind].count(role) > 1) for kind, role in fit.hidden(stages, first)]
    if not parts:
        return ""
    *others, last = parts
    return f"not shown: {', '.join(others)}{' and ' if others else ''}{last}"


def _gives(stages: Sequence[StagePlan], first: ItemRecord = presets.SPECIMEN) -> str:
    """Return “kept or dropped · 3 judgments per item”."""
    results = ", then ".join(dict.fromkeys(_result(protocol_named(stage.protocol)) for stage in stages))
    if len(stages) > 1:
        return f"{results} · {len(stages)} stages"
    given, tasks = stages[0].settings, presets.tasks_per_item(stages[0].protocol, first)
    judgments, sample = given.get("overlap") or 1, given.get("sample")
    each = f"{judgments} judgment{'' if judgments == 1 else 's'}"
    each = f"{tasks} questions per item, {each} each" if tasks > 1 else f"{each} per item"
    items = f" · {sample:,} items{' of each type' if given.get('sample_each') else ''}" if sample else ""
    return f"{results} · {each}{items}"


def _result(protocol: Protocol) -> str:
    if protocol.edits:
        return "revised texts"
    file = protocol.made_from
    if not protocol.measures and (file is None or {*protocol.drops} - {CANNOT_JUDGE}):
        return "kept or dropped"
    if file is None or file.right:
        return "share answered correctly"
    return _GIVES[file.answers[0].kind]


def _unsuited(stages: Sequence[StagePlan], first: ItemRecord) -> UnsuitableItem | None:
    """Describe what is missing once all roles with a clear meaning are mapped."""
    return presets.unsuited(fit.guessed(stages, first) or stages, first) or presets.unsuited(stages, first)


def _way_out(start: StartingPoint, first: ItemRecord, reason: UnsuitableItem, benchmark: str) -> tuple[str, str]:
    """Return the words and address of another way to ask it, or about other items; empty if there is none."""
    if start.kind == "protocol" and len(start.stages) == 1 and (roles := fit.mapped_by_hand(start.stages[0], first)):
        key = joined(split(start.key)[0], roles)
        clear = split(fit.guessed(start.stages, first)[0].protocol)[1]  # type: ignore[index]  # it could be mapped
        uses = _uses({role: to for role, to in roles.items() if clear.get(role) != to})
        return f"Use {uses}", reverse("study-new", query={"protocol": key, "benchmark": benchmark})
    for needed, page in _GENERATED.items():
        if needed in reason.needs and benchmark:
            return "Generate them", reverse(page, args=[benchmark])
    return ("Import items that have it", reverse("import-new")) if reason.needs else ("", "")
