"""The page about a stage's agreement: the requested view, with rows, dots and confusion tables."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, QueryDict
from django.utils.text import capfirst

from annotation.charts import annotators as annotator_charts
from annotation.charts import study as study_charts
from annotation.dashboard.agreement_words import lower_than_ac1, measures_in_words, scale_of, use_of
from annotation.dashboard.sign_evidence import evidence
from annotation.figures import agreement, annotators
from annotation.figures.cache import hashed
from annotation.measures.agreement_measures import BY_KEY, Measure, chief_on, measures_on, units_in_words
from annotation.measures.few_annotators import AGREEMENT
from annotation.models import Stage
from annotation.participants.review import people_to_review
from annotation.pipeline.stage_rules import rule_of
from annotation.protocols import answer_words, base, schema
from annotation.protocols import answers as declared_answers
from annotation.protocols.base import Answer
from annotation.protocols.registry import protocol_named
from annotation.templatetags.figure_tables import measure_cell
from annotation.wording import pseudonym, readable_label
from benchmarks.naming import kind_name
from benchmarks.tables import Column, Table, number, only_in_file

LABELS = 20  # at most this many in a confusion table, the most frequent
PAGE = 30  # parts of the stage in the table and the plot
BY = {
    "type": "type",
    "subtype": "subtype",
    "pair": "pair of annotators",
    "annotator": "annotator versus the others",
    "week": "week",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What the address asks for; an invalid part falls back to the first choice, `measure` to "", the main one."""

    view: str
    by: str
    measure: str
    pair: str
    level: str = base.NOMINAL  # of the view

    @classmethod
    def from_address(cls, stage: Stage, sent: QueryDict) -> "Query":
        views = rule_of(stage).projections()
        view = _among(sent.get("view"), views, base.main_view(views))
        level = base.level_of_view(views[view])
        return cls(
            view,
            _among(sent.get("by"), BY),
            _among(sent.get("measure"), ["", *(one.key for one in measures_on(level))]),
            sent.get("pair", ""),
            level,
        )


def _among(wanted: str | None, there: Iterable[str], first: str = "") -> str:
    there = list(there)
    return wanted if wanted in there else first or there[0]


def contents(stage: Stage, asked: Query, by: str, request: HttpRequest | None = None) -> dict:
    """Return everything that the page shows. `seen` changes when its numbers do."""
    found = agreement.latest(stage, asked.view, by)
    shown = {
        "stage": stage,
        "study": stage.study,
        "stages": [(one.position, f"{one.position} {one.title}") for one in stage.study.stages.order_by("position")],
        "views": [(one, readable_label(one)) for one in rule_of(stage).projections()],
        "asked": asked,
        "by_words": BY,
        "measure_words": {measure.key: measure.name for measure in measures_on(asked.level)},
        "latest": found,
        "seen": hashed((found.progress, str(stage.study.state))),
    }
    if found.data is None or found.made_at is None:
        return shown
    shares = found.data["shares"]
    asked = replace(asked, measure=asked.measure or chief_on(asked.level, shares).key)
    tables = _tables(stage, asked, found.data, shares)
    by_part = by_table(asked, found.data, tables["rows"], tables["heads"], request)
    plots = _plotted(stage, asked, by_part, found.data, found.made_at.isoformat())
    return {**shown, **tables, "asked": asked, "by": by_part, "plots": plots, "apart": _who_differs(stage, by)}


def _who_differs(stage: Stage, by: str) -> list[str]:
    """Return sentences on whom to look at for low agreement in this stage, by the people page's rule."""
    look = people_to_review(stage.study)
    data = annotators.latest(stage.study, by).data if look else None
    signs = [one for number, of in evidence(data).items() if number in look for one in of] if data else []
    low = [one for one in signs if (one.kind, one.position) == (AGREEMENT, stage.position)]
    return [f"{pseudonym(one.number)} {one.sentence[:1].lower()}{one.sentence[1:]}" for one in low]


def _tables(stage: Stage, asked: Query, data: dict, shares: Sequence[float]) -> dict:
    """Return the statistics for the template, pairs lowest first; without confusion tables for rankings and sets, which
    are seldom equal.
    """
    parts, at = data[asked.by], asked.measure
    if asked.by == "pair":
        parts = sorted(parts, key=lambda row: (row["measures"][at]["value"] is None, row["measures"][at]["value"]))
    rows = [{**row, "name": name_of(asked.by, row), "in_file": name_in_file(asked.by, row)} for row in parts]
    pairs = {row["name"]: row for row in rows} if asked.by == "pair" else {}
    chosen = pairs.get(asked.pair) or next(iter(pairs.values()), None)
    shown = measured(data["whole"], rows, asked.level, data.get("unit", ""))
    for line in shown["lines"]:
        line |= {"use": use_of(line["measure"]), "scale": scale_of(line["measure"])}
    chief = chief_on(asked.level, shares)
    return {
        "figures": data,
        "chief": next((line for line in shown["defined"] if line["measure"] == chief), None),
        "words": measures_in_words(data["whole"]["measures"], shares, asked.view, asked.level),
        "lower": lower_than_ac1(data["whole"]["measures"], shares) if chief.key == "ac1" else "",
        **shown,
        "of_choices": of_choices(data),
        "aside": [(_in_words(stage, label, asked.view), n) for label, n in data.get("aside", {}).items()],
        "pairs": list(pairs),
        "chosen": chosen and chosen["name"],
        **({} if asked.level in base.PAIRED else _confusions(stage, asked, data, chosen)),
    }


def _confusions(stage: Stage, asked: Query, data: dict, chosen: Mapping | None) -> dict:
    return {
        "pooled": _confusion(stage, asked, data["labels"], data["whole"]["confusion"], ordered=False),
        "confused": _confusion(stage, asked, data["labels"], chosen["confusion"], ordered=True) if chosen else None,
    }


def measured(whole: Mapping, rows: Iterable[Mapping], level: str, unit: str = "") -> dict:
    """Return `lines` for the whole stage, one per measure, `defined` or (with reasons) `undefined`; and `rows` with
    `cells` in the columns of `heads`, the defined measures. Each of the `notes` is listed once below the rows, and
    cells refer to it by its letter.
    """
    measures = measures_on(level)
    there = [one for one in measures if whole["measures"][one.key]["value"] is not None]
    notes: dict[str, str] = {}

    def cell(figure: Mapping) -> dict:
        note = figure["note"]
        return {**figure, "mark": notes.setdefault(note, chr(ord("a") + len(notes))) if note else ""}

    lines = [measured_in_words(one, whole["measures"][one.key], unit) for one in measures]
    return {
        "lines": lines,
        "defined": [line for line in lines if line["value"] is not None],
        "undefined": _undefined(lines),
        "heads": [one.head for one in there],
        "rows": [{**row, "cells": [cell(row["measures"][one.key]) for one in there]} for row in rows],
        "notes": list(notes.items()),
    }


def _undefined(lines: Iterable[Mapping]) -> list[dict]:
    """Return each reason why measures have no value, with those measures."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if line["value"] is None:
            reasons.setdefault(line["note"], []).append(line["measure"].name)
    return [{"why": why, "measures": names} for why, names in reasons.items()]


def measured_in_words(measure: Measure, figure: Mapping, unit: str = "") -> dict:
    """Return a statistic with the words beside it: its measure, and what its n counts."""
    return {**figure, "measure": measure, "of": units_in_words(measure, figure["n"], unit)}


def of_choices(data: Mapping) -> str:
    """Return the measures that depend on how many labels could be chosen; "" if the level has none."""
    return " and ".join(one.head for one in measures_on(data.get("level", base.NOMINAL)) if one.of_choices)


def _plotted(stage: Stage, asked: Query, rows: Table, data: dict, at: str) -> dict[str, study_charts.Plot]:
    """Plot the chosen measure by the chosen breakdown, for the rows on this page of the table; by pair, also the matrix
    of annotators.
    """
    of = study_charts.Subject(stage.study_id, stage.study.name, at, stage.position, stage.title)
    measured = [
        (row["name"], *(row["measures"][asked.measure][part] for part in ("value", "low", "high", "n", "note")))
        for row in (rows.paged or ())
    ]
    named = (f"agreement-by-{asked.by}", capfirst(f"{BY_KEY[asked.measure].name} by {BY[asked.by]}"))
    plots = {"by": study_charts.interval_plot(named, asked.by, BY_KEY[asked.measure].name, measured, of)}
    if asked.by == "pair":
        plots["matrix"] = annotator_charts.kappa_matrix_plot(data["matrix"], asked.view, of, asked.level)
    return plots


def name_of(by: str, row: Mapping[str, str]) -> str:
    if by in ("type", "subtype"):
        return kind_name(row["type"], row.get("subtype"))
    if by == "pair":
        return f"{row['first']} and {row['second']}"
    return name_in_file(by, row)


def name_in_file(by: str, row: Mapping[str, str]) -> str:
    """Return the name for the file, which identifies types by key."""
    if by == "pair":
        return f"{row['first']} {row['second']}"
    if by == "subtype":
        return f"{row['type'] or 'no type'} {row['subtype'] or 'no subtype'}"
    return row[by] or f"no {by}"


Cells = Sequence[Sequence[int]]  # label, label, n


def _confusion(stage: Stage, asked: Query, labels: Sequence[str], cells: Cells, *, ordered: bool) -> dict:
    """Return a square of the most frequent labels, by name, and how many labels were `left_out`; for a scale, the whole
    scale in order. Unless `ordered`, pairs are on or above the diagonal, with None below it.
    """
    times: Counter[int] = Counter()
    for one, other, n in cells:
        times[one] += n
        times[other] += n
    most = sorted(sorted(times, key=lambda label: (-times[label], label))[:LABELS])
    if asked.level in (base.ORDINAL, base.INTERVAL) and times and len(labels) <= LABELS:
        most = list(range(len(labels)))
    counts = {(one, other): n for one, other, n in cells}
    names = {label: _in_words(stage, labels[label], asked.view) for label in most}
    rows = [
        {
            "name": names[one],
            "cells": [(counts.get((one, of), 0) if ordered or one <= of else None, one == of) for of in most],
        }
        for one in most
    ]
    return {"heads": list(names.values()), "rows": rows, "left_out": max(0, len(times) - len(most))}


def _in_words(stage: Stage, label: str, view: str) -> str:
    """Put an answer into words, as elsewhere. A projection's labels are already words; labels of one answer among
    several are worded as that answer's.
    """
    protocol = protocol_named(stage.protocol)
    answer = next((one for one in protocol.file.answers if one.name == view), None) if protocol.file else None
    if isinstance(answer, schema.Scale | schema.Number | schema.Pick | schema.Pair | schema.Rank):
        return declared_answers.value_in_words(answer, label)
    try:
        return answer_words.answer_in_words(protocol, Answer(label))
    except (ValueError, KeyError, IndexError):
        return readable_label(label)


# The breakdown, on the page and as a file


def by_table(
    asked: Query, data: Mapping, rows: Sequence[Mapping], heads: Sequence[str], request: HttpRequest | None
) -> Table:
    """Return a row for each part, with a cell for each defined measure (`heads`); the file also has the whole stage,
    and every measure with all digits.
    """
    columns = [
        Column(asked.by, "in_file", html=lambda row: row["name"], name="name", sort="name"),
        Column("view", lambda row: asked.view, name="view", page=False),
        number(f"{data.get('unit') or 'task'}s", "n_items"),
        *only_in_file("n_annotators", "n_ratings"),
    ]
    for measure in measures_on(asked.level):
        columns += _columns(measure, heads.index(measure.head) if measure.head in heads else None)
    return Table(
        "measures", columns, rows, label="parts-title", css="figures stacked-cells by-table", request=request,
        per_page=PAGE, download=True, cards=True,
        caption=f"Each measure by {asked.by}, with its interval and its count",
        empty="No two annotators have judged the same task yet." if asked.by == "pair" else "Nothing judged yet.",
        file_rows=lambda: [{**data["whole"], "name": "whole stage", "in_file": "whole stage"}, *rows],
    )  # fmt: skip


def _columns(measure: Measure, place: int | None) -> Iterable[Column]:
    """Return a measure's columns; `place`: where its cell is in a row, None if the page leaves it out."""
    at, key, cell = f"measures.{measure.key}", measure.key, None if place is None else measure_cell(place)
    yield number(measure.head, f"{at}.value", html=cell, name=key, page=cell is not None)
    for part in ("n", "low", "high", "note"):
        yield Column(part, f"{at}.{part}", name=f"{key}_{part}", page=False)
