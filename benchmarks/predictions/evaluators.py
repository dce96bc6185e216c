"""A model's scores from records of its answers, by the measures of each kind of evaluation. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.metrics import aro, hard_positive, sugarcrepe
from benchmarks.metrics.base import Figure, Group, Mean, Typed
from benchmarks.predictions.item_figures import compute, figures_of
from benchmarks.predictions.kinds import ARO, HARD_POSITIVE, KINDS, SUGARCREPE, Kind

Tree = Mapping[str, "Figure | Mean | Tree"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`figures` by name, in the paper's order; `parts`: further ones, nested by name; `groups`: by type and subtype.
    `n`: items, or retrieval queries. `notes`: caveats for readers, in sentences."""

    kind: str
    n: int
    figures: Mapping[str, Figure | Mean]
    groups: Sequence[Group] = ()
    parts: Tree = field(default_factory=dict)
    notes: Sequence[str] = ()


def of_family(items: Sequence[Typed], kind: Kind) -> Evaluation:
    """Compute the measures that the paper reports together, over all items and by type."""
    return Evaluation(kind.name, len(items), _figures(items, kind), kind.measured.by_type(items))


def _figures(items: Sequence[Typed], kind: Kind) -> dict[str, Figure | Mean]:
    return {name: compute(figure, items, kind) for name, figure in figures_of(kind).items()}


def _by_subtype(groups: Sequence[Group], type: str, measure: str) -> dict[str, Figure]:
    return {one.subtype: one.measures[measure] for one in groups if one.type == type and one.subtype is not None}


def of_hard_positives(items: Sequence[Typed], kind: Kind) -> Evaluation:
    found = of_family(items, kind)
    means = {name: of for name, of in hard_positive.means_of_subtypes(found.groups).items() if name}
    return Evaluation(kind.name, found.n, found.figures, found.groups, {"mean_of_subtypes": means})


def of_sugarcrepe(items: Sequence[Typed], kind: Kind) -> Evaluation:
    typed = all(sugarcrepe.subset(item.type, item.subtype) for item in items)
    groups = kind.measured.by_type(items)
    parts = [one for one in groups if one.subtype is not None] if typed else []
    subsets = {sugarcrepe.subset(one.type, one.subtype or ""): one.measures["accuracy"] for one in parts}
    figures = {name: figure for name, figure in _figures(items, kind).items() if name not in sugarcrepe.SUBSETS}
    notes = [] if typed else ["Subsets: not every item has a type and subtype."]
    others = [one for one in groups if one not in parts and one.type not in subsets]
    return Evaluation(kind.name, len(items), figures, others, {"subsets": subsets}, notes)


def missing_subsets(
    kind: Kind, found: Iterable[Typed], asked: Iterable[tuple[str, str]], alike: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """Yield which subsets of SugarCrepe the answers `found` lack, of those `asked` about; and which, because the model
    reads their captions `alike`. Both are types and subtypes of items."""
    if kind.name != SUGARCREPE.name:
        return
    there = {sugarcrepe.subset(one.type, one.subtype) for one in found}
    rest = ": overall and mean cover only the other subsets" if there else ""
    same, every = ({sugarcrepe.subset(*one) for one in some} - there for some in (alike, asked))
    for names, why in ((every - same, "is answered"), (same, "is scored, since the model reads their captions alike")):
        if lacking := [name for name in sugarcrepe.SUBSETS if name in names]:
            yield f"No item of {', '.join(lacking)} {why}{rest}."


def of_aro(items: Sequence[Typed], kind: Kind) -> Evaluation:
    groups = kind.measured.by_type(items)
    parts = {
        "relations": _by_subtype(groups, aro.RELATION, "caption"),
        "attribute_pairs": _by_subtype(groups, aro.ATTRIBUTION, "caption"),
        "order_tasks": _by_subtype(groups, aro.ORDER, "order"),
    }
    unnamed = sorted({*parts["relations"]} - aro.SPATIAL - aro.VERBS)
    notes = [f"Not in the paper's lists of spatial relations and verbs: {', '.join(unnamed)}."] if unnamed else []
    return Evaluation(kind.name, len(items), _figures(items, kind), (), parts, notes)


EVALUATORS: dict[str, Callable[[Sequence[Any], Kind], Evaluation]] = {
    **dict.fromkeys(KINDS, of_family),
    HARD_POSITIVE.name: of_hard_positives,
    SUGARCREPE.name: of_sugarcrepe,
    ARO.name: of_aro,
}
