"""SugarCrepe's measures: accuracy over all rows, on each subset, and the mean of the subsets. Pure.

Source: SugarCrepe (accuracy on each subset); BiVLC Tables 2 and 3 report the first of them (CLIP 76.56). An item has an
image, a caption and a negative one; the question is whether the caption is scored above the negative. A subset is a
type and a subtype, or one of them that names both: replace_obj. Equal scores are not a choice: a tie is not right. All
shares are between 0 and 1.
"""

from dataclasses import dataclass

from benchmarks.metrics.base import Family, Measure

SUBSETS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
SCORES = ("s(positive)", "s(negative)")
PAIRS = {"caption": (SCORES,)}
CHANCE = 1 / 2
MEASURES = {"accuracy": Measure(("caption",), CHANCE, "All", "over all items")}


@dataclass(frozen=True, slots=True)
class Answered:
    """Whether the item's own caption was chosen: right (True), not right (False), or not answered (None)."""

    caption: bool | None = None
    type: str = ""
    subtype: str = ""


FAMILY = Family(Answered, PAIRS, MEASURES)


def parts(type: str, subtype: str) -> tuple[str, str]:
    """Return type and subtype, also if one of them names both and the other is empty: `add` and `att` of `add_att`."""
    if not (type and subtype) and type + subtype in SUBSETS:
        type, _, subtype = (type + subtype).partition("_")
    return type, subtype


def subset(type: str, subtype: str) -> str:
    """Return `add_att` for `add` and `att`, or for `add_att`; empty if type or subtype is."""
    found = parts(type, subtype)
    return "_".join(found) if all(found) else ""
