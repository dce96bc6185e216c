"""How a report is written: on paper no script puts a moment into the reader's own zone."""

from datetime import UTC, datetime

from django import template
from django.utils.html import format_html

from annotation.templatetags.figures import NOTHING

register = template.Library()


@register.filter
def utc(at: str | None) -> str:
    """`21 Nov 2026, 17:44 UTC`"""
    if not at:
        return NOTHING
    moment = datetime.fromisoformat(at).astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', at, f"{moment.day} {moment:%b %Y, %H:%M} UTC")
