"""The tables of the results that a stage's paper reports, on the study's page and in its report, each declared once."""

from django import template

from annotation.templatetags.figure_tables import RIGHT, Rows, kind_in_order
from annotation.templatetags.figures import decimals, percent
from annotation.wording import readable_label
from benchmarks.naming import kind_name
from benchmarks.tables import Column, Table, number

register = template.Library()

NONE = "Nothing judged yet."


@register.simple_tag
def edits_table(rows: Rows) -> Table:
    def spread(of: str) -> list[Column]:
        mean, median = (number(name, f"{of}.{name}", lambda n: decimals(n, 1), group=of) for name in ("mean", "median"))
        return [mean, median, number("maximum", f"{of}.most", group=of)]

    columns = [
        Column("sentence", "role", readable_label),
        number("edits", "n"),
        *spread("characters"),
        *spread("words"),
    ]
    caption = "Edit distance of changed sentences, in characters and words"
    return Table("", columns, rows, caption=caption, empty="No edits so far.")


@register.simple_tag
def guidelines_table(rows: Rows, holds: object) -> Table:
    columns = [
        Column("guideline", "words"),
        *([number("holds", "share", percent), number("n", "n")] if holds else []),
        number("broken, judgments", "judgments"),
        number("broken, dropped items", "dropped"),
    ]
    return Table("", columns, rows, caption="Each guideline in judgments and in dropped items")


@register.simple_tag
def editors_table(rows: Rows, confirms: bool) -> Table:
    """Return what each annotator did and, if annotators confirm edits, what became of their edits."""
    group, edits = ("judgments", "their edits") if confirms else ("", "")
    columns = [
        Column("annotator", "annotator"),
        *(number(name, name, group=group) for name in ("accepted", "edited", "rejected")),
        *([number("confirmed an edit", "confirms", group=group)] if confirms else []),
        number("cannot judge", "cannot_judge", group=group),
    ]
    if confirms:
        fates = {"confirmed": "", "edited_again": "edited again", "rejected": "", "otherwise": "other", "waiting": ""}
        columns += [number(head or name, f"of_edits.{name}", group=edits) for name, head in fates.items()]
    caption = "What each annotator did" + (", and what became of their edits" if confirms else "")
    return Table("", columns, rows, caption=caption, css="figures people", empty=NONE)


@register.simple_tag
def orders_table(rows: Rows, cannot_judge: int) -> Table:
    columns = [
        Column("order", "words"),
        Column("result", "right", lambda right: "right" if right else "wrong"),
        number("judgments", "judgments"),
        number("share", "share", percent),
    ]
    foot = [["cannot judge", "wrong", cannot_judge, ""]]
    return Table("", columns, rows, foot=foot, caption="How often each order was given")


@register.simple_tag
def right_by_type_table(rows: Rows) -> Table:
    columns = [Column("type", html=kind_in_order), *RIGHT, number("waiting", "waiting")]
    return Table("", columns, rows, caption="Share of items that are right, by type and subtype")


@register.simple_tag
def right_by_annotator_table(rows: Rows) -> Table:
    columns = [Column("annotator", "annotator"), *RIGHT]
    return Table("", columns, rows, caption="Share of each annotator’s judgments that are right", empty=NONE)


@register.simple_tag
def origins_table(rows: Rows, whole: Rows, origins: list[str]) -> Table:
    """Return how often each origin's negative caption was better."""
    columns = [
        Column("type", lambda row: kind_name(row["type"])),
        Column("criterion", "words"),
        *(number(origin, f"better.{place}") for place, origin in enumerate(origins)),
        number("tie", "tie"),
        number("n", "n"),
    ]
    foot = [["all", row["words"], *row["better"], row["tie"], row["n"]] for row in whole]
    caption = "How often each origin’s negative caption was better, and how often neither, by type and criterion"
    return Table("", columns, rows, foot=foot, caption=caption)
