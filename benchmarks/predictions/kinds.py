"""The kinds of evaluation: each one's possible questions about an item, and their answers. Pure.

A question is answered by a choice among its options, or by the scores that its metric compares (`benchmarks/metrics/`).
Names of scores are the metric's: `s(c0,i1)`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.metrics import aro, bivlc, hard_positive, sugarcrepe, visla
from benchmarks.metrics.base import Family, Measure

# Choices in addition to a question's options.
NONE = "none"  # none of them: a refusal, or an answer that does not name an option
RIGHT, WRONG = "right", "wrong"  # if the source only has whether the answer was correct

CAPTION_OF = re.compile(r"s\((.+/\d+)\)")  # a score's name in retrieval: s(ITEM/NUMBER)


@dataclass(frozen=True, slots=True)
class Question:
    """`right`: the correct option; `others`: the other options."""

    right: str
    others: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        return (self.right, *self.others)


@dataclass(frozen=True, slots=True)
class Kind:
    """`format`: the one in benchmarks/formats in which items of this kind are published. `family` is None for
    retrieval, where any caption may be scored for any image."""

    name: str
    title: str
    questions: Mapping[str, Question]
    family: Family[Any] | None
    format: str = "jsonl"

    @property
    def measured(self) -> Family[Any]:
        """Return the family of its metric. Raises ValueError for retrieval, which has none."""
        if self.family is None:
            raise ValueError(f"The kind {self.name} has no questions of its own.")
        return self.family

    @property
    def scores(self) -> tuple[str, ...]:
        return self.family.columns if self.family else ()

    def asks(self, measure: Measure) -> bool:
        """Return whether the measure needs only questions; VISLA's halves of T2T need scores and captions."""
        return {*measure.needs} <= {*self.questions}

    def scored(self, name: str) -> bool:
        """Return whether this is the name of a score."""
        return name in self.scores if self.family else bool(CAPTION_OF.fullmatch(name))


CAPTION, OTHER = Question("positive", ("negative",)), Question("negative", ("positive",))
OF_BIVLC = {"i_pos2t": CAPTION, "i_neg2t": OTHER, "t_pos2i": CAPTION, "t_neg2i": OTHER}
OF_VISLA = {"t2t": Question("p1_p2", ("p1_n", "p2_n")), "p1_n": Question("p1", ("n",)), "p2_n": Question("p2", ("n",))}
OF_HARD_POSITIVE = {"original": Question("c", ("cn",)), "hard_positive": Question("cp", ("cn",))}
OF_ARO = {"caption": CAPTION, "order": Question("positive", tuple(f"negative-{n}" for n in range(aro.PERMUTATIONS)))}

BIVLC = Kind("bivlc", "BiVLC", OF_BIVLC, bivlc.FAMILY, "bivlc-candidates")
VISLA = Kind("visla", "VISLA", OF_VISLA, visla.FAMILY, "visla")
HARD_POSITIVE = Kind(
    "hard_positive", "The Hard Positive Truth", OF_HARD_POSITIVE, hard_positive.FAMILY, "hard-positives"
)
SUGARCREPE = Kind("sugarcrepe", "SugarCrepe", {"caption": CAPTION}, sugarcrepe.FAMILY, "sugarcrepe")
ARO = Kind("aro", "ARO", OF_ARO, aro.FAMILY, "aro")
RETRIEVAL = Kind("retrieval", "Retrieval", {}, None)

KINDS: dict[str, Kind] = {kind.name: kind for kind in (BIVLC, VISLA, HARD_POSITIVE, SUGARCREPE, ARO, RETRIEVAL)}


def chance_of_answers(kind: Kind, measure: Measure, orders: int) -> float:
    """Return the share of items that random answers get right if each question is asked in `orders` orders of its
    options, and counts as right only if all answers are: in both, 1/4 for one question with two options, 1/256 for
    four. A measure with questions that are not asked keeps its chance level.
    """
    if not kind.asks(measure):
        return measure.chance
    each = [float(len(kind.questions[name].options)) ** -orders for name in measure.needs]
    if measure.rule is all:
        return math.prod(each)
    return math.fsum(one / (1 - one) for one in each) * math.prod(1 - one for one in each)  # exactly one


def of_answers(kind: Kind, orders: int) -> Kind:
    """Return the kind with each measure's chance level if its questions are asked in `orders` orders."""
    measures = kind.measured.measures
    chances = {name: replace(one, chance=chance_of_answers(kind, one, orders)) for name, one in measures.items()}
    return replace(kind, family=replace(kind.measured, measures=chances))
