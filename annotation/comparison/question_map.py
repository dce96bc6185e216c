"""Map a stage's question to a model's questions, and tell whether people answered correctly. Pure.

A stage asks people about an item by its protocol; a model answers the questions of an evaluation
(`benchmarks/predictions/kinds.py`). If a stage's question corresponds to several of a model's, the model is right only
if all of them are. A stage that is not listed asks a question that no evaluation asks.
"""

from collections.abc import Callable, Mapping, Sequence

from annotation.measures.papers.rank import is_right, ranks
from annotation.protocols import visla_triplet
from annotation.protocols.registry import protocol_named
from benchmarks.predictions.kinds import ARO, BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA

ModelQuestions = Mapping[str, tuple[str, ...]]  # kind of evaluation → its questions

# By protocol and question. `verify` asks whether a caption is true of its image; a model affirms that by scoring it
# above the other caption.
SAME: Mapping[tuple[str, str], ModelQuestions] = {
    ("bivlc-i2t", "positive"): {BIVLC.name: ("i_pos2t",), SUGARCREPE.name: ("caption",)},
    ("bivlc-i2t", "negative"): {BIVLC.name: ("i_neg2t",)},
    ("bivlc-t2i", "positive"): {BIVLC.name: ("t_pos2i",)},
    ("bivlc-t2i", "negative"): {BIVLC.name: ("t_neg2i",)},
    ("bivlc-disambiguate", ""): {BIVLC.name: ("t_pos2i",)},
    ("hard-positive-rank", ""): {HARD_POSITIVE.name: ("original", "hard_positive")},
    ("visla-triplet", ""): {VISLA.name: ("t2t",)},
    ("verify", "positive"): {
        BIVLC.name: ("i_pos2t",), SUGARCREPE.name: ("caption",), ARO.name: ("caption",), VISLA.name: ("p1_n",),
        HARD_POSITIVE.name: ("original",),
    },
    ("verify", "negative"): {BIVLC.name: ("i_neg2t",)},
}  # fmt: skip


def asked_in(protocol: str) -> dict[str, ModelQuestions]:
    """Return this protocol's questions that models answer too; empty if there are none."""
    return {question: asked for (name, question), asked in SAME.items() if name == protocol}


# The outcome if people answer correctly; None: neither. Models did not see a triplet that people edited.
READ: Mapping[str, Callable[[str], bool | None]] = {
    "bivlc-disambiguate": lambda outcome: outcome == "positive-0",
    "hard-positive-rank": lambda outcome: is_right(outcome) if ranks(outcome) else None,
    "visla-triplet": {visla_triplet.VALID: True, visla_triplet.DROPPED: False}.get,
    "verify": {"yes": True, "no": False}.get,
}


def people_right(protocol: str, question: str, options: Sequence[str], outcome: str) -> bool | None:
    """Return whether a task's outcome is right according to the material; None if neither applies: no outcome, cannot
    judge, or an answer about a text that models did not see."""
    if not outcome or outcome == "cannot_judge":
        return None
    if protocol in READ:
        return READ[protocol](outcome)
    right = protocol_named(protocol).right_answer(question, options)
    return outcome == right if right else None
