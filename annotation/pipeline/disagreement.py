"""How far a task's counted answers differ, stored with the task to sort and filter lists of disagreements.

Reading every judgment of a stage instead would take seconds for a million of them (docs/design/scale.md).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import log2

from annotation.models import Task
from annotation.protocols.answers import agreement_key
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import AWAITING_ADJUDICATION, OPEN, Decision, Rule

KIND, OPTION = "kind", "option"  # what differs: the kind of answer, or only which option of one kind
PLACES = 6  # digits, so that equally split tasks get the same value


@dataclass(frozen=True, slots=True)
class Spread:
    """`entropy` in bits; `newest` is the last judgment. All are empty if nothing differs."""

    entropy: float = 0.0
    differs: str = ""
    newest: int | None = None


def entropy(counts: Iterable[int]) -> float:
    """Shannon entropy in bits: -Σ p log2 p over the shares of the counts, from 0 to log2 of their number."""
    counts = list(counts)
    return round(sum(count / sum(counts) * log2(sum(counts) / count) for count in counts), PLACES)


def spread(rule: Rule, given: Mapping[int, Answer]) -> Spread:
    """The disagreement among counted judgments. Answers are equal if their `protocols.answers.agreement_key` is;
    options that are votes for one thing (`Protocol.alike`) are different answers of one kind.
    """
    counts = Counter(agreement_key(rule.protocol, answer) for answer in given.values())
    if len(counts) < 2:
        return Spread()
    labels = {agreement_key(rule.protocol, answer): answer.label for answer in given.values()}
    alike = rule.alike(list(labels.values()))
    kinds = {"" if label in alike else key for key, label in labels.items()}
    return Spread(entropy(counts.values()), KIND if len(kinds) > 1 else OPTION, max(given))


def store_spread(task: Task, rule: Rule, given: Mapping[int, Answer]) -> None:
    """Write only if it has changed, so never while all agree. The caller has locked the row."""
    found = spread(rule, given)
    _write(task, **{field.name: getattr(found, field.name) for field in fields(found)})


def store_waiting(task: Task, decision: Decision) -> None:
    """Store whether the rule leaves the task to an adjudicator, on the same terms."""
    _write(task, waits=decision.state == OPEN and decision.reason == AWAITING_ADJUDICATION)


def _write(task: Task, **values: object) -> None:
    if values == {name: getattr(task, name) for name in values}:
        return
    Task.objects.filter(pk=task.pk).update(**values)
    for name, value in values.items():
        setattr(task, name, value)
