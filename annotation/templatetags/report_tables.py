"""The tables only for a study's report, each declared once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django import template
from django.utils.html import format_html

from annotation.measures.warning_signs import KINDS
from annotation.protocols.registry import title_of
from annotation.templatetags.figure_tables import Row, Rows, kind, kind_in_order, measure_cell
from annotation.templatetags.figures import NOTHING, decimals, hours, kappa_name, labels, money, percent, span, utc
from benchmarks.naming import kind_name
from benchmarks.tables import Column, Table, exact, number, with_sub

register = template.Library()


def _stage(stage: Row) -> str:
    return f"{stage['settings']['position']} {title_of(stage['settings']['protocol'])}"


@register.simple_tag
def stages_table(stages: Rows) -> Table:
    def takes(stage: Row) -> str:
        of = stage["settings"]
        taken = f"{labels(of['takes'])} by {of['source']}" if of["source"] else "the benchmark’s items"
        each = " of each type" if of["sample_each"] else ""
        return f"{taken}, sample of {of['sample']:,}{each}" if of["sample"] else taken

    def judged(stage: Row) -> str:
        of = stage["settings"]
        return f"{of['overlap']}, up to {of['cap']}" if of["cap"] else of["overlap"]

    columns = [
        Column("stage", html=_stage),
        Column("takes", html=takes),
        number("judgments per item", html=judged),
        Column("state", "settings.state"),
    ]
    return Table("", columns, stages, caption="The stages in order", cards=True)


@register.simple_tag
def funnel_table(funnel: Mapping[str, Any]) -> Table:
    """Return items by type and subtype, step by step, with steps across if there are many types (`upright`)."""
    lines, kinds = funnel["lines"], funnel["kinds"]

    def written(line: Row, value: Any) -> object:
        return exact(value, percent) if line["share"] else f"{value:,}"

    if funnel["upright"]:
        steps = [number(line["words"], html=lambda at, line=line: written(line, line["cells"][at])) for line in lines]
        foot = [["all", *(written(line, line["all"]) for line in lines)]]
        columns = [Column("type", html=lambda at: kind(kinds[at])), *steps]
        rows: Any = range(len(kinds))
        return Table(
            "", columns, rows, foot=foot, caption="Items by type and subtype", shown_caption=True, css="figures long"
        )
    columns = [
        Column("items", "words"),
        *(
            number(
                kind_name(one["subtype"] or one["type"]),
                html=lambda line, at=at: written(line, line["cells"][at]),
                group=kind_name(one["type"]) if one["subtype"] else "",
            )
            for at, one in enumerate(kinds)
        ),
        number("total", html=lambda line: written(line, line["all"])),
    ]
    table = Table("", columns, lines, caption="Items by type and subtype", shown_caption=True, css="figures by-columns")
    table.row_css = lambda line: "shares" if line["share"] else ""
    return table


@register.simple_tag
def measuring_table(rows: Rows) -> Table:
    columns = [
        Column("stage", html=lambda row: f"{row['stage']} {row['name']}"),
        number("items", "sampled"),
        number("questions", "tasks"),
        number("answered", "answered"),
        number("share", "answered_share", percent),
        number("open", "open"),
    ]
    return Table("", columns, rows, caption="Stages that only measure", shown_caption=True)


@register.simple_tag
def agreement_by_type_table(view: Mapping[str, Any]) -> Table:
    columns = [
        Column("type", html=kind_in_order),
        number("tasks", "n_items"),
        *(number(head, html=measure_cell(at)) for at, head in enumerate(view["heads"])),
    ]
    caption = "By type: value, 95% interval, (n)"
    return Table("", columns, view["rows"], caption=caption, shown_caption=True, css="figures stacked-cells")


@register.simple_tag
def agreement_by_pair_table(view: Mapping[str, Any]) -> Table:
    pairs, count = view["pairs"], view["pair_count"]
    three = partial(decimals, places=3)

    def note(row: Row) -> object:
        return row["kappa"]["note"] if row["kappa"]["value"] is None or row["kappa"]["low"] is None else ""

    columns = [
        Column("pair", html=lambda row: f"{row['first']} {row['second']}"),
        number("tasks", "n_items"),
        number("percent", "percent.value", three),
        number(view["of_pairs"].pair_name, "kappa.value", three),
        number("95%", html=lambda row: span(row["kappa"])),
        Column("note", html=note, css="quiet small"),
    ]
    caption = "Each pair of annotators"
    if count > len(pairs):
        caption = f"The {len(pairs)} pairs with the most tasks in common, of {count:,}"
    return Table("", columns, pairs, caption=caption, shown_caption=True, css="figures long people")


@register.simple_tag
def spreads_table(rows: Rows, currency: str) -> Table:
    """Return distributions over annotators."""
    units: dict[str, Callable[[float | None], str]] = {
        "hours": hours,
        "money": lambda amount: money(amount, currency),
        "number": lambda value: decimals(value, 0),
    }

    def of(name: str) -> Callable[[Row], object]:
        return lambda row: exact(row[name], units.get(row["unit"], lambda value: decimals(value, 1)))

    heads = {
        "least": "minimum", "lower": "lower quartile", "median": "median", "upper": "upper quartile", "most": "maximum",
        "mean": "mean",
    }  # fmt: skip
    columns = [
        Column("per annotator", "words"),
        *(number(head, html=of(name)) for name, head in heads.items()),
        number("n", "n"),
    ]
    return Table("", columns, rows, caption="Distribution over annotators who judged", shown_caption=True, cards=True)


@register.simple_tag
def annotators_table(people: Rows, judged: int, pay: Mapping[str, Any], level: str | None) -> Table:
    """Return annotators. `judged`: how many judged; `pay`: the study, whose `pay_per_hour` and `currency` apply."""

    def named(row: Row) -> object:
        state = "excluded" if row["excluded"] else "left" if row["left"] else ""
        words = " ".join(filter(None, ["simulated" if row["simulated"] else "", state]))
        return (
            format_html('{} <span class="quiet small">{}</span>', row["annotator"], words)
            if words
            else row["annotator"]
        )

    def majority(row: Row) -> object:
        return with_sub(exact(row["with_majority"], percent), f"n {row['compared']:,}")

    paid = partial(money, currency=pay["currency"])
    columns = [
        Column("annotator", html=named),
        number("judged", "judged"),
        number("active", "active_minutes", hours),
        number("per hour", "per_hour", partial(decimals, places=0)),
        *(
            [number("paid", "paid", paid), number("effective hourly pay", "pay_reached", paid)]
            if pay["pay_per_hour"]
            else []
        ),
        number("close to others" if level else "majority", html=majority),
        number(f"mean {kappa_name(level)}", "kappa", decimals),
        Column(
            "warning signs",
            "signs",
            lambda signs: ", ".join(KINDS[sign["kind"]] for sign in signs) or "no signs",
            css="small",
        ),
    ]
    caption = "Each annotator who judged"
    if len(people) < judged:
        caption = f"The {len(people)} annotators who judged the most, of {judged:,}"
    return Table("", columns, people, caption=caption, shown_caption=True, css="figures long people", cards=True)


@register.simple_tag
def exclusions_table(rows: Rows) -> Table:
    columns = [
        Column("annotator", "annotator"),
        Column("when", "at", utc, css="when"),
        Column("by", html=lambda row: f"{row['by']}, stage {row['stage']}" if row["stage"] else row["by"]),
        Column("why", "why", css="when"),
        number("judgments not counted", "judgments"),
        Column("warning signs", "signs", lambda signs: "; ".join(signs) or NOTHING, css="small"),
    ]
    caption = "Who was excluded or screened out, when, how and why"
    return Table("", columns, rows, caption=caption, css="figures long people", cards=True)


@register.simple_tag
def cost_table(stages: Rows, all: Mapping[str, Any], pay: Mapping[str, Any]) -> Table:
    """Return costs, without `judgment_rows`, which include undos and withdrawn answers."""
    paid = partial(money, currency=pay["currency"])

    def when(stage: Row) -> object:
        pace = stage["figures"]["pace"]
        return format_html("{} – {}", utc(pace["first"]), utc(pace["last"])) if pace["first"] else pace["reason"]

    columns = [
        Column("stage", html=_stage),
        number("wanted", "figures.progress.judgments_wanted"),
        number("counted", "figures.progress.judgments_counted"),
        number("taken back", "figures.progress.withdrawn"),
        number("too late", "figures.progress.surplus"),
        number("active", "figures.cost.active_minutes", hours),
        *([number("cost", "figures.cost.cost", paid)] if pay["pay_per_hour"] else []),
        Column("first and last judgment", html=when, css="small when"),
    ]
    sums = [all[name] for name in ("judgments_counted", "withdrawn", "surplus", "active_minutes")]
    foot = ["all", "", *sums, *([all["cost"]] if pay["pay_per_hour"] else []), ""]
    caption = "Judgments, active time and cost of each stage"
    return Table("", columns, stages, foot=[foot], caption=caption, cards=True)


@register.simple_tag
def cases_table(stages: Rows, all: Mapping[str, Any]) -> Table:
    """Return flags, tasks with different answers, and adjudications."""
    columns = [
        Column("stage", html=_stage),
        number("flags", "figures.progress.flags"),
        number("open flags", "figures.progress.flags_open"),
        number("tasks with different answers", "figures.disagreements.answer"),
        number("tasks settled", "adjudications.settled"),
        number("by an adjudicator", "adjudications.tasks"),
        number("share", "adjudications.share", percent),
    ]
    foot = ["all", all["flags"], all["flags_open"], "", all["settled"], all["adjudicated"], all["adjudicated_share"]]
    caption = "Flags, tasks with different answers, and adjudications of each stage"
    return Table("", columns, stages, foot=[foot], caption=caption, cards=True)
