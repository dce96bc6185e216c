"""Figures for pages and papers, each with its caption, its table and a description in words.

static/js/charts/plots.js draws a figure from the table below it (templates/components/_plot.html), so a `Plot` holds
every number once. One function makes each figure from what `figures` computed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from annotation.charts.bars import funnel_bars
from annotation.measures.agreement_measures import chief_on
from annotation.measures.types import Figures
from annotation.protocols.base import NOMINAL
from annotation.protocols.registry import title_of
from annotation.wording import counted, readable_label, signed
from benchmarks.naming import kind_name

_MANY = 12  # a sentence names up to this many rows

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Subject:
    """What a figure shows: a study or one of its stages, as of a moment (ISO 8601)."""

    study: int
    name: str
    at: str
    stage: int | None = None
    stage_name: str = ""

    @property
    def words(self) -> str:
        return f"{self.name}, stage {self.stage} {self.stage_name}" if self.stage else self.name

    def file(self, figure: str) -> str:
        """Return the name of its downloads, without an extension."""
        return "-".join([f"study-{self.study}", *([f"stage-{self.stage}"] if self.stage else []), figure])


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is its name in plots.js and in the CSV, `form` how its values are written (templatetags/plots.py)."""

    key: str
    words: str
    form: str = "count"  # or text, decimal, share, seconds, moment


@dataclass(frozen=True, slots=True)
class Plot:
    kind: str  # how plots.js draws it
    name: str  # for its elements and files
    title: str
    caption: str
    description: str  # what the drawing shows, in words: its text alternative
    subject: Subject
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]  # a value for each column
    mark: tuple[str, float] | None = None  # a line across: its label and value

    @property
    def file(self) -> str:
        return self.subject.file(self.name)


# Outcomes of the items


def funnel_plot(whole: Figures, of: Subject) -> Plot:
    """Plot bars of all imported items, of each stage, then of each that measures; from figures.funnel.funnel."""
    columns = [
        Column("step", "step", "text"), Column("items", "items"), Column("kept", "kept"),
        Column("kept_share", "of items", "share"), Column("dropped", "dropped"),
        Column("dropped_share", "of items", "share"), Column("open", "open"), Column("waiting", "waiting"),
    ]  # fmt: skip
    rows: list[list[Value]] = [["imported", whole["imported"], *[None] * 6]]
    names = ("entered", "kept", "kept_share", "dropped", "dropped_share", "open", "waiting")
    rows += [[_step(step), *(step[name] for name in names)] for step in whole["stages"]]
    measured = whole["measuring"]
    if measured:
        columns += [Column("questions", "questions"), Column("answered", "answered")]
        rows = [[*row, None, None] for row in rows]
        rows += [[_step(one), one["sampled"], *[None] * 6, one["tasks"], one["answered"]] for one in measured]
    caption = "Items in each stage and what became of them, out of all imported items."
    says = "; ".join(f"{bar['label']}: {bar['says']}" for bar in funnel_bars(whole))
    return Plot("funnel", "funnel", "Funnel", caption, says, of, columns, rows)


def _step(step: Figures) -> str:
    return f"{step['stage']} {title_of(step['protocol'])}"


# Values with their intervals


def type_plot(figures: Figures, shares: Sequence[float], of: Subject) -> Plot:
    """Plot the main measure for each type and subtype, from figures.stage.study_figures, on the stage's main
    projection; `shares` are stage_figures.answer_shares.
    """
    on = figures["by_type_on"]
    level = next((one["level"] for one in figures.get("agreement", ()) if one["on"] == on and "level" in one), NOMINAL)
    chief, rows = chief_on(level, shares), []
    for row in figures["by_type"]:
        found, percent = row["measures"][chief.key], row["measures"]["percent"]
        name = kind_name(row["type"], row["subtype"])
        rows.append(
            [name, *(found[end] for end in ("value", "low", "high")), percent["value"], found["n"], found["note"]]
        )
    columns = [
        Column("name", "type", "text"), Column("value", chief.head, "decimal"), *ENDS,
        Column("percent", "agree", "share"), Column("n", "n"), Column("note", "note", "text"),
    ]  # fmt: skip
    on = readable_label(on)
    caption = f"{chief.name} on {on}: a dot for each type, a line for its 95% interval over items."
    says = describe_intervals(f"{chief.name} on {on}", [(*row[:4], row[5], row[6]) for row in rows])
    return Plot("intervals", "kappas", "Agreement by type", caption, says, of, columns, rows)


ENDS = (Column("low", "95% from", "decimal"), Column("high", "to", "decimal"))  # of an interval
MeasuredRow = tuple[str, float | None, float | None, float | None, int | None, str]  # name, value, low, high, n, note


def interval_plot(named: tuple[str, str], by: str, measure: str, rows: Sequence[MeasuredRow], of: Subject) -> Plot:
    """Plot any measure by any breakdown; `named` is the figure's name and title, `by` the first column's head."""
    columns = [
        Column("name", by, "text"), Column("value", measure, "decimal"), *ENDS,
        Column("n", "n"), Column("note", "note", "text"),
    ]  # fmt: skip
    caption = f"{measure[0].upper()}{measure[1:]}: a dot for each, a line for its 95% interval over items."
    return Plot("intervals", *named, caption, describe_intervals(measure, rows), of, columns, rows)


def describe_intervals(measure: str, rows: Sequence[MeasuredRow]) -> str:
    """Describe every row if there are few; otherwise the lowest, middle and highest."""
    if not rows:
        return f"{measure}: nothing has been judged yet."
    if len(rows) <= _MANY:
        return f"{measure}: {'; '.join(map(_measured, rows))}."
    return f"{measure} of {len(rows):,}: {describe_spread([(row[0], row[1]) for row in rows])}."


def _measured(row: MeasuredRow) -> str:
    name, value, low, high, n, note = row
    if value is None:
        return f"{name} not defined{f', {note}' if note else ''}"
    span = "" if low is None or high is None else f" ({signed(low, 2)} to {signed(high, 2)})"
    return f"{name} {signed(value, 2)}{span}{'' if n is None else f', n = {n:,}'}"


def describe_spread(named: Iterable[tuple[str, float | None]]) -> str:
    """Describe the lowest, middle and highest defined value, and how many are not defined."""
    named = list(named)
    there = [(value, name) for name, value in named if value is not None]
    gone = f"; {len(named) - len(there):,} not defined" if len(there) < len(named) else ""
    if not there:
        return "no value is defined"
    (low, lowest), (high, highest) = min(there), max(there)
    middle = median(value for value, _ in there)
    return f"from {signed(low, 2)} ({lowest}) to {signed(high, 2)} ({highest}), median {signed(middle, 2)}{gone}"


# Over time


def series_plot(found: Figures, now: str, of: Subject) -> Plot:
    """Plot judgments over time, from counts.judgments_over_time; `now` (ISO 8601) may fall within the last span."""
    width = timedelta(minutes=found["minutes"])
    rows = []
    for one in found["bins"]:
        running = datetime.fromisoformat(one["from"]) + width > datetime.fromisoformat(now)
        rows.append([one["from"], one["judgments"], "still running" if running else "over"])
    columns = [Column("from", "from", "moment"), Column("judgments", "judgments"), Column("span", "span", "text")]
    spans = f"spans of {_minutes(found['minutes'])}"
    caption = f"Counted judgments, in {spans}."
    says = _describe_series(rows, spans)
    return Plot("series", "series", "Judgments over time", caption, says, of, columns, rows)


def _minutes(minutes: int) -> str:
    for size, word in ((10080, "week"), (1440, "day"), (60, "hour")):
        if minutes % size == 0:
            return counted(minutes // size, word)
    return counted(minutes, "minute")


def _describe_series(rows: Sequence[Sequence[Any]], spans: str) -> str:
    if not rows:
        return "Nothing has been judged yet."
    total = sum(row[1] for row in rows)
    at, most, _ = max(rows, key=lambda row: row[1])
    running = f" The last span is still running, with {rows[-1][1]:,} so far." if rows[-1][2] != "over" else ""
    return (
        f"{counted(total, 'judgment')} in {len(rows)} {spans}, starting {_moment(rows[0][0])}; "
        f"most in the span from {_moment(at)}: {most:,}.{running}"
    )


def _moment(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%-d %b %Y, %H:%M UTC")


# Audits


def audit_plot(audit: Figures, of: Subject) -> Plot:
    """The interval after each look; a line marks the end to reach: the bound, or the width above the lower end."""
    band, target = audit["band"], audit["target_percent"] / 100
    columns = [
        Column("n", "items judged"),
        Column("estimate", "share of wrong items", "share"),
        Column("low", "from", "share"),
        Column("high", "to", "share"),
    ]
    caption = "The share of wrong items and its 95% interval, by items judged."
    width = band and not audit["is_bound"]
    mark = f"{'upper end at ' * bool(width)}the target, {audit['aim']}", band[-1][2] + 2 * target if width else target
    says = _describe_audit(band, audit["items"])
    return Plot("band", "audit", "Share of wrong items", caption, says, of, columns, band, mark)


def _describe_audit(band: Sequence[Sequence[float]], items: int) -> str:
    if not band:
        return "Nothing has been judged yet."
    (first, _, widest_low, widest_high), (n, estimate, low, high) = band[0], band[-1]
    return (
        f"After {n:,} of {items:,} items, the share of wrong items is {estimate:.1%}, with a 95% interval from "
        f"{low:.1%} to {high:.1%}. After {first:,} it was from {widest_low:.1%} to {widest_high:.1%}."
    )
