"""The names of measures in tables, for each kind of evaluation, with the chance level. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.metrics import sugarcrepe
from benchmarks.predictions.item_figures import figures_of
from benchmarks.predictions.kinds import (
    ARO,
    BIVLC,
    HARD_POSITIVE,
    SUGARCREPE,
    VISLA,
    Kind,
    chance_in_both_orders,
)


@dataclass(frozen=True, slots=True)
class MeasureName:
    """`name` is the figure's (docs/reference/evaluate.md); for `lower` measures, lower is better. `chance` is the share
    of random scores, `chance_in_both_orders` that of random answers to questions asked twice.
    """

    name: str
    short: str
    long: str
    chance: float
    chance_in_both_orders: float
    lower: bool = False


def _named(kind: Kind, words: Mapping[str, tuple[str, str]], lower: Sequence[str] = ()) -> list[MeasureName]:
    figures, measures = figures_of(kind), kind.measured.measures
    rests_on = {name: measures[figures[name].measure] for name in words}
    return [
        MeasureName(name, *said, rests_on[name].chance, chance_in_both_orders(kind, rests_on[name]), name in lower)
        for name, said in words.items()
    ]


NAMES: Mapping[str, Sequence[MeasureName]] = {
    BIVLC.name: _named(BIVLC, {
        "i2t": ("I2T", "both images, image to text"),
        "t2i": ("T2I", "both captions, text to image"),
        "group": ("Group", "all four questions"),
        "i_pos2t": ("I pos→T", "given the positive image"),
        "i_neg2t": ("I neg→T", "given the negative image"),
        "t_pos2i": ("T pos→I", "given the positive caption"),
        "t_neg2i": ("T neg→I", "given the negative caption"),
    }),
    VISLA.name: _named(VISLA, {
        "t2t": ("T2T", "the positives are closest, text to text"),
        "t2t_p1_n": ("T2T P1-N", "given P2, P1 above N; P1 is written more like N"),
        "t2t_p2_n": ("T2T P2-N", "given P1, P2 above N; P1 is written more like N"),
        "i2t": ("I2T", "the negative comes last, image to text"),
        "p1_n": ("P1-N", "given the image, P1 above N"),
        "p2_n": ("P2-N", "given the image, P2 above N"),
    }),
    HARD_POSITIVE.name: _named(HARD_POSITIVE, {
        "original": ("Original", "the caption above the negative one"),
        "augmented": ("Augmented", "both positives above the negative one"),
        "brittleness": ("Brittleness", "one positive above the negative, the other below; lower is better"),
    }, lower=("brittleness",)),
    SUGARCREPE.name: _named(SUGARCREPE, {
        "overall": ("All", "over all rows"),
        "mean_of_subsets": ("Mean", "of the subsets"),
        **{name: (name.replace("_", " "), "subset") for name in sugarcrepe.SUBSETS},
    }),
    ARO.name: _named(ARO, {
        "relation": ("Relation", "mean of the relations"),
        "spatial": ("Spatial", "mean of the spatial relations"),
        "verbs": ("Verbs", "mean of the verbs"),
        "attribution": ("Attribution", "mean of the attribute pairs"),
        "order": ("Order", "above all four permutations"),
    }),
}  # fmt: skip
MAIN = {BIVLC.name: "group", VISLA.name: "t2t", HARD_POSITIVE.name: "augmented", SUGARCREPE.name: "overall"}
# Two measures for the axes of a chart of models, and one for the colour.
PLANE = {BIVLC.name: ("i2t", "t2i", "group"), VISLA.name: ("t2t", "i2t", "p2_n"),
         HARD_POSITIVE.name: ("original", "augmented", "brittleness")}  # fmt: skip
BY_TYPE = {SUGARCREPE.name: ("accuracy", "overall")}  # their groups have another name for the figure


def main_measure(kind: str) -> str:
    """The measure by which models are sorted."""
    return MAIN.get(kind, NAMES[kind][0].name)


def measure_name(kind: str, name: str) -> MeasureName | None:
    return next((one for one in NAMES[kind] if one.name == name), None)
