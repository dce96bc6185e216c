"""Measures of the Hard Positive Truth: original and augmented accuracy, and brittleness. Pure.

Source: Hard Positive Truth §4.1, equations 1 and 2. An item has an image and three captions: the original c, the hard
positive cp, which also holds, and the hard negative cn, which does not.

    original      s(c) is greater than s(cn)
    augmented     s(c) and s(cp) both are
    brittleness   one of the two is greater than s(cn), and the other is less; lower is better

Equal scores are not a choice: a tie is not right, and not brittle either, because equation 2 has > on both sides. An
item with s(c) > s(cn) = s(cp) is original, but neither augmented nor brittle. All shares are between 0 and 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.metrics import base
from benchmarks.metrics.base import Family, Group, Mean, Measure

SCORES = ("s(c)", "s(cp)", "s(cn)")
PAIRS = {"original": (("s(c)", "s(cn)"),), "hard_positive": (("s(cp)", "s(cn)"),)}
BOTH = ("original", "hard_positive")
# Chance (§4.1): of the six orders of three captions two satisfy the second condition, and two the third.
MEASURES = {
    "original": Measure(("original",), 1 / 2, "Original", "the caption above the negative one"),
    "augmented": Measure(BOTH, 1 / 3, "Augmented", "both positives above the negative one"),
    "brittleness": Measure(
        BOTH, 1 / 3, "Brittleness", "one positive above the negative, the other below; lower is better",
        base.exactly_one, untied=True, lower=True,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answered:
    """Whether the original and the hard positive caption are scored above the negative one; None: not asked. `tied`:
    one of them has the same score."""

    original: bool | None = None
    hard_positive: bool | None = None
    type: str = ""
    subtype: str = ""
    tied: bool = False


FAMILY = Family(Answered, PAIRS, MEASURES)
accuracies = FAMILY.accuracies


def means_of_subtypes(groups: Iterable[Group]) -> dict[str, dict[str, Mean]]:
    """Map type → measure → the mean over its subtypes: the paper's tables average REPLACE like this, over attributes
    and relations (Table 1), although they differ in size. `groups` are from `by_type`."""
    kinds: dict[str, list[Group]] = {}
    for group in groups:
        if group.subtype is not None:
            kinds.setdefault(group.type, []).append(group)
    return {
        kind: {
            name: base.mean((part.measures[name] for part in parts), figure.chance)
            for name, figure in parts[0].measures.items()
        }
        for kind, parts in kinds.items()
    }
