"""Answers to one question of a screen as numbers, and their means with 95 % intervals. Pure.

Judgments are counted ones of live tasks; those that say “cannot judge”, or have no value, have no part.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.measures.exact_tests import student_t_95
from annotation.measures.judgments import JudgmentRow
from annotation.measures.types import Figures
from annotation.protocols import answers
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.compile import in_own_names
from annotation.protocols.schema import ProtocolFile
from benchmarks.metrics.base import wilson

_ROUNDING = 1e-24  # what may be left of a variance that is 0, of a scale from 0 to 1


class Said(NamedTuple):
    """An answer to one question of a screen, in the file's words."""

    row: JudgmentRow
    value: str


class Scored(NamedTuple):
    """One judgment's contribution to a score."""

    item: int
    type: str
    subtype: str
    question: str
    value: float


@dataclass(frozen=True, slots=True)
class Range:
    """The ends between which values lie; `share`: each value is 0 or 1, and their mean a share."""

    least: float
    most: float
    share: bool = False


SHARE = Range(0.0, 1.0, share=True)


def said_to(file: ProtocolFile, address: str, rows: Iterable[JudgmentRow]) -> list[Said]:
    """Of those who were asked."""
    found = []
    for row in rows:
        if row.answer == CANNOT_JUDGE:
            found.append(Said(row, CANNOT_JUDGE))
        elif value := value_of(file, address, row.answer):
            found.append(Said(row, value))
    return found


def value_of(file: ProtocolFile, address: str, label: str) -> str:
    """What a stored answer, not *cannot judge*, says to one question, in the file's words; "" if it was not asked."""
    return answers.given(in_own_names(file, label), address, file)


def scored(one: Said, value: float) -> Scored:
    position, question, _ = one.row.task
    return Scored(position, one.row.type, one.row.subtype, question, value)


def broken_down(rows: Sequence[Scored], ends: Range) -> Figures:
    """`summary` of the `whole`, and a row for each type and subtype."""
    groups: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for row in rows:
        groups[row.type, row.subtype].append(row)
    by_type = [
        {"type": kind, "subtype": subtype, **summary(of, ends)} for (kind, subtype), of in sorted(groups.items())
    ]
    return {"whole": summary(rows, ends), "by_type": by_type}


def summary(rows: Sequence[Scored], ends: Range) -> Figures:
    """The mean of the judgments with its 95 % interval. Items are the sampling units: the standard error is that of a
    ratio (Cochran 1977, §6.4). Of a share, Wilson's interval for as many answers as carry that much information. Where
    the items of a mean are all alike, there is no error to estimate: the interval reaches to where the mean would be if
    as many items as n alike ones leave possible were at either end of the scale (`_unseen`).
    """
    of_item: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        of_item[row.item].append(row.value)
    n, judged = len(of_item), len(rows)
    if not judged:
        return {"value": None, "low": None, "high": None, "n_items": 0, "n_judgments": 0}
    value = math.fsum(row.value for row in rows) / judged
    squares = math.fsum((math.fsum(given) - value * len(given)) ** 2 for given in of_item.values())
    variance = squares * n / (n - 1) / judged**2 if n > 1 else 0.0
    is_alike = variance <= _ROUNDING * (ends.most - ends.least) ** 2
    low: float | None
    high: float | None
    if ends.share:
        effective = n if is_alike else min(judged, value * (1 - value) / variance)
        low, high = wilson(value * effective, effective)
    elif n < 2:
        low, high = None, None
    elif is_alike:
        low, high = value - _unseen(n) * (value - ends.least), value + _unseen(n) * (ends.most - value)
    else:
        away = student_t_95(n - 1) * math.sqrt(variance)
        low, high = max(ends.least, value - away), min(ends.most, value + away)
    return {"value": value, "low": low, "high": high, "n_items": n, "n_judgments": judged}


def _unseen(n: int) -> float:
    """The largest share of other items of which n items in a row show none with a probability of 2.5 %."""
    return 1 - math.pow(0.025, 1 / n)
