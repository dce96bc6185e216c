"""The figures of scores (measures/scores.py): by a value of an attribute, with 95 % intervals."""

from collections.abc import Iterator, Mapping, Sequence

from annotation.charts.study import ENDS, Column, Plot, Subject, describe_intervals
from annotation.measures.types import Figures

_Columns = Mapping[str, Column]  # by the key in the rows of measures/scores.py; the last one is n
_MEANS: _Columns = {
    "value": Column("value", "mean", "decimal"), "low": ENDS[0], "high": ENDS[1],
    "n_items": Column("items", "items"), "n_judgments": Column("n", "judgments"),
}  # fmt: skip
_STRENGTHS: _Columns = {
    "value": Column("value", "strength", "decimal"), "low": ENDS[0], "high": ENDS[1],
    **{name: Column(name, name) for name in ("won", "ties", "lost")}, "n": Column("n", "comparisons"),
}  # fmt: skip


def score_plots(scores: Figures, of: Subject) -> Iterator[Plot]:
    """Of each answer with a score one for each attribute, then strengths, then mean ranks."""
    for found in scores["answers"]:
        what = "Share" if found.get("is_share") else "Mean score"
        for name, rows in found.get("by", {}).items():
            titled = ("score", found["answer"], name, f"Score of “{found['answer']}” by {name}")
            caption = f"{what} of “{found['answer']}” by {name}, with 95 % intervals over items."
            yield _plot(titled, caption, _MEANS, rows, of)
    for found in scores["strengths"]:
        titled = ("strength", found["answer"], found["over"], f"Strengths in “{found['answer']}” by {found['over']}")
        caption = (
            f"Bradley–Terry strength of each {found['over']} on the logit scale, with mean 0, and its 95 % "
            "interval; ties count as half a win."
        )
        if found["rows"]:
            yield _plot(titled, caption, _STRENGTHS, found["rows"], of)
    for found in scores["mean_ranks"]:
        titled = ("rank", found["answer"], found["over"], f"Mean rank in “{found['answer']}” by {found['over']}")
        caption = f"Mean rank of each {found['over']} (1 is best), and its 95 % interval over items."
        if found["rows"]:
            yield _plot(titled, caption, _MEANS, found["rows"], of)


def _plot(
    titled: tuple[str, str, str, str], caption: str, columns: _Columns, rows: Sequence[Figures], of: Subject
) -> Plot:
    """`titled` is the kind of figure, the answer, the attribute and the title."""
    kind, answer, name, title = titled
    *_, n = columns
    measured = [(row["name"], row["value"], row["low"], row["high"], row[n], "") for row in rows]
    cells = [[row["name"], *(row[key] for key in columns)] for row in rows]
    heads = [Column("name", name.replace("_", " "), "text"), *columns.values()]
    says = describe_intervals(title, measured)
    return Plot("intervals", f"{kind}-{answer}-{name}", title, caption, says, of, heads, cells)
