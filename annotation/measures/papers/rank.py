"""Results of hard-positive-rank as in the paper: how often people rank both positives above the negative. Pure.

Source: Hard Positive Truth §4.1, human performance. Two annotators rank the three captions of an example, ties allowed;
the example counts as right only if both give the right rank.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from annotation.measures.counts import ratio
from annotation.measures.papers.base import JudgedTask, share_with_interval, tasks_by_type
from annotation.measures.types import Figures
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.decision_rule import Rule
from annotation.protocols.rankings import ranks_of, weak_orders
from annotation.wording import pseudonym
from benchmarks.metrics.hard_positive import Answered

_POSITIVES, _NEGATIVE = ("positive", "second_positive"), "negative"
ROLES = (*_POSITIVES, _NEGATIVE)  # the order in which a label names tied roles


def ranks(label: str) -> dict[str, int]:
    """Map each role to its rank from 1, equal for ties; nothing if the label is not an order."""
    found = ranks_of(label)
    return found if set(found) == set(ROLES) else {}


def is_right(label: str) -> bool:
    """Return whether both positives are strictly above the negative (§4.1, equation 1). “Cannot judge” is not right."""
    rank = ranks(label)
    return bool(rank) and all(rank[one] < rank[_NEGATIVE] for one in _POSITIVES)


def figures(tasks: Sequence[JudgedTask], rule: Rule) -> Figures:
    return {
        **right_tasks(tasks),
        "by_type": [
            {"type": kind, "subtype": subtype, **right_tasks(found)} for kind, subtype, found in tasks_by_type(tasks)
        ],
        "annotators": annotators(tasks),
        "orders": _orders(tasks),
        "cannot_judge": sum(answer.label == CANNOT_JUDGE for task in tasks for answer in task.answers),
    }


def right_tasks(tasks: Sequence[JudgedTask]) -> Figures:
    """Return how many tasks with all their judgments are right; `waiting` counts the others."""
    ready = [task for task in tasks if _is_counted(task)]
    return {**share_with_interval(sum(map(_task_is_right, ready)), len(ready)), "waiting": len(tasks) - len(ready)}


def _is_counted(task: JudgedTask) -> bool:
    return len(task.judgments) >= task.overlap


def _task_is_right(task: JudgedTask) -> bool:
    """Return whether all its annotators rank both positives above the negative; “cannot judge” does not count."""
    return all(is_right(answer.label) for answer in task.answers)


def as_models_answer(tasks: Iterable[JudgedTask]) -> list[Answered]:
    """Turn each item with all its judgments into a model's scores, so that people and models are measured alike.

    Its annotators count as one, who ranks a positive caption above the negative if all of them do, below it if all of
    them do, and otherwise ties the two. So the augmented items are those right in `right_tasks`.
    """
    found = []
    for task in tasks:
        if _is_counted(task):
            given = [ranks(answer.label) for answer in task.answers]
            above, below = ([_all_rank(given, one, other) for one, other in pairs] for pairs in (_ABOVE, _BELOW))
            tied = not all(one or other for one, other in zip(above, below, strict=True))
            found.append(Answered(above[0], above[1], task.type, task.subtype, tied))
    return found


_ABOVE = [(positive, _NEGATIVE) for positive in _POSITIVES]
_BELOW = [(negative, positive) for positive, negative in _ABOVE]


def _all_rank(given: Sequence[dict[str, int]], one: str, other: str) -> bool:
    """Return whether each of these rankings puts `one` above `other`; an empty one does not."""
    return all(rank and rank[one] < rank[other] for rank in given)


def annotators(tasks: Sequence[JudgedTask]) -> list[Figures]:
    """Score each annotator's own judgments, regardless of others' on the same item."""
    given: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for task in tasks:
        for number, answer in task.judgments:
            given[number] += 1
            right[number] += is_right(answer.label)
    return [
        {"annotator": pseudonym(number), **share_with_interval(right[number], given[number])}
        for number in sorted(given)
    ]


def _orders(tasks: Sequence[JudgedTask]) -> list[Figures]:
    """Count the judgments for each of the 13 weak orders; the right ones come first."""
    given = Counter(answer.label for task in tasks for answer in task.answers)
    every = sorted(weak_orders(ROLES), key=lambda order: not is_right(order))
    n = sum(given[order] for order in every)
    return [
        {"order": order, "right": is_right(order), "judgments": given[order], "share": ratio(given[order], n)}
        for order in every
    ]
