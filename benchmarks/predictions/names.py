"""The names of measures in tables, for each kind of evaluation, with the chance level. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.naming import kind_name
from benchmarks.predictions.item_figures import figures_of
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, KINDS, SUGARCREPE, VISLA, Kind, chance_of_answers


@dataclass(frozen=True, slots=True)
class MeasureName:
    """`name` is the score's (docs/reference/evaluate.md); for `lower` measures, lower is better. `chance` is the share
    for random scores, `chance_in_both_orders` that for random answers to questions asked twice.
    """

    name: str
    short: str
    long: str
    chance: float
    chance_in_both_orders: float
    lower: bool = False


def _named(kind: Kind) -> list[MeasureName]:
    """Return the scores that tables show, as described in `metrics/` and `item_figures.py`."""
    found = []
    for name, figure in figures_of(kind).items():
        of = kind.measured.measures[figure.measure]
        part = figure.subtype and kind_name(figure.type, figure.subtype)
        words = figure.short or part or of.short, figure.long or of.long
        if figure.in_tables:
            found.append(MeasureName(name, *words, of.chance, chance_of_answers(kind, of, 2), of.lower))
    return found


NAMES: Mapping[str, Sequence[MeasureName]] = {kind.name: _named(kind) for kind in KINDS.values() if kind.family}
MAIN = {BIVLC.name: "group", VISLA.name: "t2t", HARD_POSITIVE.name: "augmented", SUGARCREPE.name: "overall"}
# Two measures for the axes of a chart of models, and one for the colour.
PLANE = {BIVLC.name: ("i2t", "t2i", "group"), VISLA.name: ("t2t", "i2t", "p2_n"),
         HARD_POSITIVE.name: ("original", "augmented", "brittleness")}  # fmt: skip
BY_TYPE = {SUGARCREPE.name: ("accuracy", "overall")}  # their groups have a different name for the score


def main_measure(kind: str) -> MeasureName:
    """Return the measure by which models are sorted."""
    return next(one for one in NAMES[kind] if one.name == MAIN.get(kind, NAMES[kind][0].name))


def measure_name(kind: str, name: str) -> MeasureName | None:
    return next((one for one in NAMES[kind] if one.name == name), None)
