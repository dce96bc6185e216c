"""VISLA's measures: the negative caption must come last, for a sentence (T2T) and for an image (I2T). Pure.

Source: VISLA §4.1, Appendix B, and Tables 4, 8 and 9. An item has an image I, two positive captions P1 and P2 of one
meaning, and a negative one N, and makes three questions:

    t2t    S(P1, P2) is greater than both S(P1, N) and S(P2, N)
    p1_n   S(I, P1) is greater than S(I, N)
    p2_n   S(I, P2) is greater than S(I, N)

I2T is right where p1_n and p2_n are. The paper defines P1-N and P2-N by their names alone; that they are asked of the
image follows from Table 8, where models without a text encoder of their own (ViLT, BLIP-ITM) have both and no T2T.
Equal scores are not a choice: a tie is not right. All shares are between 0 and 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.metrics import inputs
from benchmarks.metrics.base import Family, Measure
from benchmarks.metrics.inputs import Array, Scores

TEXTS = ("s(p1,p2)", "s(p1,n)", "s(p2,n)")
IMAGES = ("s(i,p1)", "s(i,p2)", "s(i,n)")
PAIRS = {
    "t2t": (("s(p1,p2)", "s(p1,n)"), ("s(p1,p2)", "s(p2,n)")),
    "p1_n": (("s(i,p1)", "s(i,n)"),),
    "p2_n": (("s(i,p2)", "s(i,n)"),),
}
# Chance is that of random scores: one of three is the greatest (T2T), or the least (I2T), one time in three.
MEASURES = {
    "t2t": Measure(("t2t",), 1 / 3),
    "i2t": Measure(("p1_n", "p2_n"), 1 / 3),
    "p1_n": Measure(("p1_n",), 1 / 2),
    "p2_n": Measure(("p2_n",), 1 / 2),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """An item's three questions: right (True), not right (False), or not asked (None), as of a text encoder alone."""

    t2t: bool | None = None
    p1_n: bool | None = None
    p2_n: bool | None = None
    type: str = ""
    subtype: str = ""


FAMILY = Family(Answered, PAIRS, MEASURES)
accuracies = FAMILY.accuracies
by_type = FAMILY.by_type


def answered(
    texts: Scores | None = None,
    images: Scores | None = None,
    types: Sequence[str] = (),
    subtypes: Sequence[str] = (),
    keys: Sequence[str] = (),
) -> list[Answered]:
    """From the similarities of n items. `texts`: shape (n, 3), columns `TEXTS`; `images`: shape (n, 3), columns
    `IMAGES`; either as a mapping with n values under each name, or None where it was not computed. `types`, `subtypes`
    and `keys` (each item's name): n of each, or none.

    A tie is not right. BadInput: NaN, another shape, a column missing, two items of one name.
    """
    scores: dict[str, Sequence[float] | Array] = {}
    for given, columns in ((texts, TEXTS), (images, IMAGES)):
        scores |= {} if given is None else inputs.named(given, columns)
    return FAMILY.answered(scores, types, subtypes, keys)
