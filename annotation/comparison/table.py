"""Humans and models side by side: grouped rows, the best values, and the gap to humans. Pure.

An `Entry` has scores in the form of `benchmarks.predictions.stored.summarize`, whatever their origin; this module turns
them into rows of cells in the order of measures. Shares are between 0 and 1.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.measures.audits import corrected
from benchmarks.metrics.sugarcrepe import subset
from benchmarks.naming import kind_name
from benchmarks.predictions.names import BY_TYPE, NAMES, MeasureName

HUMANS, MEASURED, ASKED, RESULT = "humans", "measured", "asked", "result"
IMPORTED, BLIND, REPORTED = "imported", "blind", "reported"
TITLES = {
    HUMANS: "People",
    RESULT: "Models measured on a study’s result",
    MEASURED: "Models measured here",
    ASKED: "Models asked in both orders, right only if both answers are",
    IMPORTED: "Predictions imported",
    BLIND: "Models that see no image",
    REPORTED: "Reported",
}
ORDERS = {"given": "as entered", "best": "best first", "name": "by name"}
DECIMALS = 4  # decimals of a share as papers print it; values that print the same are equally good


@dataclass(frozen=True, slots=True)
class Entry:
    """`stands`: one of `TITLES`; `run`: its number, None for people who judged here; `family`: its group in a source;
    `read_alike`: the items left out of its scores because their captions are identical as far as it reads them; `cut`:
    the items with captions longer than it reads, None if that is not known;
    `study`: the number of the study whose result was scored.
    """

    title: str
    stands: str
    figures: Mapping
    source: str = ""
    family: str = ""
    run: int | None = None
    reported: bool = False
    read_alike: int = 0
    cut: int | None = None
    asked_in_both_orders: bool = False
    study: int | None = None

    @property
    def ranked_among(self) -> tuple[bool, int]:
        """Return a value equal for models asked the same way about the same items; only these are compared."""
        return self.asked_in_both_orders, self.study or 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A score; all fields are None if missing. `rank`: 1 for the best models, 2 for the second-best, otherwise 0."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    entry: Entry
    cells: Sequence[Cell]

    @property
    def n(self) -> int | None:
        return self.entry.figures["n"]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    rows: list[Row] = field(default_factory=list)


def chances(entries: Iterable[Entry], columns: Sequence[MeasureName]) -> list[tuple[str, list[float]]]:
    """Return the chance rows for the models among these entries: a name, and the level in each column. There are two
    rows if only some models were asked in both orders. People may have had different answers to choose from.
    """
    ways = {one.asked_in_both_orders for one in entries if one.stands != HUMANS}
    rows = []
    if False in ways:
        rows.append(("Chance", [one.chance for one in columns]))
    if True in ways:
        rows.append(("Chance, asked in both orders", [one.chance_in_both_orders for one in columns]))
    return rows


Figures = Callable[[Entry, MeasureName], Mapping | None]  # `of_whole`, or for a part: `ByType`


def heads(kind: str, entries: Iterable[Entry]) -> list[MeasureName]:
    """Return the kind's measures for which some entry has a score."""
    entries = list(entries)
    return [named for named in NAMES[kind] if any(_has(of_whole(one, named)) for one in entries)]


def _has(figure: Mapping | None) -> bool:
    return bool(figure and figure["share"] is not None)


def entries_in(sections: Iterable[Section]) -> list[Entry]:
    return [row.entry for section in sections for row in section.rows]


def read_alike(sections: Iterable[Section]) -> bool:
    """Return whether the table needs a column for items that a model cannot tell apart."""
    return any(entry.read_alike for entry in entries_in(sections))


def of_whole(entry: Entry, column: MeasureName) -> Mapping | None:
    """Return an entry's score; a SugarCrepe subset is a measure for models, but only part of what people judged."""
    parts = (one for one in entry.figures["groups"] if _subset(one) == column.name)
    return entry.figures["measures"].get(column.name) or next((one["measures"].get("overall") for one in parts), None)


def _subset(group: Mapping) -> str:
    return subset(group["type"], group["subtype"] or "")


def table(entries: Sequence[Entry], columns: Sequence[MeasureName], figures: Figures = of_whole) -> list[Section]:
    """Return sections of rows; within a section they are in the order of `entries`."""
    ranks = {column.name: _ranked(entries, column, figures) for column in columns}
    found: dict[str, Section] = {}
    for stands in TITLES:
        for entry in entries:
            if entry.stands == stands:
                cells = [_cell(figures(entry, column), ranks[column.name].get(id(entry), 0)) for column in columns]
                title = TITLES[stands] + (f": {entry.family}" if stands == REPORTED and entry.family else "")
                found.setdefault(title, Section(title)).rows.append(Row(entry, cells))
    return list(found.values())


def _cell(figure: Mapping | None, rank: int) -> Cell:
    if not figure or figure["share"] is None:
        return Cell()
    return Cell(figure["share"], figure["low"], figure["high"], figure["n"], rank)


def _ranked(entries: Iterable[Entry], column: MeasureName, figures: Figures) -> dict[int, int]:
    """Return 1 and 2 for the entries with the best and second-best value, as printed, leaving out humans. Models asked
    in both orders must be consistent, and a study's result has other items, so these are ranked separately. A model
    that answered fewer items than another is not ranked.
    """
    ranks: dict[int, int] = {}
    models = [entry for entry in entries if entry.stands != HUMANS]
    for among in {entry.ranked_among for entry in models}:
        found = {id(entry): figures(entry, column) for entry in models if entry.ranked_among == among}
        there = {one: of for one, of in found.items() if of and of["share"] is not None}
        most = max((of["n"] or 0 for of in there.values()), default=0)
        shares = {one: round(of["share"], DECIMALS) for one, of in there.items() if of["n"] in (None, most)}
        best = sorted(set(shares.values()), reverse=not column.lower)[:2]
        if len(shares) > 1:
            ranks |= {one: best.index(share) + 1 for one, share in shares.items() if share in best}
    return ranks


class ByType:
    """Finds a measure's score on the part of the benchmark in a column: a type, or a type and a subtype."""

    def __init__(self, kind: str, measure: str):
        inner, outer = BY_TYPE.get(kind, (measure, measure))
        self.names = (inner, outer) if measure == outer else (measure,)
        self.measures = {one.name for one in NAMES[kind]}

    def __call__(self, entry: Entry, column: MeasureName) -> Mapping | None:
        return next((self.of(one) for one in entry.figures["groups"] if _name_of(one) == column.name), None)

    def of(self, group: Mapping) -> Mapping | None:
        found = (group["measures"].get(name) for name in self.names)
        return next(filter(_has, found), None)

    def part(self, figures: Mapping, type: str, subtype: str | None) -> Mapping | None:
        """Return the score on a type or one of its subtypes; a subset may be a measure of the whole."""
        there = (self.of(one) for one in figures["groups"] if (one["type"], one["subtype"]) == (type, subtype))
        return next(filter(None, there), None) or figures["measures"].get(subset(type, subtype or ""))

    def heads(self, entries: Iterable[Entry], whole: MeasureName) -> list[MeasureName]:
        """Return as columns the parts for which some entry has a score, except measures of the whole; types in
        alphabetical order, each before its subtypes."""
        found = {
            (one["type"], one["subtype"] is not None, one["subtype"] or ""): one
            for entry in entries
            for one in entry.figures["groups"]
            if self.of(one) and (one["type"] or one["subtype"]) and _subset(one) not in self.measures
        }
        groups = (found[key] for key in sorted(found))
        return [replace(whole, name=_name_of(one), short=_words_of(one), long="") for one in groups]


def _name_of(group: Mapping) -> str:
    return f"{group['type']}/{'' if group['subtype'] is None else group['subtype'] or '-'}"


def _words_of(group: Mapping) -> str:
    """Name a whole type, one subtype, or the items without one."""
    return f"{kind_name(group['type'], group['subtype'])}{' no subtype' if group['subtype'] == '' else ''}"


def ordered(entries: Sequence[Entry], order: str, measure: MeasureName) -> list[Entry]:
    """Return the entries as given, by the measure (best first; those that answered fewer items, then those without it
    last), or by name.
    """
    if order == "name":
        return sorted(entries, key=lambda one: one.title.casefold())
    if order == "best":
        most = max((of["n"] or 0 for one in entries if (of := of_whole(one, measure))), default=0)
        return sorted(entries, key=lambda one: _worth(of_whole(one, measure), most, measure.lower))
    return list(entries)


def _worth(figure: Mapping | None, most: int, lower: bool) -> tuple[bool, float]:
    if not figure or figure["share"] is None:
        return True, math.inf
    return figure["n"] not in (None, most), figure["share"] if lower else -figure["share"]


def tied(entries: Iterable[Entry], columns: Sequence[MeasureName]) -> list[str]:
    """Return a sentence for each model with tied scores: its scores if ties counted as right."""
    found = []
    for entry in entries:
        if ties := entry.figures.get("ties"):
            changed = ((one.short, ties["measures"].get(one.name)) for one in columns if of_whole(entry, one))
            shares = ", ".join(f"{name} {100 * share:.2f}" for name, share in changed if share is not None)
            items = f"{ties['items']:,} {'item has' if ties['items'] == 1 else 'items have'}"
            found.append(
                f"{entry.title}: {items} tied scores, which count as wrong. If they were right: {shares or 'the same'}."
            )
    return found


# The gap to humans


@dataclass(frozen=True, slots=True)
class Gap:
    """The score of humans minus a model's, with its 95% interval and items if both have them."""

    value: float
    low: float | None = None
    high: float | None = None
    n: tuple[int, int] | None = None  # the humans' and the model's numbers of items


def reference(entries: Iterable[Entry]) -> Entry | None:
    """Return the humans to compare models with: those who judged the most items, or else the first reported."""
    people = [
        one
        for one in entries
        if one.stands == HUMANS and any(of["share"] is not None for of in one.figures["measures"].values())
    ]
    return max(people, key=lambda one: one.figures["n"] or 0, default=None)


GAP_METHOD = "Newcombe’s, for two independent proportions"  # as pages name it


def gap(people: Mapping | None, model: Mapping | None) -> Gap | None:
    """Return the difference of two shares with the interval from their Wilson intervals (Newcombe 1998, method 10),
    which treats both as independent."""
    if not model or not people or model["share"] is None or people["share"] is None:
        return None
    value, n = people["share"] - model["share"], (people["n"], model["n"])
    if model["low"] is None or people["low"] is None:
        return Gap(value)
    below = math.hypot(people["share"] - people["low"], model["high"] - model["share"])
    above = math.hypot(people["high"] - people["share"], model["share"] - model["low"])
    return Gap(value, value - below, value + above, n)


def gaps(sections: Sequence[Section], people: Entry, columns: Sequence[MeasureName]) -> list[tuple[str, list]]:
    """Return (section, rows of (entry, gap of each measure)), without humans themselves."""
    return [
        (section.title, [(row.entry, [gap(of_whole(people, one), of_whole(row.entry, one)) for one in columns])
                         for row in section.rows])
        for section in sections
        if section.title != TITLES[HUMANS]
    ]  # fmt: skip


# The same models on two benchmarks


def named_alike(entries: Iterable[Entry], measure: MeasureName) -> dict[str, tuple[str, float]]:
    """Return names and shares by name, ignoring capitals and spaces. Among several with one name, locally scored
    results come before imported ones, and these before reported ones. Models asked in both orders are left out, because
    they are not ranked with the others."""
    found: dict[str, tuple[str, float]] = {}
    for stands in (MEASURED, IMPORTED, BLIND, REPORTED):
        for one in (entry for entry in entries if entry.stands == stands):
            figure = of_whole(one, measure)
            if figure and figure["share"] is not None:
                found.setdefault(_plain(one.title), (one.title, figure["share"]))
    return found


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def only_newest(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Split entries into the last run for each section, name and source, and the rest, in their original order."""
    entries = list(entries)
    last = {(one.title, one.stands, one.source): one for one in entries}
    newest = {id(one) for one in last.values()}
    return [one for one in entries if id(one) in newest], [one for one in entries if id(one) not in newest]


# Reported scores beside an audit's corrected table


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """`figures`: from the model's answers, None if it is only reported; `reported`: the share printed in `source`, None
    if there is none.
    """

    name: str
    figures: corrected.Row | None
    reported: float | None = None
    source: str = ""


def corrected_rows(
    rows: Iterable[corrected.Row], titles: Mapping[str, str], entries: Iterable[Entry], measure: MeasureName
) -> list[CorrectedRow]:
    """Return the rows, each with the first score reported under its title, ignoring capitals and spaces, then the other
    reported scores. `titles`: the titles of rows whose names differ; `entries`: the models, including reported ones.
    """
    reported = [(one, of_whole(one, measure)) for one in entries if one.stands == REPORTED]
    left = [(one, figure["share"]) for one, figure in reported if figure and figure["share"] is not None]
    first = {_plain(one.title): (one, share) for one, share in reversed(left)}
    found, beside = [], set()
    for row in rows:
        one, share = first.get(_plain(titles.get(row.name, row.name)), (None, None))
        found.append(CorrectedRow(row.name, row, share, one.source if one else ""))
        beside.add(id(one))
    return found + [CorrectedRow(one.title, None, share, one.source) for one, share in left if id(one) not in beside]
