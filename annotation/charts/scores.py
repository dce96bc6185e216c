"""Figures for scores (measures/scores.py) by an attribute's values, with 95% intervals."""

from collections.abc import Iterator, Mapping, Sequence

from annotation.charts.study import ENDS, Column, Plot, Subject, describe_intervals
from annotation.measures.types import Figures

_Columns = Mapping[str, Column]  # by the key in the rows of measures/scores.py; n comes last
_BOTH: _Columns = {
    "low": ENDS[0], "high": ENDS[1], "over": Column("over", "95% over", "text"),
    "these_low": Column("these_low", "low, these annotators", "decimal"),
    "these_high": Column("these_high", "high, these annotators", "decimal"),
}  # fmt: skip
_MEANS: _Columns = {
    "value": Column("value", "mean", "decimal"), **_BOTH,
    "n_items": Column("items", "items"), "n_judgments": Column("n", "judgments"),
}  # fmt: skip
_STRENGTHS: _Columns = {
    "value": Column("value", "strength", "decimal"), **_BOTH,
    **{name: Column(name, name) for name in ("won", "ties", "lost")}, "n": Column("n", "comparisons"),
}  # fmt: skip


_DIFFERENCES: _Columns = {
    "value": Column("value", "difference", "decimal"), **_BOTH, "n_items": Column("n", "items of both"),
}  # fmt: skip
_APART: _Columns = {"value": Column("value", "difference", "decimal"), **_BOTH, "n": Column("n", "comparisons")}
_WHOSE = (
    " for other annotators like these; further columns have that for these annotators. If it is over items, both "
    "are the same, because the judgments do not show how annotators differ."
)


def score_plots(scores: Figures, of: Subject) -> Iterator[Plot]:
    """Plot each scored answer by each attribute, then strengths, then mean ranks."""
    for found in scores["answers"]:
        what = "Share" if found.get("is_share") else "Mean score"
        for name, rows in found.get("by", {}).items():
            titled = ("score", found["answer"], name, f"Score of “{found['answer']}” by {name}")
            caption = f"{what} of “{found['answer']}” by {name}, with 95% intervals{_WHOSE}"
            yield _plot(titled, caption, _MEANS, rows, of)
            apart = found["differences"].get(name, ())
            yield from _differences(("score", found["answer"], name, "score"), apart, _DIFFERENCES, of)
    for found in scores["strengths"]:
        titled = ("strength", found["answer"], found["over"], f"Strengths in “{found['answer']}” by {found['over']}")
        caption = (
            f"Bradley–Terry strength of each {found['over']} on the logit scale, with mean 0, and its 95% "
            f"interval{_WHOSE} Ties count as half a win."
        )
        if found["rows"]:
            yield _plot(titled, caption, _STRENGTHS, found["rows"], of)
        titled = ("strength", found["answer"], found["over"], "strength")
        yield from _differences(titled, found["differences"], _APART, of)
    for found in scores["mean_ranks"]:
        titled = ("rank", found["answer"], found["over"], f"Mean rank in “{found['answer']}” by {found['over']}")
        caption = f"Mean rank of each {found['over']} (1 is best), and its 95% interval{_WHOSE}"
        if found["rows"]:
            yield _plot(titled, caption, _MEANS, found["rows"], of)


def _differences(
    titled: tuple[str, str, str, str], rows: Sequence[Figures], columns: _Columns, of: Subject
) -> Iterator[Plot]:
    """Plot the difference of every two values of an attribute; `titled` ends with what differs."""
    kind, answer, name, what = titled
    if rows:
        title = f"Differences in {what} of “{answer}” by {name}"
        caption = f"The first {name}’s {what} minus the second’s, and its 95% interval{_WHOSE}"
        named = [{**row, "name": f"{row['first']} − {row['second']}"} for row in rows]
        yield _plot((f"{kind}-differences", answer, name, title), caption, columns, named, of)


def _plot(
    titled: tuple[str, str, str, str], caption: str, columns: _Columns, rows: Sequence[Figures], of: Subject
) -> Plot:
    """Make a plot; `titled` has the kind of figure, the answer, the attribute and the title."""
    kind, answer, name, title = titled
    *_, n = columns
    measured = [(row["name"], row["value"], row["low"], row["high"], row[n], "") for row in rows]
    cells = [[row["name"], *(row[key] for key in columns)] for row in rows]
    heads = [Column("name", name.replace("_", " "), "text"), *columns.values()]
    says = describe_intervals(title, measured)
    return Plot("intervals", f"{kind}-{answer}-{name}", title, caption, says, of, heads, cells)
