"""The input for a stage's statistics from papers: its live tasks, each with its judgments and outcome.

Pure; annotation/figures/paper.py reads the rows from the database.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from annotation.measures.counts import ratio
from annotation.measures.types import Figures
from annotation.protocols.base import Answer, AnswerContent
from annotation.protocols.decision_rule import Rule
from benchmarks.metrics.base import wilson

ROLES = ("positive", "second_positive", "negative")  # of the captions: the papers' P1, P2 and N
_NOTHING_COUNTED = "nothing is counted yet"


class CountedJudgment(NamedTuple):
    """A counted judgment."""

    annotator: int
    answer: Answer


class JudgedTask(NamedTuple):
    """A live task. `judgments` are in the order given; `state` is None while it is open.

    `texts` has the item's texts by identity, as earlier stages left them, and `edits` those made by annotators in this
    stage: `edit-17` → role → text. `origins` has the origin of each negative caption, by its position.
    """

    type: str
    subtype: str
    overlap: int
    judgments: Sequence[CountedJudgment] = ()
    state: str | None = None
    outcome: str = ""
    reason: str = ""
    by: str = ""
    content: AnswerContent = AnswerContent()
    texts: Mapping[str, str] = MappingProxyType({})
    edits: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    origins: Sequence[str] = ()

    @property
    def answers(self) -> list[Answer]:
        return [judgment.answer for judgment in self.judgments]

    def words(self, identity: str, role: str) -> str:
        """Return the text of that identity, if an annotator edited it."""
        return self.texts[identity] if identity in self.texts else self.edits[identity][role]


PaperFigures = Callable[[Sequence[JudgedTask], Rule], Figures]  # for one protocol: JSON-able, deterministic


def tasks_by_type(tasks: Iterable[JudgedTask]) -> Iterator[tuple[str, str | None, list[JudgedTask]]]:
    """Yield each type (its subtype None) and then its subtypes, in alphabetical order, with their tasks."""
    kinds: dict[str, dict[str, list[JudgedTask]]] = defaultdict(lambda: defaultdict(list))
    for task in tasks:
        kinds[task.type][task.subtype].append(task)
    for kind, subtypes in sorted(kinds.items()):
        yield kind, None, [task for found in subtypes.values() for task in found]
        yield from ((kind, name, found) for name, found in sorted(subtypes.items()))


def share_with_interval(right: int, n: int) -> Figures:
    """Return a share with its 95% interval (Wilson 1927); None with a `reason` if n is 0."""
    low, high = wilson(right, n)
    return {
        "right": right,
        "n": n,
        "share": ratio(right, n),
        "low": low,
        "high": high,
        "reason": "" if n else _NOTHING_COUNTED,
    }
