"""The tables of statistics on a study's pages and in its report, each declared once: `{% measures_table lines … %}`.

Tables only for the report are in `report_tables`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from annotation.protocols.base import Protocol
from annotation.protocols.registry import title_of
from annotation.templatetags.figures import decimals, exact_percent, exact_to_percent, percent, span, to_decimals
from annotation.wording import counted, readable_label
from benchmarks.naming import kind_name
from benchmarks.tables import NOTHING, Column, Table, exact, number, with_sub

register = template.Library()

Row = Mapping[str, Any]
Rows = Sequence[Row]


def bold(value: float | None, write: Any) -> object:
    return format_html("<b>{}</b>", exact(value, write))


def ends(row: Row) -> object:
    """Return a share's interval, with `*` if it is over items."""
    return format_html("{}{}", exact_to_percent(row["low"], row["high"]), "*" if row.get("over") == "items" else "")


def kind(row: Row) -> str:
    return kind_name(row["type"], row["subtype"])


def kind_in_order(row: Row) -> object:
    """Return a type, or below it a subtype."""
    if row["subtype"] is None:
        return kind_name(row["type"])
    return format_html('<span class="indented">{}</span>', kind_name(row["subtype"], none="no subtype"))


RIGHT = [number("right", "share", percent), number("95%", html=ends), number("n", "n")]


def measure_cell(at: int) -> Any:
    """Return a measure in a row's `cells`: value with its note's letter, and below it the interval and the count."""

    def shown(row: Row) -> object:
        of = row["cells"][at]
        mark = format_html("<sup>{}</sup>", of["mark"]) if of["mark"] else ""
        value = format_html("{}{}", bold(of["value"], partial(decimals, places=3)), mark)
        return with_sub(value, format_html("{} ({})", span(of), f"{of['n']:,}"))

    return shown


@register.simple_tag
def measures_table(rows: Rows, head: str, caption: str, name: str = "") -> Table:
    """Return the agreement measures for a whole stage."""

    def named(row: Row) -> object:
        left = row.get("left_out") if row["value"] is not None else 0
        note = f"{counted(left, 'pair')} without one left out" if left else ""
        return with_sub(row["measure"].name, row.get("use"), "; ".join(filter(None, [row["note"], note])))

    columns = [
        Column(head, html=named),
        number("value", html=lambda row: bold(row["value"], partial(decimals, places=3))),
        number("95%", html=lambda row: span(row, 3)),
        number("n", html=lambda row: format_html('{} <span class="quiet small">{}</span>', f"{row['n']:,}", row["of"])),
    ]
    return Table(name, columns, rows, caption=caption, css="figures of-whole", cards=True)


@register.simple_tag
def baseline_table(rows: Rows) -> Table:
    columns = [
        Column("measure", html=_baseline_measure),
        number("share", html=lambda row: bold(row["share"], exact_percent)),
        number("95%", html=ends),
        number("correct", "right"),
        number("n", "n"),
        number("effective n", "effective", lambda n: NOTHING if n is None else f"{n:,.1f}".removesuffix(".0")),
        number("chance", "chance", exact_percent, css="quiet"),
    ]
    return Table("", columns, rows, caption="Each measure with its count, interval and chance")


def _baseline_measure(row: Row) -> object:
    why = f": {row['reason']}" if row["share"] is None else ""
    return format_html('<b>{}</b> <span class="quiet small">{}{}</span>', row["short"], row["long"], why)


@register.simple_tag
def scores_table(rows: Rows, head: str, measures: Iterable[tuple[str, str]]) -> Table:
    """Return a human baseline by type or by annotator, with measures as columns."""
    of_type = [Column("type", html=kind_in_order), number("items", "items")]
    of_annotator = [Column("annotator", "annotator"), number("answered", "answered"), number("correct", "right")]
    columns = of_type if head == "type" else of_annotator
    for place, (short, _) in enumerate(measures):
        columns += [
            number(short, f"cells.{place}.share", percent),
            number("95%", html=lambda row, place=place: ends(row["cells"][place]), css="quiet"),
            number("n", f"cells.{place}.n"),
        ]
    return Table("", columns, rows, caption=f"Measures for each {head}")


@register.simple_tag
def views_table(figures: Mapping[str, Any], rows: Rows, scaled: bool) -> Table:
    """Return a stage's measures (`dashboard.study_page.agreement_rows`) on the answer and on coarser views of it."""

    def cell(at: int) -> Any:
        def shown(row: Row) -> object:
            of, share = row["cells"][at], row["measure"].is_share
            if not of:
                return ""
            ends = exact_to_percent(of["low"], of["high"]) if share else span(of, 3)
            left = f", {of['left_out']:,} left out" if of.get("left_out") else ""
            n = f"n = {of['n']:,} {of['of']}{left}" if of["value"] is not None else ""
            basis = format_html("{}, {}", ends, n) if of["low"] is not None else n
            value = exact(of["value"], percent if share else partial(decimals, places=3))
            return with_sub(value, basis, of["note"])

        return shown

    def off_scale(view: Row) -> str:
        none = "0" if view.get("level") else NOTHING
        return ", ".join(f"{n:,} {readable_label(label)}" for label, n in view.get("aside", {}).items()) or none

    views = figures["agreement"]
    columns = [
        Column("agreement on", "measure.name"),
        *(number(readable_label(view["on"]), html=cell(at)) for at, view in enumerate(views)),
    ]
    foot = [["items with different answers", *figures["disagreements"].values()]]
    if scaled:
        foot.append(["judgments off the scale, not compared", *map(off_scale, views)])
    caption = "Agreement on the answer and on coarser views of it"
    return Table("", columns, rows, foot=foot, caption=caption, css="figures views")


@register.simple_tag
def outcomes_table(figures: Mapping[str, Any], protocol: Protocol) -> Table:
    """Return how many tasks have each outcome, and why."""
    settled, dropped = ("answered", "cannot be judged") if protocol.measures else ("kept", "dropped")
    outcomes = figures["outcomes"]

    def parts(of: Mapping[str, int]) -> str:
        return " · ".join(f"{readable_label(name)} {count:,}" for name, count in of.items())

    rows = [
        (settled, outcomes["kept"], parts(outcomes["decided_by"])),
        (dropped, outcomes["dropped"], parts(outcomes["reasons"])),
        ("open", outcomes["open"], ""),
    ]
    columns = [Column("", "0"), number("", "1"), Column("", "2", css="quiet")]
    return Table("", columns, rows, head=False, caption="Outcomes of this stage")


@register.simple_tag
def types_table(figures: Mapping[str, Any], protocol: Protocol) -> Table:
    """Return a stage's outcomes by type and subtype."""
    settled, dropped = ("answered", "cannot be judged") if protocol.measures else ("kept", "dropped")
    questions = protocol.measures or figures["progress"]["items"] != figures["progress"]["tasks"]
    columns = [
        Column("type", html=kind),
        number("questions" if questions else "items", "tasks"),
        number(settled, "kept"),
        number(dropped, "dropped"),
        number("open", "open"),
        number(f"{settled} of settled", "kept_share", percent),
        number("judgments", "judgments"),
    ]
    all = figures["outcomes"] | {"judgments": figures["progress"]["judgments_counted"]}
    foot = ["all", *(all[name] for name in ("tasks", "kept", "dropped", "open", "kept_share", "judgments"))]
    return Table("", columns, figures["by_type"], foot=[foot], caption="Outcomes by type and subtype", cards=True)


@register.simple_tag
def dropped_table(reasons: Rows, caption: str, study: int = 0) -> Table:
    """Return why items were dropped, or not asked about; counts link to the items of `study`."""

    def linked(row: Row) -> object:
        query = urlencode({"stage": row["stage"], "outcome": row["reason"]})
        return format_html('<a href="{}?{}">{}</a>', reverse("study-items", args=[study]), query, f"{row['items']:,}")

    columns = [
        Column("stage", html=lambda row: f"{row['stage']} {row['name']}"),
        Column("reason", "reason", readable_label),
        number("items", "items", html=linked if study else None),
        number("of imported", "share", percent),
    ]
    return Table("", columns, reasons, caption=caption, shown_caption=not study, empty="None so far.", cards=True)


@register.simple_tag
def batches_table(batches: Mapping[str, Any]) -> Table:
    columns = [
        Column("batch", "batch"),
        number("items", "items"),
        Column("annotator", "who", lambda who: who or "free"),
        number("judged", html=lambda row: f"{row['judged']:,} of {row['tasks']:,}"),
    ]
    return Table("", columns, batches["rows"], label="batches-title", empty="None yet.")


@register.simple_tag
def confusion_table(square: Mapping[str, Any], label: str, caption: str) -> Table:
    """Return how often two labels meet; `square` is from `dashboard.agreement_page`."""
    columns = [Column("", "name"), *(_square_cell(head, at, "{:,}".format) for at, head in enumerate(square["heads"]))]
    none = "No task has been judged twice yet."
    return Table("", columns, square["rows"], label=label, caption=caption, css="figures confusion", empty=none)


@register.simple_tag
def estimated_confusion_table(confusion: Mapping[str, Mapping[str, float]], label: str) -> Table:
    """Return the probability that an annotator gives each kind of answer (columns) to items of each kind (rows)."""
    rows = [
        {"name": readable_label(true), "cells": [(share, given == true) for given, share in row.items()]}
        for true, row in confusion.items()
    ]
    heads = [readable_label(given) for row in list(confusion.values())[:1] for given in row]
    columns = [Column("true answer", "name"), *(_square_cell(head, at, percent) for at, head in enumerate(heads))]
    caption = "Probability that this annotator gives each answer (columns), by the item’s true answer (rows)"
    return Table("", columns, rows, label=label, caption=caption, css="figures confusion")


def _square_cell(head: str, at: int, write: Any) -> Column:
    """Return a column of a square with its diagonal marked."""

    def shown(row: Row) -> object:
        value, same = row["cells"][at]
        if value is None:
            return ""
        text = exact(value, write)
        return format_html('<span class="same">{}</span>', text) if same else text

    return number(head, html=shown)


@register.simple_tag
def groups_table(groups: Rows) -> Table:
    columns = [
        Column("group", "group", readable_label),
        number("correct", "whole.value", percent),
        number(
            "95%, these annotators",
            html=lambda row: exact_to_percent(row["whole"]["these_low"], row["whole"]["these_high"]),
        ),
        number(
            "others like them",
            html=lambda row: exact_to_percent(row["whole"]["others_low"], row["whole"]["others_high"]),
        ),
        number("groups", "whole.n_judgments"),
        number("by chance", "chance", percent),
        number("waiting", "waiting"),
    ]
    return Table("groups-table", columns, groups, caption="How often every task in a group is answered correctly")


@register.simple_tag
def scores_by_type_table(rows: Rows) -> Table:
    def ends(whose: str) -> Any:
        return lambda row: (exact_to_percent if row["is_share"] else to_decimals)(
            row[f"{whose}_low"], row[f"{whose}_high"]
        )

    columns = [
        Column("type", html=kind),
        Column("score", "what"),
        number("value", html=lambda row: exact(row["value"], percent if row["is_share"] else decimals)),
        number("95%, these annotators", html=ends("these")),
        number("others like them", html=ends("others")),
        number("items", "n_items"),
    ]
    return Table("scores-by-type", columns, rows, caption="Scores by type and subtype")


@register.simple_tag
def steps_table(whole: Row) -> Table:
    """Return the items in each stage and what became of them, by type and subtype."""

    def step(at: int, name: str, head: str, group: str) -> Column:
        def shown(row: Row) -> object:
            of = row["stages"][at]
            share = format_html(' <span class="quiet small">{}</span>', exact(of[f"{name}_share"], percent))
            return format_html("{}{}", f"{of[name]:,}", share if f"{name}_share" in of else "")

        return number(head, html=shown, group=group)

    parts = {"entered": "in", "kept": "kept", "dropped": "dropped", "open": "open"}
    columns = [
        Column("type", html=lambda row: "all" if row is whole else kind(row)),
        number("imported", "imported"),
        *(
            step(at, name, head, f"{stage['stage']} {title_of(stage['protocol'])}")
            for at, stage in enumerate(whole["stages"])
            for name, head in parts.items()
        ),
        number("kept", html=lambda row: format_html("<b>{}</b>", f"{row['kept']:,}"), group="final"),
        number("of imported", "kept_share", percent, group="final"),
        *([number("not asked", "not_asked", group="final")] if whole["not_asked"] else []),
        number("open", "open", group="final"),
    ]
    caption = "Items in each stage and what became of them, by type and subtype"
    foot = [[column.cell(whole) for column in columns]]
    return Table("funnel-steps", columns, whole["by_type"], foot=foot, caption=caption, css="figures steps")


@register.simple_tag
def shares_table(bars: Rows, of: str, against: str, title: str) -> Table:
    columns = [
        Column(of, "label", readable_label),
        number("judgments", "count"),
        number("share", "share", percent),
        number(against, "expected", percent),
    ]
    return Table("", columns, bars, caption=title)
