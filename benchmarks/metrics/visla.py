"""VISLA's measures: the negative caption must come last, for a sentence (T2T) and for an image (I2T). Pure.

Source: VISLA §4.1, §4.3, Appendices B and C, and Tables 3, 4, 8 and 9. An item has an image I, two positive captions P1
and P2 of one meaning, and a negative one N, and gives three questions:

    t2t    S(P1, P2) is greater than both S(P1, N) and S(P2, N)
    p1_n   S(I, P1) is greater than S(I, N)
    p2_n   S(I, P2) is greater than S(I, N)

I2T is right if p1_n and p2_n are. The paper defines P1-N and P2-N only by their names; that they are asked of the image
follows from Table 8, in which models without a separate text encoder (ViLT, BLIP-ITM) have both but no T2T. A tie is
not right, because equal scores are not a choice. All shares are between 0 and 1.

Table 3 has a P1-N and a P2-N for text encoders. In these, P1 is the positive with more lexical overlap with N, measured
by edit distance, and the query can only be the other positive; T2T is right if both are:

    t2t_p1_n   S(P2, P1) is greater than S(P2, N)
    t2t_p2_n   S(P1, P2) is greater than S(P1, N)

The paper does not say what its edits are. Edits of characters reproduce the published results of Generic VISLA.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.metrics.base import Family, Measure
from benchmarks.metrics.edit_distance import distance

TEXTS = ("s(p1,p2)", "s(p1,n)", "s(p2,n)")
IMAGES = ("s(i,p1)", "s(i,p2)", "s(i,n)")
PAIRS = {
    "t2t": (("s(p1,p2)", "s(p1,n)"), ("s(p1,p2)", "s(p2,n)")),
    "p1_n": (("s(i,p1)", "s(i,n)"),),
    "p2_n": (("s(i,p2)", "s(i,n)"),),
}
# Chance level for random scores: one of three is the greatest (T2T), or the least (I2T), one time in three.
MEASURES = {
    "t2t": Measure(("t2t",), 1 / 3, "T2T", "the positives are closest, text to text"),
    "t2t_p1_n": Measure(("t2t_p1_n",), 1 / 2, "T2T P1-N", "given P2, P1 above N; P1 is written more like N"),
    "t2t_p2_n": Measure(("t2t_p2_n",), 1 / 2, "T2T P2-N", "given P1, P2 above N; P1 is written more like N"),
    "i2t": Measure(("p1_n", "p2_n"), 1 / 3, "I2T", "the negative comes last, image to text"),
    "p1_n": Measure(("p1_n",), 1 / 2, "P1-N", "given the image, P1 above N"),
    "p2_n": Measure(("p2_n",), 1 / 2, "P2-N", "given the image, P2 above N"),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """An item's questions: right (True), not right (False), or not asked (None), as of images by a text encoder."""

    t2t: bool | None = None
    p1_n: bool | None = None
    p2_n: bool | None = None
    t2t_p1_n: bool | None = None
    t2t_p2_n: bool | None = None
    type: str = ""
    subtype: str = ""


ROLES = ("positive", "second_positive", "negative")


def text_halves(scores: Mapping[str, float], captions: Mapping[str, str]) -> dict[str, bool]:
    """Return the two halves of T2T, by the names of their measures; none if one of `TEXTS` or of `ROLES` is missing.

    `captions`: by role. If both positives are equally far from the negative, P1 is the first.
    """
    if any(name not in scores for name in TEXTS) or any(role not in captions for role in ROLES):
        return {}
    together, first_n, second_n = (scores[name] for name in TEXTS)
    first, second = bool(together > second_n), bool(together > first_n)  # the query is the other one
    one, other, negative = (captions[role] for role in ROLES)
    nearer = distance(other, negative) < distance(one, negative)
    return dict(zip(("t2t_p1_n", "t2t_p2_n"), (second, first) if nearer else (first, second), strict=True))


FAMILY = Family(Answered, PAIRS, MEASURES, text_halves)
