"""The basis of all measures: shares of items with their intervals, and means of shares. Pure.

A *question* about an item is right if certain scores are greater than others; a tie is not right. A *measure* is a
share of items, based on the answers to some of the item's questions.
"""

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Generic, Protocol, TypeVar

Z = 1.959963984540054  # of the normal distribution, two-sided 95%
INTERVAL_METHOD = "Wilson’s"  # for a share, as pages name it
TIED = "tied"  # field of records: two compared scores are equal, or the choice is not one of the options
NOTHING = "no item has all the answers that this needs"
Pairs = tuple[tuple[str, str], ...]  # names of scores: the first in each pair must be greater


@dataclass(frozen=True, slots=True)
class Figure:
    """`right` of `n` items as a share, with its 95% interval (Wilson 1927); None if n is 0, with the `reason`.

    The interval treats items as independent draws. `chance` is the expected share of random scores.
    """

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None
    chance: float
    reason: str = ""

    method: ClassVar[str] = "wilson"


@dataclass(frozen=True, slots=True)
class Mean:
    """The plain mean of the shares of `groups` non-empty groups with `n` items in total; None if there are none.

    Its 95% interval recovers each group's variance from its Wilson interval (MOVER; Zou, Huang and Zhang 2009, a linear
    function of binomial proportions), treating the groups as fixed: (p − l) and (u − p) of each, in quadrature, divided
    by the number of groups. It uses no resampling, and for one group equals Wilson's interval.
    """

    groups: int
    n: int
    share: float | None
    low: float | None
    high: float | None
    chance: float
    reason: str = ""

    method: ClassVar[str] = "mover"


class Typed(Protocol):
    """A record of an item's answers."""

    @property
    def type(self) -> str: ...

    @property
    def subtype(self) -> str: ...


Record = TypeVar("Record", bound=Typed)


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of a type, or of one of its subtypes; `subtype` None: all of the type."""

    type: str
    subtype: str | None
    items: int
    measures: dict[str, Figure]


def exactly_one(answers: Sequence[bool]) -> bool:
    return sum(answers) == 1


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure, described once for scores, tables, commands and releases.

    `needs`: the questions on which it is based; `rule`: how their answers decide the item. `untied`: items whose record
    is `tied` do not count. `chance`: the expected share of random scores. `short` and `long`: its name in tables, and
    in words. `lower`: lower is better.
    """

    needs: tuple[str, ...]
    chance: float
    short: str
    long: str
    rule: Callable[[Sequence[bool]], bool] = all
    untied: bool = False
    lower: bool = False


@dataclass(frozen=True)
class Family(Generic[Record]):
    """The measures that one paper reports together.

    `record` has a field for each of the `questions`, True, False or None (not answered), and `type` and `subtype`.
    `from_captions`: further fields, computed from an item's scores by name and its captions by role.
    """

    record: Callable[..., Record]
    questions: Mapping[str, Pairs]
    measures: Mapping[str, Measure]
    from_captions: Callable[[Mapping[str, float], Mapping[str, str]], dict[str, bool]] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Return every score that a question compares, once, in the order of the questions."""
        return tuple(dict.fromkeys(name for pairs in self.questions.values() for pair in pairs for name in pair))

    @property
    def notes_ties(self) -> bool:
        """Return whether records have the field `TIED`."""
        return any(measure.untied for measure in self.measures.values())

    def tied(self, scores: Mapping[str, Any]) -> Any:
        """Return whether two scores that a question compares are equal, as an array of n for arrays of n scores. A pair
        with a missing score is not; None if every pair has one."""
        pairs = (pair for pairs in self.questions.values() for pair in pairs if {*pair} <= scores.keys())
        found = [scores[one] == scores[other] for one, other in pairs]
        return reduce(operator.or_, found) if found else None

    def right(self, item: Record, measure: str) -> bool | None:
        """Return whether the item is right by this measure; None unless every question that it needs is answered.

        An item with one wrong answer and one missing is left out too: counting it as wrong now, while an item with one
        right answer has to wait, would bias the score while work is in progress.
        """
        asked = self.measures[measure]
        answers = [getattr(item, name) for name in asked.needs]
        return None if None in answers else asked.rule(answers) and not (asked.untied and getattr(item, TIED))

    def accuracy(self, items: Iterable[Record], measure: str) -> Figure:
        """Return the share over items that have every answer that the measure needs."""
        return figure((self.right(item, measure) for item in items), self.measures[measure].chance)

    def accuracies(self, items: Iterable[Record]) -> dict[str, Figure]:
        """Return every measure by its name, in the paper's order."""
        items = list(items)
        return {measure: self.accuracy(items, measure) for measure in self.measures}

    def by_type(self, items: Iterable[Record]) -> list[Group]:
        return by_type(items, self.accuracies)


def beats(scores: Mapping[str, Any], pairs: Pairs, ties: bool = False) -> Any:
    """Return whether the first score in each pair is greater: a tie is not, unless `ties` are right. None for missing
    scores.

    The result is a bool for numbers, an array of n for arrays of n scores.
    """
    if any(name not in scores for pair in pairs for name in pair):
        return None
    above = operator.ge if ties else operator.gt
    return reduce(operator.and_, [above(scores[one], scores[other]) for one, other in pairs])


def figure(verdicts: Iterable[bool | None], chance: float) -> Figure:
    """Return the share of True among values other than None."""
    found = [verdict for verdict in verdicts if verdict is not None]
    right, n = sum(found), len(found)
    low, high = wilson(right, n)
    return Figure(right, n, right / n if n else None, low, high, chance, "" if n else NOTHING)


def mean(parts: Iterable[Figure], chance: float) -> Mean:
    """Return the mean of the defined shares, with equal weights whatever their n."""
    shares, lower, upper, n = [], [], [], 0
    for part in parts:
        if part.share is not None and part.low is not None and part.high is not None:
            shares.append(part.share)
            lower.append(part.share - part.low)
            upper.append(part.high - part.share)
            n += part.n
    if not shares:
        return Mean(0, 0, None, None, None, chance, NOTHING)
    share = sum(shares) / len(shares)
    below, above = math.hypot(*lower) / len(shares), math.hypot(*upper) / len(shares)
    return Mean(len(shares), n, share, max(0.0, share - below), min(1.0, share + above), chance)


def by_type(items: Iterable[Record], measured: Callable[[list[Record]], dict[str, Figure]]) -> list[Group]:
    """Measure each type and then its subtypes, in alphabetical order."""
    kinds: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        kinds[item.type][item.subtype].append(item)
    groups = []
    for kind, subtypes in sorted(kinds.items()):
        whole = [item for found in subtypes.values() for item in found]
        groups.append(Group(kind, None, len(whole), measured(whole)))
        groups += [Group(kind, name, len(found), measured(found)) for name, found in sorted(subtypes.items())]
    return groups


def wilson(right: float, n: float) -> tuple[float | None, float | None]:
    """Return the 95% interval of a share: both ends, or None twice if n is 0.

    (p + z²/2n ± z √(p (1 − p)/n + z²/4n²)) / (1 + z²/n), with p = right/n (Wilson 1927; Brown, Cai, DasGupta 2001). It
    stays within 0 and 1, and has a positive width even if all or no answers are right.
    """
    if n == 0:
        return None, None
    share, square = right / n, Z * Z / n
    middle = share + square / 2
    half = Z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))
