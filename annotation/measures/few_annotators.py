"""Annotators who differ greatly from the others in a stage with too few annotators for tests.

A difference counts only by its size: nothing here is a test or claims significance. A person decides (law 7).
docs/reference/measures.md has the rules, docs/design/evidence.md how often annotators who work alike are listed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from operator import eq
from statistics import median

import numpy as np

from annotation.measures import agreement
from annotation.measures.judgments import JudgmentRow, Judgments, TaskKey
from annotation.measures.types import Figures
from annotation.protocols.base import NOMINAL, Projection, View

MOST_ANNOTATORS = 10  # with more, the tests of warning_signs.py have enough data
FROM = 10  # judgments, items or comparisons; twice as many comparisons among the others
FAR_APART = 0.3  # difference of the shares: 30 points
_FEWER_ANSWERS = 7  # at least this many common answers fewer than at the others' share
FAST_RATIO = 1 / 3  # of the others' time
PAIR_SHARE = 0.6  # two annotators who agree less often than this disagree
AGREEMENT, FAST = "agreement", "fast"

_Share = tuple[int, int]  # count and total
_Same = Callable[[str, str], bool]
_Answers = Mapping[TaskKey, Mapping[int, str]]  # by task, then by annotator


@dataclass(frozen=True, slots=True)
class Outlier:
    """One annotator's difference from the others; `size`, at most 1, orders outliers of a kind. Pages describe low
    agreement from counts they have for every annotator (dashboard/annotator_page.py), and speed by `words`.
    """

    kind: str  # AGREEMENT or FAST
    number: int
    size: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two annotators compared only with each other, who gave the same answer on `same` of `n` items."""

    first: int
    second: int
    same: int
    n: int


def few_annotators(rows: Iterable[JudgmentRow], view: Projection) -> Figures:
    """Return a stage's `outliers`, lowest agreement first, then the fastest, and `pairs` who disagree; JSON-able.

    `rows` are all judgments of the stage; only those that count are used. `view` is the answer to compare; on a scale,
    neighbouring answers count as the same. Both lists are empty if there are more than `MOST_ANNOTATORS`.
    """
    given = Judgments.of(rows)
    standing = given[given.is_judge & given.counted & given.live]
    judged = np.unique(standing.annotator).tolist()
    if len(judged) > MOST_ANNOTATORS:
        return {"outliers": [], "pairs": []}
    counted = list(standing)
    answers: dict[TaskKey, dict[int, str]] = defaultdict(dict)
    for row in counted:
        said = view(row.answer)
        if not isinstance(view, View) or view.on_scale(said):
            answers[row.task][row.annotator] = said
    near = _near(view)
    found = [*_low_agreement(answers, judged, near), *_fast(counted)]
    pairs = disagreeing_pairs(answers, near or eq)
    return {"outliers": [asdict(one) for one in found], "pairs": [asdict(one) for one in pairs]}


def _near(view: Projection) -> _Same | None:
    """Return a function that tests whether two answers on a scale count as the same; None without a scale."""
    if not isinstance(view, View) or view.scale.level == NOMINAL:
        return None
    scale = view.scale
    return lambda one, other: agreement.agrees_on_scale(scale, one, [other]) is not False


def _low_agreement(answers: _Answers, people: Sequence[int], near: _Same | None) -> list[Outlier]:
    """Find outliers by the most common answers if enough items have three or more judgments, otherwise by pairs; on a
    scale always by pairs.
    """
    if near:
        return sorted(outliers_by_pairs(pair_counts(answers, near)), key=lambda one: (-one.size, one.number))
    shares = with_most_common(answers)
    found = outliers_by_most_common(shares)
    if len(shares) < len(people):
        named = {*shares, *(one.number for one in found)}
        found += [one for one in outliers_by_pairs(pair_counts(answers)) if one.number not in named]
    return sorted(found, key=lambda one: (-one.size, one.number))


# For items that three or more judged


def with_most_common(answers: _Answers) -> dict[int, _Share]:
    """Return how often each annotator with `FROM` items or more gave the most common answer.

    Items with fewer than three answers or with a tie do not count. The annotator's own answer counts too: without it,
    one of three annotators would be compared only if the other two agree.
    """
    same: Counter[int] = Counter()
    n: Counter[int] = Counter()
    for given in answers.values():
        common = Counter(given.values()).most_common(2)
        if len(given) < 3 or (len(common) > 1 and common[0][1] == common[1][1]):
            continue
        n.update(given.keys())
        same.update(number for number, answer in given.items() if answer == common[0][0])
    return {number: (same[number], n[number]) for number in sorted(n) if n[number] >= FROM}


def outliers_by_most_common(shares: Mapping[int, _Share]) -> list[Outlier]:
    """Return those whose share is far below the median of the others' shares. Needs three annotators."""
    found = []
    for number, (same, n) in shares.items():
        others = [other / of for one, (other, of) in shares.items() if one != number]
        if len(others) >= 2 and _is_far_below(same, n, median(others)):
            found.append(Outlier(AGREEMENT, number, median(others) - same / n))
    return found


def _is_far_below(same: int, n: int, others: float) -> bool:
    return others - same / n >= FAR_APART - 1e-9 and others * n - same >= _FEWER_ANSWERS - 1e-9


# For items that two judged


def pair_counts(answers: _Answers, same_as: _Same = eq) -> dict[tuple[int, int], _Share]:
    """Return how often each two annotators gave the same answer, out of the items both judged."""
    found: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for given in answers.values():
        for pair in combinations(sorted(given), 2):
            found[pair][0] += same_as(given[pair[0]], given[pair[1]])
            found[pair][1] += 1
    return {pair: (same, n) for pair, (same, n) in sorted(found.items())}


def outliers_by_pairs(pairs: Mapping[tuple[int, int], _Share]) -> list[Outlier]:
    """Return those who agree with the others far less often than the others agree among themselves.

    The annotator with the lowest agreement is compared first and, if far below, left out of the other comparisons,
    because one careless annotator lowers everybody's agreement. Needs three annotators.
    """
    left, out = {number for pair in pairs for number in pair}, []
    while len(left) > 2:
        shares = {number: _pooled(pairs, left, number) for number in sorted(left)}
        shares = {number: (same, n) for number, (same, n) in shares.items() if n >= FROM}
        if not shares:
            break
        number = min(shares, key=lambda one: shares[one][0] / shares[one][1])
        among, n = _pooled(pairs, left - {number})
        if n < 2 * FROM or not _is_far_below(*shares[number], among / n):
            break
        out.append((number, shares[number]))
        left.remove(number)
    among, n = _pooled(pairs, left)
    found = []
    for number, then in out:
        with_rest = _pooled(pairs, left | {number}, number)
        same, of = with_rest if with_rest[1] else then
        found.append(Outlier(AGREEMENT, number, among / n - same / of))
    return found


def _pooled(pairs: Mapping[tuple[int, int], _Share], among: set[int], number: int | None = None) -> _Share:
    """Sum over the pairs within `among`; with `number`, only over that annotator's pairs."""
    found = [share for pair, share in pairs.items() if set(pair) <= among and (number is None or number in pair)]
    return sum(same for same, _ in found), sum(n for _, n in found)


def disagreeing_pairs(answers: _Answers, same_as: _Same = eq) -> Iterator[Pair]:
    """Yield annotators compared only with each other, on `FROM` items or more, who agree on less than `PAIR_SHARE`.

    Their answers do not show which of them is right.
    """
    pairs = pair_counts(answers, same_as)
    partners = Counter(number for pair in pairs for number in pair)
    for (first, second), (same, n) in pairs.items():
        if partners[first] == partners[second] == 1 and n >= FROM and same / n < PAIR_SHARE:
            yield Pair(first, second, same, n)


# Speed


def _fast(counted: Iterable[JudgmentRow]) -> list[Outlier]:
    times: dict[int, list[int]] = defaultdict(list)
    for row in counted:
        if row.active_ms:
            times[row.annotator].append(row.active_ms)
    return fast_outliers({number: median(own) for number, own in times.items() if len(own) >= FROM})


def fast_outliers(times: Mapping[int, float]) -> list[Outlier]:
    """Return those whose typical time is under a third of the others', fastest first. `times` are medians in ms."""
    found = []
    for number, own in sorted(times.items(), key=lambda one: (one[1], one[0])):
        others = [time for one, time in times.items() if one != number]
        if others and own < FAST_RATIO * median(others):
            words = f"{own / 1000:.1f} s per screen, the others {median(others) / 1000:.1f} s"
            found.append(Outlier(FAST, number, 1 - own / median(others), words))
    return found
