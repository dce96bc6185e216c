"""The figures of scores (measures/scores.py): by a value of an attribute, with 95 % intervals."""

from collections.abc import Iterator

from annotation.charts.study import Column, Plot, Subject, describe_intervals
from annotation.measures.types import Figures

_ENDS = (Column("value", "mean", "decimal"), Column("low", "95 % from", "decimal"), Column("high", "to", "decimal"))
_MEAN_COLUMNS = (*_ENDS, Column("items", "items"), Column("n", "judgments"))
_MEAN_KEYS = ("value", "low", "high", "n_items", "n_judgments")
_STRENGTH_COLUMNS = (
    Column("value", "strength", "decimal"), *_ENDS[1:], Column("won", "won"), Column("ties", "ties"),
    Column("lost", "lost"), Column("n", "comparisons"),
)  # fmt: skip
_STRENGTH_KEYS = ("value", "low", "high", "won", "ties", "lost", "n")


def score_plots(scores: Figures, of: Subject) -> Iterator[Plot]:
    """Of each answer with a score one for each attribute, then strengths, then mean ranks."""
    for found in scores["answers"]:
        for name, rows in found.get("by", {}).items():
            what = "Share" if found["is_share"] else "Mean score"
            caption = f"{what} of “{found['answer']}” by {name}, with 95 % intervals over items."
            yield _plot("score", found["answer"], name, caption, (_MEAN_COLUMNS, _MEAN_KEYS), rows, of)
    for found in scores["strengths"]:
        if found["rows"]:
            caption = (
                f"Bradley–Terry strength of each {found['over']} on the logit scale, with mean 0, and its 95 % "
                "interval; ties count as half a win."
            )
            strength = _STRENGTH_COLUMNS, _STRENGTH_KEYS
            yield _plot("strength", found["answer"], found["over"], caption, strength, found["rows"], of)
    for found in scores["mean_ranks"]:
        if found["rows"]:
            caption = f"Mean rank of each {found['over']} (1 is best), and its 95 % interval over items."
            means = _MEAN_COLUMNS, _MEAN_KEYS
            yield _plot("rank", found["answer"], found["over"], caption, means, found["rows"], of)


_TITLES = {"score": "Score of “{}” by {}", "strength": "Strengths in “{}” by {}", "rank": "Mean rank in “{}” by {}"}


def _plot(
    kind: str, answer: str, name: str, caption: str, parts: tuple[tuple[Column, ...], tuple[str, ...]],
    rows: list[Figures], of: Subject,
) -> Plot:  # fmt: skip
    columns, keys = parts
    measured = [(row["name"], row["value"], row["low"], row["high"], row[keys[-1]], "") for row in rows]
    title = _TITLES[kind].format(answer, name)
    cells = [[row["name"], *(row[key] for key in keys)] for row in rows]
    named = Column("name", name.replace("_", " "), "text")
    says = describe_intervals(title, measured)
    return Plot("intervals", f"{kind}-{answer}-{name}", title, caption, says, of, [named, *columns], cells)
