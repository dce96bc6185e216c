"""Results of sugarcrepe-compare as in the paper: which origin's negative is better, by type and criterion. Pure.

Source: SugarCrepe, App. E.2 and its Table 9.
"""

from collections import Counter
from collections.abc import Sequence

from annotation.measures.papers.base import JudgedTask, tasks_by_type
from annotation.measures.types import Figures
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.decision_rule import Rule
from annotation.protocols.values import TIE

QUESTIONS = ("sense", "fluency")  # in the order of their answers in a label
_UNNAMED = ("negative 1", "negative 2")  # if an item does not name its negatives' origins


def figures(tasks: Sequence[JudgedTask], rule: Rule) -> Figures:
    """Count judgments, not items: with an overlap above one, an item counts once per judgment."""
    named = _origins(tasks)
    rows = [
        row
        for kind, subtype, found in tasks_by_type(tasks)
        if subtype is None
        for row in _type_rows(kind, found, named)
    ]
    return {
        "origins": named,
        "rows": rows,
        "all": _type_rows("", tasks, named),
        "judgments": sum(len(task.judgments) for task in tasks),
        "cannot_judge": sum(answer.label == CANNOT_JUDGE for task in tasks for answer in task.answers),
    }


def _origins(tasks: Sequence[JudgedTask]) -> list[str]:
    """Return the origins in the order in which the items name them."""
    return list(dict.fromkeys(origin for task in tasks for origin in _origins_of_task(task)))


def _origins_of_task(task: JudgedTask) -> Sequence[str]:
    return task.origins if len(task.origins) == len(_UNNAMED) else _UNNAMED


def _type_rows(kind: str, tasks: Sequence[JudgedTask], named: Sequence[str]) -> list[Figures]:
    """Return a row for each criterion: `better` has a count for each origin, in the order of `named`."""
    counts: dict[str, Counter[str]] = {criterion: Counter() for criterion in QUESTIONS}
    for task in tasks:
        for answer in task.answers:
            for criterion, found in zip(QUESTIONS, _winners(answer.label, _origins_of_task(task)), strict=False):
                counts[criterion][found] += 1
    return [
        {
            "type": kind,
            "criterion": criterion,
            "better": [counts[criterion][origin] for origin in named],
            "tie": counts[criterion][TIE],
            "n": sum(counts[criterion].values()),
        }
        for criterion in QUESTIONS
    ]


def _winners(label: str, named: Sequence[str]) -> list[str]:
    """Map `negative-1/tie` to the second negative's origin and a tie; an answer without a comparison to nothing."""
    if label == CANNOT_JUDGE:
        return []
    return [TIE if one == TIE else named[int(one.rpartition("-")[2])] for one in label.split("/")]
