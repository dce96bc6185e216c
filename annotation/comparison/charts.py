"""The figure of models and humans on the plane of two measures, with a third as colour. Pure."""

from collections.abc import Iterable, Sequence

from annotation.charts.study import Column, Plot, Subject
from annotation.comparison.table import HUMANS, REPORTED, Entry, of_whole
from benchmarks.predictions.names import PLANE, named

WORDS = {HUMANS: "humans", REPORTED: "reported"}


class OfBenchmark(Subject):
    """As a study's figures, of a benchmark."""

    def file(self, figure: str) -> str:
        return f"benchmark-{self.study}-{figure}"


def plane(kind: str, entries: Iterable[Entry], of: Subject) -> Plot | None:
    """None where the kind has no two measures to draw by, or nobody has both."""
    names = PLANE.get(kind)
    if names is None:
        return None
    across, up, colour = (named(kind, name) for name in names)
    rows = []
    for one in entries:
        values = [(of_whole(one, measure) or {}).get("share") for measure in (across, up, colour)]
        if None not in values[:2]:
            rows.append([one.title, *values, WORDS.get(one.stands, "models")])
    if not rows:
        return None
    rows.append(["Chance", across.chance, up.chance, colour.chance, "chance"])
    columns = [
        Column("name", "model", "text"), Column("x", across.short, "share"), Column("y", up.short, "share"),
        Column("colour", colour.short, "share"), Column("stands", "is", "text"),
    ]  # fmt: skip
    caption = f"{across.short} against {up.short}; the colour is {colour.short}. On the line both are equal."
    title = f"{across.short} and {up.short}"
    return Plot("scatter", "plane", title, caption, says(across.short, up.short, rows[:-1]), of, columns, rows)


def says(across: str, up: str, rows: Sequence[Sequence]) -> str:
    below = [row for row in rows if row[2] < row[1]]
    best = max(rows, key=lambda row: row[1] + row[2])
    return (
        f"{len(rows)} rows. {len(below)} have a lower {up} than {across}. "
        f"Highest in both together: {best[0]} with {across} {best[1]:.1%} and {up} {best[2]:.1%}."
    ).replace("%", " %")
