"""An evaluation as plain numbers, as scores with their intervals, and as a table to read. In percent. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.metrics.base import Figure, Mean
from benchmarks.predictions.evaluators import Evaluation, Tree

INTERVALS = {
    "wilson": "Wilson's 95% interval, items as independent draws",
    "mover": "95% interval of a mean of groups, from the Wilson interval of each (Zou, Huang and Zhang 2009)",
}


def as_json(found: Evaluation) -> dict[str, Any]:
    """Return plain numbers under the scores' names, n, by_type and by_subtype; the same with intervals, chance and
    counts under `figures`. Null means not asked."""
    types = {group.type: group for group in found.groups if group.subtype is None and group.type}
    subtypes = {f"{group.type}_{group.subtype}": group for group in found.groups if group.type and group.subtype}
    grouped = {"by_type": types, "by_subtype": subtypes}
    return {
        "kind": found.kind,
        **_plain({**found.figures, **found.parts}),
        "n": found.n,
        **{
            name: {key: {**_plain(group.measures), "n": group.items} for key, group in groups.items()}
            for name, groups in grouped.items()
        },
        "figures": {
            **_with_intervals({**found.figures, **found.parts}),
            **{
                name: {key: _with_intervals(group.measures) for key, group in groups.items()}
                for name, groups in grouped.items()
            },
        },
        "intervals": INTERVALS,
        "notes": list(found.notes),
    }


def _plain(tree: Tree) -> dict[str, Any]:
    return {name: _percent(of.share) if isinstance(of, Figure | Mean) else _plain(of) for name, of in tree.items()}


def _with_intervals(tree: Tree) -> dict[str, Any]:
    return {name: _figure(of) if isinstance(of, Figure | Mean) else _with_intervals(of) for name, of in tree.items()}


def _figure(figure: Figure | Mean) -> dict[str, Any]:
    fields = asdict(figure)
    shares = {name: _percent(fields.pop(name)) for name in ("share", "low", "high", "chance")}
    return {"percent": shares.pop("share"), **shares, **fields, "interval": figure.method}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


# A table to read


def as_lines(found: Evaluation) -> Iterator[str]:
    rows = [*_rows(found.figures, "")]
    for group in found.groups:
        if group.type and group.subtype != "":
            rows += _rows(group.measures, " ".join(filter(None, (group.type, group.subtype))))
    rows += _rows(found.parts, "")
    yield from _aligned([("", "%", "95 % interval", "chance", "n"), *rows])
    if not found.n:
        yield "No item is scored (n = 0)."
    yield from (f"Note: {note}" for note in found.notes)


def _rows(tree: Tree, before: str) -> Iterator[tuple[str, ...]]:
    """Yield name, value, interval, chance and n of each score that has items, nested ones below their parent."""
    for name, of in tree.items():
        path = f"{before} · {name}" if before else name
        if not isinstance(of, Figure | Mean):
            yield from _rows(of, path)
        elif of.n:
            value, low, high, chance = (f"{_percent(x):.2f}" for x in (of.share, of.low, of.high, of.chance))
            n = f"{of.n:,}" if isinstance(of, Figure) else f"{of.n:,} in {of.groups} groups"
            yield path, value, f"{low} to {high}", chance, n


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join((name.ljust(widths[0]), *right)).rstrip()
