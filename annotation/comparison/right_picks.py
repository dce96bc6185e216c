"""Judgments that pick a known right answer: their share, and the model measure that asks the same question."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.figures.attributes import attributes_of
from annotation.figures.judgments import judgments_of
from annotation.measures import right_answers
from annotation.measures.judgments import JudgmentRow
from annotation.measures.papers import rank
from annotation.measures.scored import SHARE, Said, Scored, mean_of_groups, said_to, scored
from annotation.measures.types import Figures
from annotation.models import Stage
from annotation.protocols import schema
from annotation.protocols.registry import base_name, protocol_named
from annotation.protocols.schema import ProtocolFile
from benchmarks.metrics.base import by_type
from benchmarks.metrics.sugarcrepe import subset
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA
from benchmarks.predictions.names import MeasureName, measure_name

RANKS = "hard-positive-rank"
# By kind of evaluation: the measure that asks models the question people get about a caption and its foil
FOIL: Mapping[str, str] = {
    SUGARCREPE.name: "overall", BIVLC.name: "i_pos2t", VISLA.name: "p1_n", HARD_POSITIVE.name: "original",
}  # fmt: skip


def measure_of(stage: Stage, kind: str) -> MeasureName | None:
    """Return the model measure comparable with the stage's right picks."""
    if base_name(stage.protocol) == RANKS and kind == HARD_POSITIVE.name:
        return measure_name(kind, "augmented")
    return foil_measure(kind) if asks_about_the_foil(stage) else None


def foil_measure(kind: str) -> MeasureName | None:
    """Return the measure that asks models of that kind about a caption and its foil."""
    return measure_name(kind, FOIL[kind]) if kind in FOIL else None


def asks_about_the_foil(stage: Stage) -> bool:
    """Return whether the stage asks if the item's caption or its foil is true of the picture."""
    return is_about_the_foil(protocol_named(stage.protocol).made_from)


def is_about_the_foil(file: ProtocolFile | None) -> bool:
    """Return the same for a protocol file."""
    if file is None or len(file.right) != 1 or file.tasks != "item":
        return False
    ((name, right),) = file.right.items()
    answer = file.answer(name.partition(".")[0])
    return (
        isinstance(answer, schema.Pick)
        and not answer.many
        and set(answer.of) == {"captions.positive", "captions.negative"}
        and right == "positive"
    )


def right_picks(stage: Stage) -> list[Scored]:
    """Return 1 for each counted judgment that picks the known right answer, otherwise 0; [] if none is known."""
    protocol = protocol_named(stage.protocol)
    file = protocol.made_from
    if file is None or not (file.right or base_name(stage.protocol) == RANKS):
        return []
    given = judgments_of(stage)
    rows = list(given[given.is_judge & given.counted & given.live])
    if not file.right:
        return [_ranked(row) for row in rows]
    address = next(iter(file.right))
    right_of = right_answers.Rights(file, attributes_of(stage))
    return right_answers.right_rows(file, address, said_to(file, address, rows), right_of)


def _ranked(row: JudgmentRow) -> Scored:
    """Score a ranking; “cannot judge” is not right (measures/papers/rank.py)."""
    return scored(Said(row, row.answer), float(rank.is_right(row.answer)))


def share_of(*groups: Sequence[Scored]) -> dict[str, Any] | None:
    """Return the share of right picks, or the mean share of several groups, with the interval for other annotators like
    these, if the judgments show how annotators differ."""
    if not any(groups):
        return None
    found = mean_of_groups(groups, SHARE)
    return {"share": found["value"], "low": found["low"], "high": found["high"], "n": found["n_items"]}


def pick_figures(picks: Sequence[Scored], measure: str) -> Figures:
    """Summarise picks as `benchmarks.predictions.stored.summarize` summarises a model, with only that measure."""

    def measured(some: Sequence[Scored]) -> Figures:
        return {measure: share_of(some)}

    groups = [
        {"type": one.type, "subtype": one.subtype, "measures": one.measures}
        for one in by_type(picks, measured)
        if one.subtype != ""
    ]
    whole, subsets = measured(picks), defaultdict(list)
    for one in picks:
        subsets[subset(one.type, one.subtype)].append(one)
    if measure == FOIL[SUGARCREPE.name] and "" not in subsets:
        whole["mean_of_subsets"] = share_of(*subsets.values())
    return {"n": whole[measure]["n"], "measures": whole, "groups": groups, "notes": []}
