"""BiVLC's measures: I2T, T2I, Group, and the four single retrieval questions that they are made of. Pure.

Source: BiVLC, Appendix D (equations 1 to 3) and Table 3. An item has a positive and a negative caption (C0, C1) and
image (I0, I1), and makes four questions:

    i_pos2t   given I0, is C0 chosen over C1       t_pos2i   given C0, is I0 chosen over I1
    i_neg2t   given I1, is C1 chosen over C0       t_neg2i   given C1, is I1 chosen over I0

I2T is right where both questions about an image are, T2I where both about a caption are, Group where all four are. An
equal score is no choice: a tie is not right. All shares are between 0 and 1.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

QUESTIONS = ("i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i")
NEEDS = {"i2t": QUESTIONS[:2], "t2i": QUESTIONS[2:], "group": QUESTIONS, **{name: (name,) for name in QUESTIONS}}
MEASURES = tuple(NEEDS)  # in the order of the paper's Table 3

# What random scores s(C, I) come to (Table 3, first row). The four comparisons of one item share their scores, which is
# why Group is 1/6; somebody who tosses a coin four times comes to 1/16.
CHANCE = {"i2t": 1 / 4, "t2i": 1 / 4, "group": 1 / 6, **dict.fromkeys(QUESTIONS, 1 / 2)}

Z = 1.959963984540054  # of the normal distribution, two-sided 95 %
NOTHING = "no item has all the answers that this needs"


@dataclass(frozen=True, slots=True)
class Answered:
    """An item's four questions: right (True), not right (False: wrong, a tie, refused), or not answered yet (None)."""

    i_pos2t: bool | None = None
    i_neg2t: bool | None = None
    t_pos2i: bool | None = None
    t_neg2i: bool | None = None
    type: str = ""
    subtype: str = ""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`right` of `n` items as a share, with its 95 % interval (Wilson 1927); None where n is 0, and `reason` says why.

    The interval takes the items as independent draws.
    """

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None
    chance: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of a type, or of one of its subtypes; `subtype` None: all of the type."""

    type: str
    subtype: str | None
    items: int
    measures: dict[str, Accuracy]


def scored(scores: Sequence[Sequence[float]], type: str = "", subtype: str = "") -> Answered:
    """From similarities: `scores[c][i]` is s(C_c, I_i), a 2 × 2 table. A tie is not right, nor is anything with NaN."""
    (c0i0, c0i1), (c1i0, c1i1) = scores
    return Answered(c0i0 > c1i0, c1i1 > c0i1, c0i0 > c0i1, c1i1 > c1i0, type, subtype)


def right(item: Answered, measure: str) -> bool | None:
    """Whether the item is right by this measure; None unless every question that it needs is answered.

    An item with one wrong answer and one missing is left out too: to count it as wrong now, while an item with one
    right answer has to wait, would pull the figure down as long as work goes on.
    """
    answers = [getattr(item, name) for name in NEEDS[measure]]
    return None if None in answers else all(answers)


def accuracy(items: Iterable[Answered], measure: str) -> Accuracy:
    """Over the items that have every answer that the measure needs."""
    found = [answer for answer in (right(item, measure) for item in items) if answer is not None]
    share = sum(found) / len(found) if found else None
    low, high = wilson(sum(found), len(found))
    return Accuracy(sum(found), len(found), share, low, high, CHANCE[measure], "" if found else NOTHING)


def accuracies(items: Iterable[Answered]) -> dict[str, Accuracy]:
    """Every measure by its name, in the order of `MEASURES`."""
    items = list(items)
    return {measure: accuracy(items, measure) for measure in MEASURES}


def by_type(items: Iterable[Answered]) -> list[Group]:
    """Each type and then its subtypes, in alphabetical order."""
    kinds: dict[str, dict[str, list[Answered]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        kinds[item.type][item.subtype].append(item)
    groups = []
    for kind, subtypes in sorted(kinds.items()):
        whole = [item for found in subtypes.values() for item in found]
        groups.append(Group(kind, None, len(whole), accuracies(whole)))
        groups += [Group(kind, name, len(found), accuracies(found)) for name, found in sorted(subtypes.items())]
    return groups


def wilson(right: int, n: int) -> tuple[float | None, float | None]:
    """The 95 % interval of a share: both ends, or None twice where n is 0.

    (p + z²/2n ± z √(p (1 − p)/n + z²/4n²)) / (1 + z²/n), with p = right/n (Wilson 1927; Brown, Cai, DasGupta 2001). It
    keeps within 0 and 1 and has a width where nobody, or everybody, was right.
    """
    if n == 0:
        return None, None
    share, square = right / n, Z * Z / n
    middle = share + square / 2
    half = Z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))
