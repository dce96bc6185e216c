"""Measure how far a task's counted answers differ, stored with the task for sorting and filtering lists of
disagreements.

Reading every judgment of a stage instead would take seconds for a million of them (docs/design/scale.md).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log2
from statistics import fmean
from typing import Any

from annotation.models import Task
from annotation.protocols import marks
from annotation.protocols.answer_words import agreement_key
from annotation.protocols.base import BOXES, POINTS, RANK, SET, Answer, Scale, View
from annotation.protocols.decision_rule import AWAITING_ADJUDICATION, OPEN, Decision, Rule
from annotation.protocols.option_sets import chosen
from annotation.protocols.rankings import ranks_of
from annotation.sql import execute

KIND, OPTION = "kind", "option"  # whether the kind of answer differs, or only the option within one kind
_WRITE = """
UPDATE annotation_task SET entropy = %(entropy)s, differs = %(differs)s, newest = %(newest)s WHERE id = %(task)s
"""
PLACES = 6  # digits, so that equally split tasks get the same value


@dataclass(frozen=True, slots=True)
class Spread:
    """`entropy` in bits; `newest` is the last judgment. All are empty if nothing differs."""

    entropy: float = 0.0
    differs: str = ""
    newest: int | None = None


def entropy(counts: Iterable[int]) -> float:
    """Return the Shannon entropy in bits: -Σ p log2 p over the shares of the counts, from 0 to log2 of their number."""
    counts = list(counts)
    return round(sum(count / sum(counts) * log2(sum(counts) / count) for count in counts), PLACES)


def spread(rule: Rule, given: Mapping[int, Answer]) -> Spread:
    """Return the spread of counted judgments. Answers are equal if their `protocols.answer_words.agreement_key` is;
    options that are alike (`Protocol.alike`) are different answers of one kind. Answers to protocol files differ by
    scale: neighbours differ less than the ends.
    """
    counts = Counter(agreement_key(rule.protocol, answer) for answer in given.values())
    if len(counts) < 2:
        return Spread()
    labels = {agreement_key(rule.protocol, answer): answer.label for answer in given.values()}
    alike = rule.alike(list(labels.values()))
    kinds = {"" if label in alike else key for key, label in labels.items()}
    bits = entropy(counts.values())
    if rule.protocol.file:
        bits = _of_declared(rule, [answer.label for answer in given.values()]) or bits
    return Spread(bits, KIND if len(kinds) > 1 else OPTION, max(given))


def _of_declared(rule: Rule, labels: Sequence[str]) -> float:
    """Return the mean entropy of the answers to a protocol file's questions, each by its scale."""
    assert rule.protocol.file is not None
    views, names = rule.projections(), [one.name for one in rule.protocol.file.answers]
    asked = [views["answer"]] if len(names) == 1 else [views[name] for name in names if name in views]
    found = [_of_view(view, [view(label) for label in labels]) for view in asked if isinstance(view, View)]
    return round(fmean(found), PLACES) if found else 0.0


def _of_view(view: View, labels: Sequence[str]) -> float:
    """Return the entropy of being on the scale, plus the entropy of the place on it."""
    placed = [(one, tuple(view.on_scale(one))) for one in labels]
    on = [parts for _, parts in placed if parts]
    first = entropy(Counter("" if parts else f"not {one}" for one, parts in placed).values())
    if not on:
        return first
    columns = zip(*on, strict=True) if len(set(map(len, on))) == 1 else [on]
    inner = [_on_scale(view.scale, column) for column in columns]
    return first + len(on) / len(labels) * fmean(inner)


def _on_scale(scale: Scale, values: Sequence[Any]) -> float:
    """Return the mean entropy by distance: on an ordered scale, of being on one side of a step; for numbers, of a
    point, over all points between the ends; for rankings, of two options' order, over all pairs; for sets, of having
    chosen an option, over all options chosen by anybody. 1 for the two ends of a scale, opposite orders, or marks on a
    picture that have nothing in common.
    """
    if scale.order:
        places = [scale.order.index(one) for one in values]
        steps = range(1, len(scale.order))
        return fmean(entropy(Counter(place < step for place in places).values()) for step in steps)
    if scale.ends:
        there = sorted(map(float, values))
        below = ((scale.share(*pair), place) for place, pair in enumerate(pairwise(there), 1))
        return sum(share * entropy((place, len(there) - place)) for share, place in below)
    if scale.level in (POINTS, BOXES):
        return 1 - marks.mean_likeness(scale.level, values, scale.radius)
    if scale.level == RANK:
        ranks = [ranks_of(one) for one in values]
        pairs = list(combinations(sorted(ranks[0]), 2))
        if pairs and all(one.keys() == ranks[0].keys() for one in ranks):
            orders = ([(one[a] > one[b]) - (one[a] < one[b]) for one in ranks] for a, b in pairs)
            return fmean(entropy(Counter(of_pair).values()) for of_pair in orders)
    if scale.level == SET:
        sets = list(map(chosen, values))
        return fmean(entropy(Counter(one in of for of in sets).values()) for one in frozenset().union(*sets))
    return entropy(Counter(values).values())


def store_spread(task: Task, rule: Rule, given: Mapping[int, Answer]) -> None:
    """Store the spread only if it has changed, so never while everyone agrees. The caller has locked the row."""
    found = spread(rule, given)
    if found != Spread(task.entropy, task.differs, task.newest):
        task.entropy, task.differs, task.newest = found.entropy, found.differs, found.newest
        execute(_WRITE, task=task.pk, entropy=found.entropy, differs=found.differs, newest=found.newest)


def store_waiting(task: Task, decision: Decision) -> None:
    """Store whether the rule leaves the task to an adjudicator, on the same terms."""
    waits = decision.state == OPEN and decision.reason == AWAITING_ADJUDICATION
    if waits != task.waits:
        task.waits = waits
        Task.objects.filter(pk=task.pk).update(waits=waits)
