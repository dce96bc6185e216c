"""The charts of a comparison, pure.

One chart plots people and models by two measures, with a third as colour; another plots people's disagreement against
models' confidence.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from annotation.charts.study import Column, Plot, Subject, Value, describe_intervals
from annotation.comparison.disagreements_with_models import UNKNOWN, Table
from annotation.comparison.table import HUMANS, REPORTED, Entry, chances, of_whole
from annotation.wording import signed
from benchmarks.predictions.names import NAMES, PLANE
from benchmarks.runs.margins import spearman

WORDS = {HUMANS: "humans", REPORTED: "reported"}


class OfBenchmark(Subject):
    """A benchmark as the subject of a plot, with the same interface as for a study."""

    def file(self, figure: str) -> str:
        return f"benchmark-{self.study}-{figure}"


def plane(kind: str, entries: Iterable[Entry], of: Subject) -> Plot | None:
    """Plot two measures; None if the kind does not have two, or nobody has both."""
    if kind not in PLANE:
        return None
    named = {one.name: one for one in NAMES[kind]}
    across, up, colour = (named[name] for name in PLANE[kind])
    rows: list[list[Value]] = []
    shown = []
    for one in entries:
        values = [(of_whole(one, measure) or {}).get("share") for measure in (across, up, colour)]
        if None not in values[:2]:
            rows.append([one.title, *values, WORDS.get(one.stands, "models")])
            shown.append(one)
    if not rows:
        return None
    says = _says(across.short, up.short, rows, [not one.asked_in_both_orders for one in shown])
    rows += [[name, *levels, "chance"] for name, levels in chances(shown, (across, up, colour))]
    columns = [
        Column("name", "model", "text"), Column("x", across.short, "share"), Column("y", up.short, "share"),
        Column("colour", colour.short, "share"), Column("stands", "is", "text"),
    ]  # fmt: skip
    caption = f"{across.short} against {up.short}; the colour shows {colour.short}. On the line, both are equal."
    title = f"{across.short} and {up.short}"
    return Plot("scatter", "plane", title, caption, says, of, columns, rows)


def _says(across: str, up: str, rows: Sequence[Sequence], asked_once: Sequence[bool]) -> str:
    below = [row for row in rows if row[2] < row[1]]
    best = max(compress(rows, asked_once) if any(asked_once) else rows, key=lambda row: row[1] + row[2])
    return (
        f"{len(rows)} rows. {len(below)} have lower {up} than {across}. "
        f"Highest on both together: {best[0]} with {across} {best[1]:.1%} and {up} {best[2]:.1%}."
    )


def beside_people(rows: Sequence[Mapping[str, Any]], chance: float | None, of: Subject) -> Plot:
    """Plot people's and models' shares correct on items answered (people_and_models.Row), with chance as a line."""
    cells: list[list[Value]] = [
        [row["title"], row["all"]["share"], row["all"]["low"], row["all"]["high"], row["all"]["n"], ""] for row in rows
    ]
    columns = [
        Column("name", "row", "text"), Column("value", "right", "share"), Column("low", "95% from", "share"),
        Column("high", "to", "share"), Column("n", "items"), Column("note", "note", "text"),
    ]  # fmt: skip
    caption = "A dot for the share of items answered correctly, a line for its 95% interval."
    says = describe_intervals("Share answered correctly", [(*cell[:5], "") for cell in cells])  # type: ignore[misc]
    mark = None if chance is None else (f"models that guess, {100 * chance:.1f}%", chance)
    return Plot("intervals", "share-right", "How often each answers correctly", caption, says, of, columns, cells, mark)


MOST = 500  # plotted tasks; a table of thousands would be useless
PEOPLE: Mapping[int, str] = {1: "right", 0: "wrong", UNKNOWN: "undecided"}


def margins(found: Table, of: Subject) -> Plot:
    """Plot tasks that some model answered with a margin: people's entropy against the models' mean margin."""
    there = np.flatnonzero(np.isfinite(found.margin))
    margin, entropy, people = found.margin[there], found.entropy[there], found.people[there]
    step = max(1, -(-len(there) // MOST))
    drawn = range(0, len(there), step)
    rows: list[list[Value]] = [[float(entropy[n]), float(margin[n]), PEOPLE[int(people[n])]] for n in drawn]
    columns = [
        Column("entropy", "people’s entropy, bits", "decimal"),
        Column("margin", "models’ margin", "decimal"),
        Column("people", "people", "text"),
    ]
    caption = "One dot per task: how much its annotators disagree, and how much models prefer the right option."
    if step > 1:
        caption += f" Shown: {len(rows):,} of {len(there):,}, every {step}th in item order."
    says = f"{len(there):,} tasks. {_correlated(entropy, margin)}"
    return Plot("margins", "margins", "People’s entropy and models’ margin", caption, says, of, columns, rows)


def _correlated(entropy: np.ndarray, margin: np.ndarray) -> str:
    found = spearman(entropy, margin)
    if found is None:
        return "No rank correlation, which needs four tasks and annotators who disagree on some of them."
    rho, low, high = (signed(value, 2) for value in found)
    return f"Spearman’s rank correlation is {rho} (95% from {low} to {high}), n = {len(entropy):,}."
