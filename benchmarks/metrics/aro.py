"""ARO's measures: accuracy on relations, on attributes, and on the order of words. Pure.

Source: ARO §2.1 to §2.3 and App. A, Table 2. Relations and attributes: the caption must be scored above the negative
one (chance 1/2). They are reported as *macro* averages, the plain mean over relations, or over pairs of attributes;
relations are split into spatial ones and verbs as in Table 2. Order: the caption must be scored above all four
permutations (chance 1/5). A tie is not right, because equal scores are not a choice. All shares are between 0 and 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.metrics.base import Family, Figure, Measure

RELATION, ATTRIBUTION, ORDER = "relation", "attribution", "order"  # types of items

# Table 2 names 13 spatial relations and 32 verbs; any other relation is in neither list.
SPATIAL = frozenset({
    "above", "at", "behind", "below", "beneath", "in", "in front of", "inside", "on", "on top of", "to the left of",
    "to the right of", "under",
})  # fmt: skip
VERBS = frozenset({
    "carrying", "covered by", "covered in", "covered with", "covering", "cutting", "eating", "feeding", "grazing on",
    "hanging on", "holding", "leaning on", "looking at", "lying in", "lying on", "parked on", "reflected in",
    "resting on", "riding", "sitting at", "sitting in", "sitting on", "sitting on top of", "standing by",
    "standing in", "standing on", "surrounded by", "using", "walking in", "walking on", "watching", "wearing",
})  # fmt: skip

PERMUTATIONS = 4
SCORES = ("s(positive)", "s(negative)")
ORDER_SCORES = ("s(positive)", *(f"s(negative-{number})" for number in range(PERMUTATIONS)))
PAIRS = {"caption": (SCORES,), "order": tuple((ORDER_SCORES[0], other) for other in ORDER_SCORES[1:])}
MEASURES = {
    "caption": Measure(("caption",), 1 / 2, "Caption", "above the negative one"),
    "order": Measure(("order",), 1 / (1 + PERMUTATIONS), "Order", "above all four permutations"),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """Right (True), not right (False), or not asked (None): `caption` for relations and attributes, `order` for order
    tasks. `subtype`: the relation, the pair of attributes (`black vs white`), or the order task."""

    caption: bool | None = None
    order: bool | None = None
    type: str = ""
    subtype: str = ""


FAMILY = Family(Answered, PAIRS, MEASURES)


def ordered(rows: Iterable[Sequence[float]], tasks: Iterable[str]) -> list[Answered]:
    """Turn rows of `ORDER_SCORES`, each with its task (coco, flickr30k), into answers to order tasks."""
    return [
        Answered(order=all(right > other for other in others), type=ORDER, subtype=task)
        for (right, *others), task in zip(rows, tasks, strict=True)
    ]


def overall(items: Iterable[Answered], type: str) -> Figure:
    """Return the accuracy over all items of a type."""
    measure = "order" if type == ORDER else "caption"
    return FAMILY.accuracy((item for item in items if item.type == type), measure)


def groups(items: Iterable[Answered], type: str) -> dict[str, Figure]:
    """Return accuracies by subtype (relation, pair of attributes, order task), in alphabetical order."""
    found: dict[str, list[Answered]] = {}
    for item in items:
        if item.type == type:
            found.setdefault(item.subtype, []).append(item)
    return {name: overall(found[name], type) for name in sorted(found)}
