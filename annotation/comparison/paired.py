"""Compare two runs item by item: every measure of their kind, on the items that both answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import cache

from annotation.measures.paired import Paired, compare
from benchmarks.metrics.base import Typed
from benchmarks.models import Run, RunOrigin
from benchmarks.predictions.item_figures import ItemFigure, figures_of, verdicts
from benchmarks.predictions.kinds import KINDS, Kind
from benchmarks.predictions.names import measure_name
from benchmarks.runs import figures as run_figures

VERSION = 1  # version of the rows: increase it when they change


@dataclass(frozen=True, slots=True)
class Row:
    """A row over all items if `type` is empty, or over a whole type if `subtype` is None. `lower` is better."""

    type: str
    subtype: str | None
    measure: str
    short: str
    lower: bool
    found: Paired


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with answers, newest first."""
    return [run for run in reversed(runs) if run.origin != RunOrigin.REPORTED]


def chosen(runs: Sequence[Run], given: Mapping[str, str]) -> list[Run]:
    """Return the two different runs named in the address, or none."""
    by_number = {str(run.pk): run for run in runs}
    found = [by_number[number] for name in ("first", "second") if (number := given.get(name, "")) in by_number]
    return found if len({run.pk for run in found}) == 2 else []


def rows_of(runs: Sequence[Run], by_type: bool = False) -> list[Row]:
    """Compare two runs: every score over all items; with `by_type`, also every measure by type and subtype. Runs never
    change, so rows are cached.
    """
    first, second = runs
    at = run_figures.withdrawn_at([first])
    key = f"paired:{VERSION}:{by_type}:{run_figures.key(first, at)}:{run_figures.key(second, at)}"
    return cache.get_or_set(key, lambda: _rows(first, second, by_type), run_figures.KEEP) or []


def _rows(first: Run, second: Run, by_type: bool) -> list[Row]:
    kind, answers = KINDS[first.kind], run_figures.records_of([first, second])
    sides = answers[first.pk], answers[second.pk]
    rows = []
    for name, figure in figures_of(kind).items():
        groups = {item: (one.type, one.subtype) for item, one in sides[0].items()} if figure.mean else None
        rows += _row(kind, name, figure, sides, groups)
    records = sides[0].values() if by_type else ()
    parts = {(one.type, subtype) for one in records for subtype in (None, one.subtype) if one.type}
    for type, subtype in sorted(parts, key=lambda part: (part[0], part[1] is not None, part[1] or "")):
        for name in kind.measured.measures:
            own = [{item: one for item, one in side.items() if one.type == type} for side in sides]
            figure = ItemFigure(name, type, subtype or "")
            if subtype != "":
                rows += _row(kind, name, figure, own, None, type, subtype)
    return rows


def _row(
    kind: Kind, name: str, figure: ItemFigure, sides: Sequence[Mapping[int, Typed]], groups: Mapping | None,
    type: str = "", subtype: str | None = None,
) -> list[Row]:  # fmt: skip
    """Return one row, or None if no item has answers from both."""
    first, second = (verdicts(figure, side, kind) for side in sides)
    found = compare(first, second, groups)
    named = measure_name(kind.name, name)
    short = named.short if named else name.replace("_", " ").capitalize()
    return [Row(type, subtype, name, short, bool(named and named.lower), found)] if found else []
