"""The tables on the pages about a study's stages, items and people, each declared once."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

from annotation.assignment.by_name import AnnotatorShare
from annotation.dashboard.annotator_page import Test
from annotation.dashboard.item_page import Asked, Given
from annotation.figures.annotator_screens import Screen
from annotation.models import Stage, Study
from annotation.protocols.base import Protocol
from annotation.templatetags import figures as written
from annotation.templatetags.annotators import probability, sign_name
from annotation.wording import pseudonym, readable_label
from benchmarks.naming import kind_name
from benchmarks.tables import NOTHING, Column, Table, bdi, number
from benchmarks.templatetags.winnow import moment

register = template.Library()

Row = Mapping[str, Any]


def _link(address: str, text: object, css: str = "") -> SafeString:
    return format_html('<a{} href="{}">{}</a>', format_html(' class="{}"', css) if css else "", address, text)


def _quiet(text: object) -> SafeString:
    return format_html('<span class="quiet small">{}</span>', text)


def _listed(cells: Iterable[object], between: str, none: object = NOTHING) -> object:
    return format_html_join(between, "{}", ((cell,) for cell in cells)) or none


def _task(study: int, stage: Stage, task: int | None, key: str) -> SafeString:
    """Return an item, linked to the page that decides its task, and its history."""
    query = {"stage": stage.position, "task": task}
    shown = _link(reverse("study-adjudicate", args=[study], query=query), bdi(key), "tall") if task else bdi(key)
    history = format_html('history<span class="visually-hidden"> of {}</span>', key)
    items = reverse("study-items", args=[study], query={"key": key})
    return format_html("{} {}", shown, _link(items, history, "small tall"))


@register.simple_tag
def progress_table(study: Study, stages: Sequence[Row]) -> Table:
    def named(row: Row) -> SafeString:
        stage = row["stage"]
        address = reverse("study-stage", args=[study.pk, stage.position])
        return format_html("{} {}", _link(address, row["title"]), _quiet(f"stage {stage.position}"))

    def judged(row: Row) -> object:
        if not row["total"]:
            return _quiet(f"when stage {row['waits_for']} closes") if row.get("waits_for") else NOTHING
        bar = format_html('<progress value="{}" max="{}" aria-hidden="true"></progress>', row["done"], row["total"])
        return format_html("{} {} of {}", bar, f"{row['done']:,}", f"{row['total']:,}")

    columns = [
        Column("stage", html=named),
        Column("state", html=lambda row: render_to_string("components/_state.html", {"state": row["words"]}), unit=""),
        Column("judged", html=judged),
        *(number(name, name) for name in ("kept", "dropped", "open")),
    ]
    return Table("stages-table", columns, stages, caption="Stages", cards=True)


@register.simple_tag
def assigned_table(given: Sequence[tuple[AnnotatorShare, str]], label: str) -> Table:
    def named(one: AnnotatorShare) -> SafeString:
        gone = ("excluded" if one.annotator.excluded_at else "left") if one.gone else ""
        return format_html("{} {} {}", one.annotator.pseudonym, bdi(one.annotator.name), _quiet(gone) if gone else "")

    columns = [
        Column("annotator", html=named),
        *(number(name, name) for name in ("assigned", "done", "skipped")),
        number("not started", "left", len),
    ]
    rows = [one for one, _ in given]
    return Table("given", columns, rows, label=label, row_id=lambda one: f"annotator-{one.annotator.number}")


@register.simple_tag
def reasons_table(rows: Sequence[tuple[str, str, str, int]], stage: Stage, chosen: str) -> Table:
    """Return the reasons why items are blocked, with counts; each links to its items."""

    def said(row: tuple[str, str, str, int]) -> SafeString:
        name, holds, todo, _ = row
        query = urlencode({"stage": str(stage.position), "reason": name})
        here = mark_safe(' aria-current="true"' if name == chosen else "")
        address = reverse("study-stage", args=[stage.study_id, stage.source.position]) if stage.source else ""
        earlier = _link(address, stage.source.title, "small") if stage.source and name == "source" else ""
        return format_html('<a href="?{}"{}>{}</a><br>{} {}', query, here, holds, _quiet(todo), earlier)

    columns = [Column("reason", html=said), number("items", "3")]
    return Table("", columns, rows, label="reasons-title", row_head=False)


def blocked_table(request: HttpRequest, stage: Stage, rows: Sequence[Row], per_page: int) -> Table:
    """Return the items blocked for one reason."""
    study = stage.study_id

    def keepers(row: Row) -> object:
        pages = ((reverse("study-annotator", args=[study, one]), pseudonym(one)) for one in row["keepers"] or ())
        return _listed((_link(*page) for page in pages), " ")

    columns = [
        Column("item", html=lambda row: _task(study, stage, row["task"], row["item"])),
        Column("type", html=lambda row: kind_name(row["type"], row["subtype"], "")),
        number("judged", html=lambda row: f"{row['judged']} of {row['wanted']}" if row["task"] else NOTHING),
        *([Column("reserved for", html=keepers)] if any(row["keepers"] for row in rows) else []),
    ]
    return Table("blocked", columns, rows, label="items-title", request=request, per_page=per_page)


@register.simple_tag
def tests_table(tests: Sequence[Test], stage: Stage) -> Table:
    """Return the tests behind an annotator's warning signs; each sign links to its screens."""

    def sign(test: Test) -> str:
        address = f"?stage={stage.position}&show={test.kind}#screens"
        return _link(address, sign_name(test.kind), "warn") if test.speaks else NOTHING

    columns = [
        Column("tested", "name"),
        number("n", "n"),
        number("observed", "found", written.percent),
        number("expected", "expected", written.percent),
        number("p", "p", probability),
        Column("test", html=lambda test: f"not tested: {test.reason}" if test.reason else test.by, css="nowrap"),
        Column("warning sign", html=sign),
    ]
    return Table("", columns, tests, label="tests-title")


@register.simple_tag
def screens_table(screens: Iterable[Screen], stage: Stage, show: str) -> Table:
    """Return an annotator's screens behind the sign `show`, with the others' answers."""

    def named(one: Screen) -> SafeString:
        asked = one.row.task[1]
        key = _task(stage.study_id, stage, one.task, one.key) if one.row.kind == "judge" else bdi(one.key)
        return format_html("{} {}", key, _quiet(readable_label(asked)) if asked else "")

    def others(one: Screen) -> object:
        if show == "checks":
            return written.labels(list(one.gold))
        said = (f"{readable_label(answer)} × {n}" if n > 1 else readable_label(answer) for answer, n in one.tally)
        return _listed(said, ", ", _quiet("nobody yet"))

    columns = [
        Column("item", html=named),
        Column("answer", "row.answer", readable_label),
        Column("correct answer" if show == "checks" else "others", html=others),
        number(
            "position",
            html=lambda one: f"{one.row.place} of {one.row.places}" if one.row.place else NOTHING,
            title="Its position on the screen, from 1; the order is random.",
        ),
        number("seconds", "seconds", partial(written.decimals, places=1)),
        Column("when", "at", partial(moment, form="j M, H:i:s")),
    ]
    return Table("", columns, screens, label="screens", empty="None.", cards=True)


@register.simple_tag
def answers_table(asked: Asked, stage: Stage) -> Table:
    """Return the answers to one of an item's tasks."""

    def named(one: Given) -> SafeString:
        address = reverse("study-annotator", args=[stage.study_id, one.who.number])
        return _link(f"{address}?stage={stage.position}", one.who.pseudonym)

    columns = [
        Column("annotator", html=named),
        Column("answer", html=lambda one: render_to_string("dashboard/_item_answer.html", {"one": one})),
        Column("status", "fate"),
        number("seconds", "seconds", partial(written.decimals, places=1)),
        Column("when", "at", moment),
    ]
    place = " ".join(filter(None, (stage.title, asked.task.question)))
    caption = f"Answers in stage {place}, round {asked.task.round}"
    return Table("", columns, asked.given, caption=caption, cards=True)


@register.simple_tag
def stage_people_table(stage: Stage, figures: Mapping[str, Any], protocol: Protocol, level: str | None) -> Table:
    """Return the pace, agreement and habits of a stage's annotators."""
    study, on, near = stage.study, figures["by_type_on"], "close to others" if level else "majority"
    warn = partial(format_html, '<span class="warn">{}</span>')

    def named(row: Row) -> SafeString:
        page = reverse("study-annotator", args=[study.pk, int(row["annotator"].removeprefix("A-"))])
        marks = [_quiet("simulated")] if row["simulated"] else []
        if row["excluded"]:
            marks.append(format_html('<span class="bad small" title="{}">excluded</span>', row["exclusion_reason"]))
        elif row["left"]:
            marks.append(_quiet("left"))
        return format_html("{} {}", _link(f"{page}?stage={stage.position}", row["annotator"]), _listed(marks, " ", ""))

    columns = [
        Column("annotator", html=named),
        number("judged", "judged"),
        number("median s", "median_seconds", partial(written.decimals, places=1)),
        number(f"mean {written.kappa_name(level)}", lambda row: row["kappa_mean"].get(on), written.decimals),
        number(near, lambda row: row["with_majority"][on]["value"], written.whole_percent),
        *(
            number(choice.label, lambda row, of=choice.identity: row["fixed_shares"].get(of), written.whole_percent)
            for choice in protocol.fixed
        ),
        number("most-picked position", lambda row: written.top_share(row["places"]), written.whole_percent),
        number("cannot judge, skipped, late", html="{cannot_judge}, {skipped}, {surplus}".format_map),
        number("active", "active_minutes", written.hours),
        *([number("paid", "paid", partial(written.money, currency=study.currency))] if study.pay_per_hour else []),
        Column("warning signs", html=lambda row: _listed(map(warn, row["signs"]), " · ")),
    ]
    empty = "No annotators in this stage yet" + ("." if stage.source else ". Send the invite link.")
    return Table("stage-people", columns, figures["annotators"], label="annotators-title", empty=empty)
