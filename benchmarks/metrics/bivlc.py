"""BiVLC's measures: I2T, T2I, Group, and the four single retrieval questions that they are made of. Pure.

Source: BiVLC, Appendix D (equations 1 to 3) and Table 3. An item has a positive and a negative caption (C0, C1) and
image (I0, I1), and makes four questions:

    i_pos2t   given I0, is C0 chosen over C1       t_pos2i   given C0, is I0 chosen over I1
    i_neg2t   given I1, is C1 chosen over C0       t_neg2i   given C1, is I1 chosen over I0

I2T is right if both questions with an image are, T2I if both with a caption are, Group if all four are. Equal scores
are not a choice: a tie is not right. All shares are between 0 and 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.metrics import inputs
from benchmarks.metrics.base import Family, Measure
from benchmarks.metrics.inputs import Scores

# Which similarity must be greater. s(c1,i0): the negative caption and the positive image.
PAIRS = {
    "i_pos2t": (("s(c0,i0)", "s(c1,i0)"),),
    "i_neg2t": (("s(c1,i1)", "s(c0,i1)"),),
    "t_pos2i": (("s(c0,i0)", "s(c0,i1)"),),
    "t_neg2i": (("s(c1,i1)", "s(c1,i0)"),),
}
QUESTIONS = tuple(PAIRS)
SCORES = ("s(c0,i0)", "s(c0,i1)", "s(c1,i0)", "s(c1,i1)")
NEEDS = {"i2t": QUESTIONS[:2], "t2i": QUESTIONS[2:], "group": QUESTIONS, **{name: (name,) for name in QUESTIONS}}
MEASURES = tuple(NEEDS)  # in the order of the paper's Table 3

# The expected share for random scores s(C, I) (Table 3, first row). The four comparisons of an item share their scores,
# which is why Group is 1/6; four independent coin tosses would give 1/16.
CHANCE = {"i2t": 1 / 4, "t2i": 1 / 4, "group": 1 / 6, **dict.fromkeys(QUESTIONS, 1 / 2)}


@dataclass(frozen=True, slots=True)
class Answered:
    """An item's four questions: right (True), not right (False: wrong, a tie, refused), or not answered yet (None)."""

    i_pos2t: bool | None = None
    i_neg2t: bool | None = None
    t_pos2i: bool | None = None
    t_neg2i: bool | None = None
    type: str = ""
    subtype: str = ""


FAMILY = Family(Answered, PAIRS, {name: Measure(needs, CHANCE[name]) for name, needs in NEEDS.items()})
right = FAMILY.right
accuracy = FAMILY.accuracy
accuracies = FAMILY.accuracies
by_type = FAMILY.by_type


def scored(scores: Sequence[Sequence[float]], type: str = "", subtype: str = "") -> Answered:
    """From similarities: `scores[c][i]` is s(C_c, I_i), a 2 × 2 table. A tie is not right; NaN is BadInput."""
    return answered([scores], [type], [subtype])[0]


def answered(
    scores: Scores, types: Sequence[str] = (), subtypes: Sequence[str] = (), keys: Sequence[str] = ()
) -> list[Answered]:
    """From the similarities of n items, shape (n, 2, 2): `scores[item][c][i]` is s(C_c, I_i). Or a mapping with n
    values under each of `SCORES`. `types`, `subtypes` and `keys` (each item's name): n of each, or none.

    A tie is not right. BadInput: NaN, another shape, a column missing, two items of one name.
    """
    if not hasattr(scores, "keys"):
        scores = inputs.table(scores, (None, 2, 2), "s(C, I) by item, caption and image").reshape(-1, 4)
    return FAMILY.answered(inputs.named(scores, SCORES), types, subtypes, keys)
