"""How the tables of figures are written (annotation/charts/study.py): rounded, with every digit in an attribute."""

from datetime import datetime

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from annotation.charts.study import Column, Value
from annotation.templatetags.figures import NOTHING, decimals, local, percent
from annotation.wording import exact

register = template.Library()

FORMS = {
    "count": intcomma,
    "decimal": decimals,
    "share": percent,
    "exact": lambda value: exact(round(value, 6)),
    "moment": local,
}


@register.simple_tag
def cell(value: Value, column: Column, tag: str = "td") -> str:
    """A cell whose `data-value` is the value with all its digits; for text, the text is the value."""
    scope = mark_safe(' scope="row"') if tag == "th" else ""
    if column.form == "text":
        return format_html(
            '<{tag}{scope}><bdi dir="auto">{value}</bdi></{tag}>', tag=tag, scope=scope, value=value or ""
        )
    shown = NOTHING if value is None else FORMS[column.form](value)
    exact = "" if value is None else value if column.form == "moment" else repr(value)
    number = "" if column.form == "moment" else mark_safe(' class="number"')
    return format_html(
        '<{tag}{scope}{number} data-value="{exact}">{shown}</{tag}>',
        tag=tag, scope=scope, number=number, exact=exact, shown=shown,
    )  # fmt: skip


@register.filter
def on_paper(at: str) -> str:
    """A moment (ISO 8601) as printed figures write it, in UTC: no script can convert it to the reader's zone."""
    return datetime.fromisoformat(at).strftime("%-d %B %Y, %H:%M UTC")
