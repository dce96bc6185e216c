"""The items that a score covers, and what is measured of each: scores computed item by item. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.metrics import aro, base, sugarcrepe
from benchmarks.metrics.base import Figure, Mean, Typed
from benchmarks.predictions.kinds import ARO, SUGARCREPE, Kind


@dataclass(frozen=True, slots=True)
class ItemFigure:
    """`measure` on the items of this type and subtype, or of one of these `subtypes`; on all if empty. `mean`: the
    plain mean over types and subtypes. `all_typed`: undefined if an item lacks type or subtype. `short` and `long`: its
    name in tables, and in words; the measure's own if empty. `in_tables`: whether tables of models show it.
    """

    measure: str
    type: str = ""
    subtype: str = ""
    subtypes: tuple[str, ...] = ()
    mean: bool = False
    all_typed: bool = False
    short: str = ""
    long: str = ""
    in_tables: bool = True

    def covers(self, item: Typed) -> bool:
        both = zip(sugarcrepe.parts(self.type, self.subtype), sugarcrepe.parts(item.type, item.subtype), strict=True)
        return all(own in ("", of) for own, of in both) and (not self.subtypes or item.subtype in self.subtypes)


OF_SUGARCREPE = {
    "overall": ItemFigure("accuracy"),
    "mean_of_subsets": ItemFigure("accuracy", mean=True, all_typed=True, short="Mean", long="of the subsets"),
    **{
        name: ItemFigure("accuracy", *sugarcrepe.parts(name, ""), all_typed=True, long="subset")
        for name in sugarcrepe.SUBSETS
    },
}
OF_ARO = {
    "relation": ItemFigure("caption", aro.RELATION, mean=True, short="Relation", long="mean of the relations"),
    "relation_overall": ItemFigure("caption", aro.RELATION, in_tables=False),
    "spatial": ItemFigure(
        "caption",
        aro.RELATION,
        subtypes=tuple(sorted(aro.SPATIAL)),
        mean=True,
        short="Spatial",
        long="mean of the spatial relations",
    ),
    "verbs": ItemFigure(
        "caption", aro.RELATION, subtypes=tuple(sorted(aro.VERBS)), mean=True, short="Verbs", long="mean of the verbs"
    ),
    "attribution": ItemFigure(
        "caption", aro.ATTRIBUTION, mean=True, short="Attribution", long="mean of the attribute pairs"
    ),
    "attribution_overall": ItemFigure("caption", aro.ATTRIBUTION, in_tables=False),
    "order": ItemFigure("order", aro.ORDER),
}
OTHERS: Mapping[str, Mapping[str, ItemFigure]] = {SUGARCREPE.name: OF_SUGARCREPE, ARO.name: OF_ARO}


def figures_of(kind: Kind) -> Mapping[str, ItemFigure]:
    """Return scores' definitions by name, in the paper's order."""
    return OTHERS.get(kind.name) or {name: ItemFigure(name) for name in kind.measured.measures}


def compute(figure: ItemFigure, records: Sequence[Typed], kind: Kind) -> Figure | Mean:
    """Compute the score over the items with these records."""
    if figure.all_typed and not _typed(records):
        records = ()
    covered = [one for one in records if figure.covers(one)]
    if not figure.mean:
        return kind.measured.accuracy(covered, figure.measure)
    groups = [group for group in kind.measured.by_type(covered) if group.subtype is not None]
    chance = kind.measured.measures[figure.measure].chance
    return base.mean((group.measures[figure.measure] for group in groups), chance)


def verdicts(figure: ItemFigure, records: Mapping[int, Typed], kind: Kind) -> dict[int, bool]:
    """Return whether each item that the score covers, and that has all its answers, is right."""
    if figure.all_typed and not _typed(records.values()):
        return {}
    found = {item: kind.measured.right(one, figure.measure) for item, one in records.items() if figure.covers(one)}
    return {item: right for item, right in found.items() if right is not None}


def _typed(records: Iterable[Typed]) -> bool:
    return all(sugarcrepe.subset(one.type, one.subtype) for one in records)
