"""BiVLC's measures: I2T, T2I, Group, and the four retrieval questions they are made of. Pure.

Source: BiVLC, Appendix D (equations 1 to 3) and Table 3. An item has a positive and a negative caption (C0, C1) and
image (I0, I1), and makes four questions:

    i_pos2t   given I0, is C0 chosen over C1       t_pos2i   given C0, is I0 chosen over I1
    i_neg2t   given I1, is C1 chosen over C0       t_neg2i   given C1, is I1 chosen over I0

I2T is right if both questions with an image are, T2I if both with a caption are, Group if all four are. Equal scores
are not a choice: a tie is not right. All shares are between 0 and 1.
"""

from dataclasses import dataclass

from benchmarks.metrics.base import Family, Measure

# Which similarity must be greater. s(c1,i0): that of the negative caption and the positive image.
PAIRS = {
    "i_pos2t": (("s(c0,i0)", "s(c1,i0)"),),
    "i_neg2t": (("s(c1,i1)", "s(c0,i1)"),),
    "t_pos2i": (("s(c0,i0)", "s(c0,i1)"),),
    "t_neg2i": (("s(c1,i1)", "s(c1,i0)"),),
}
QUESTIONS = tuple(PAIRS)
SCORES = ("s(c0,i0)", "s(c0,i1)", "s(c1,i0)", "s(c1,i1)")
# In the order of the paper's Table 3, whose first row has the expected share for random scores s(C, I). An item's four
# comparisons share scores, so Group is 1/6; four independent coin tosses would give 1/16.
MEASURES = {
    "i2t": Measure(QUESTIONS[:2], 1 / 4, "I2T", "both images, image to text"),
    "t2i": Measure(QUESTIONS[2:], 1 / 4, "T2I", "both captions, text to image"),
    "group": Measure(QUESTIONS, 1 / 6, "Group", "all four questions"),
    "i_pos2t": Measure(("i_pos2t",), 1 / 2, "I pos→T", "given the positive image"),
    "i_neg2t": Measure(("i_neg2t",), 1 / 2, "I neg→T", "given the negative image"),
    "t_pos2i": Measure(("t_pos2i",), 1 / 2, "T pos→I", "given the positive caption"),
    "t_neg2i": Measure(("t_neg2i",), 1 / 2, "T neg→I", "given the negative caption"),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """An item's four questions: right (True), not right (False: wrong, a tie, refused), or not answered yet (None)."""

    i_pos2t: bool | None = None
    i_neg2t: bool | None = None
    t_pos2i: bool | None = None
    t_neg2i: bool | None = None
    type: str = ""
    subtype: str = ""


FAMILY = Family(Answered, PAIRS, MEASURES)
right = FAMILY.right
accuracies = FAMILY.accuracies
