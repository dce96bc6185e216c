"""The tables on jobs' pages: problems with files, a job's counts, and training curves and presets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django import template
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html

from benchmarks.jobs import model_workers
from benchmarks.models import Correction, TrainedModel
from benchmarks.naming import kind_name
from benchmarks.scoring.ask import orders_in_words
from benchmarks.tables import NOTHING, Column, Table, bdi, number
from benchmarks.templatetags.winnow import duration, moment

register = template.Library()


@register.inclusion_tag("jobs/_model_worker.html")
def model_worker() -> dict:
    return {"running": model_workers.is_running()}


Rows = Sequence[Mapping[str, Any]]


def _row(n: int | None) -> str:
    return "" if n is None else str(n)


def _code(text: str) -> object:
    return format_html("<code>{}</code>", text)


@register.simple_tag
def problems_table(rows: Rows, label: str, last: str = "what to do", code: bool = True) -> Table:
    columns = [
        *([Column("code", "code", _code)] if code else []),
        Column("file", "file", bdi, unit=""),
        number("row", "row", _row),
        Column("column", "column", bdi),
        Column(last, "advice", bdi, unit=""),
    ]
    css = "problems" if code else "problems brief"
    return Table("", columns, rows, label=label, cards=True, row_head=False, css=css)


@register.simple_tag
def unmatched_table(rows: Rows, label: str) -> Table:
    columns = [
        Column("file", "file", bdi),
        number("row", "row", _row),
        Column("item", "item", bdi),
        Column("reason", "reason", unit=""),
    ]
    return Table("", columns, rows, label=label, cards=True, row_head=False, css="problems")


@register.simple_tag(takes_context=True)
def corrections_table(context: Mapping[str, Any], made: QuerySet[Correction], with_item: bool = False) -> Table:
    """Return the corrections, newest first, a page at a time."""

    def item(one: Correction) -> object:
        address = reverse("item-correct", args=[one.item.benchmark_id, one.item.position])
        return format_html('<a href="{}">{}</a>', address, bdi(one.item.key))

    columns = [
        Column("when", "at", moment),
        Column("who", "made_by", lambda user: user or "command", sort=False),
        *([Column("item", "item.key", html=item)] if with_item else []),
        Column("where", html=lambda one: one.place or one.get_action_display()),
        Column(
            "before and after",
            html=lambda one: render_to_string("corrections/_change.html", {"one": one}),
            css="change",
        ),
        Column("reason", "reason", bdi),
    ]
    return Table(
        "history", columns, made, label="history-title", row_head=False, request=context["request"], per_page=50,
        empty="Nothing has been corrected yet.",
    )  # fmt: skip


def facts(rows: Iterable[tuple[str, object]], label: str, css: str = "sums") -> Table:
    """Return names, each with its description."""
    return Table("", [Column("", "0"), Column("", "1")], list(rows), label=label, head=False, css=css)


@register.simple_tag
def asked_facts(report: Mapping[str, Any], label: str) -> Table:
    counted = report["outcomes"]
    rows = {
        "different answers in the two orders": f"{counted['order']:,}",
        "refused": f"{counted['refused']:,}",
        "named no option": f"{counted['unparsable']:,}",
        "not answered, so missing from the run": f"{report['unanswered']:,}",
        "the option shown first was chosen": f"{report['first']:,} of {report['named']:,} times",
        **orders_in_words(report),
    }
    return facts(rows.items(), label, "sums words")


@register.simple_tag
def imported_facts(report: Mapping[str, Any], label: str) -> Table:
    images = report["images"]
    stored = (
        f"{images['stored']:,} stored + {images['known']:,} already stored + {images['same']:,} identical to another"
    )
    return facts([("images named", f"{images['named']:,} = {stored} image"), *_files(report)], label)


@register.simple_tag
def checked_facts(report: Mapping[str, Any], label: str) -> Table:
    """Return the facts that a check found in files not imported."""
    kinds = [f"{kind_name(kind, subtype)} {count:,}" for kind, subtype, count in report["kinds"]]
    kinds += ["…"] if report["kind_count"] > len(kinds) else []
    sizes = [f"{width} × {height}: {count:,}" for width, height, count in report.get("sizes") or ()]
    if sizes and report["size_count"] > len(sizes):
        sizes.append(f"{report['size_count']:,} sizes in all")
    rows = [("types", " · ".join(kinds)), ("image sizes", " · ".join(sizes)), *_files(report)]
    if report.get("left_out"):
        rows.append(("incomplete rows", f"{report['left_out']:,} would be skipped"))
    return facts([row for row in rows if row[1] or row[0] == "types"], label)


def _files(report: Mapping[str, Any]) -> list[tuple[str, object]]:
    if not (files := report.get("files")):
        return []
    parts = f"{files['used']:,} used + {files['unused']:,} unused + {files['system']:,} system files"
    return [("files given", f"{files['found']:,} = {parts}")]


@register.simple_tag
def captions_funnel_table(funnel: Rows, kinds: Sequence[str], label: str) -> Table:
    """Return how many captions of each kind were left after each step."""
    columns = [
        Column("step", "step", lambda step: step[:1].upper() + step[1:]),
        number("captions", "count"),
        *(number(kind_name(kind), f"kinds.{place}") for place, kind in enumerate(kinds)),
    ]
    return Table("", columns, funnel, label=label)


@register.simple_tag
def curve_table(panel: Mapping[str, Any]) -> Table:
    columns = [number("step", "step"), number(panel["kind"], "value", "{:.3f}".format)]
    return Table("", columns, panel["rows"], caption=panel["title"], shown_caption=True, row_head=False)


@register.simple_tag
def presets_table(presets: Rows, label: str) -> Table:
    def epochs(row: Mapping[str, Any]) -> str:
        own = row["settings"]
        return f"{own.epochs} (images: {own.image_epochs})" if own.image_epochs else str(own.epochs)

    columns = [
        Column("preset", "preset.title"),
        Column("loss", "preset.loss"),
        Column(
            "items need",
            "preset.needs",
            lambda needs: ", ".join(needs).replace("negative caption", "hard negative") or NOTHING,
        ),
        number("batch", "settings.batch"),
        number("epochs", html=epochs),
        number("rate", "settings.rate", "{:g}".format),
        Column(
            "time here", "seconds", lambda seconds: "not yet known" if seconds is None else f"about {duration(seconds)}"
        ),
    ]
    return Table("", columns, presets, label=label)


@register.simple_tag
def trained_table(models: Sequence[TrainedModel], benchmark: int, label: str) -> Table:
    def score(model: TrainedModel) -> object:
        address = f"{reverse('score-new', args=[benchmark])}?model={quote(model.asked)}"
        return format_html('<a href="{}">Score<span class="visually-hidden"> with {}</span></a>', address, model.name)

    columns = [
        Column("name", "name"),
        Column("preset", "preset"),
        Column("base model", html=lambda model: " · ".join(filter(None, [model.base, model.base_weights]))),
        number("accuracy", "accuracy", "{:.3f}".format),
        Column("trained", "made_at", lambda at: moment(at, "j M Y")),
        Column("score", html=score, quiet_head=True),
    ]
    return Table("", columns, models, label=label)


@register.simple_tag
def likeness_table(panel: Mapping[str, Any]) -> Table:
    """Return how many items have each similarity, for each pair of captions, below its mean and median."""
    pairs = panel["rows"]
    sums = [
        {"label": name, "counts": [f"{pair[name]:.{panel['places']}f}" for pair in pairs]}
        for name in ("mean", "median")
    ]
    columns = [Column("items with", "label"), *(number(pair["pair"], f"counts.{at}") for at, pair in enumerate(pairs))]
    return Table("", columns, [*sums, *panel["table"]], caption=panel["title"], shown_caption=True)
