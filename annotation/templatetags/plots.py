"""Write the tables of figures (annotation/charts/study.py): rounded, with every digit in an attribute."""

from datetime import datetime

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from annotation.charts.study import Column, Plot, Value
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
def plot_rows(plot: Plot) -> SafeString:
    """Return the body of a figure's table, without spaces, because there are up to 300 rows."""
    tags = ("th", *["td"] * (len(plot.columns) - 1))
    rows = ((mark_safe("".join(map(_cell, row, plot.columns, tags))),) for row in plot.rows)
    return format_html("<tbody>{}</tbody>", format_html_join("\n", "<tr>{}</tr>", rows))


def _cell(value: Value, column: Column, tag: str) -> SafeString:
    """Return a cell whose `data-value` is the value with all digits; for text, the text is the value."""
    scope = mark_safe(' scope="row"') if tag == "th" else ""
    if column.form == "text":
        text = format_html('<bdi dir="auto">{}</bdi>', value) if value else ""
        return format_html("<{0}{1}>{2}</{0}>", tag, scope, text)
    shown = NOTHING if value is None else FORMS[column.form](value)
    exact = "" if value is None else value if column.form == "moment" else repr(value)
    number = "" if column.form == "moment" else mark_safe(' class="number"')
    return format_html('<{0}{1}{2} data-value="{3}">{4}</{0}>', tag, scope, number, exact, shown)


@register.filter
def on_paper(at: str) -> str:
    """Return a moment (ISO 8601) for printed figures, in UTC, since no script can convert it to the reader's zone."""
    return datetime.fromisoformat(at).strftime("%-d %B %Y, %H:%M UTC")
