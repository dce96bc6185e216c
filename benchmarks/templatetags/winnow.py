"""Formatting of numbers on pages, and form fields."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from django import template
from django.forms import BaseForm, BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from benchmarks.differences import marked_apart
from benchmarks.naming import kind_name, role_name
from benchmarks.records import Attributes, is_own, role_order

register = template.Library()


@register.filter
def duration(seconds: float) -> str:
    """Return a duration as people read it: `40 s`, `3 min 20 s`, `2 h 5 min`."""
    seconds = max(0, round(seconds))
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


@register.filter
def moment(at: datetime | None, form: str = "") -> str:
    """Return a `time` element in the viewer's zone (`permissions.staff_only` activates it), with UTC as its title; by
    default with the day and the minute, and the year if it is not this one."""
    if at is None:
        return ""
    form = form or ("j M, H:i" if localtime(at).year == localtime().year else "j M Y, H:i")
    told = f"{date_format(at.astimezone(UTC), 'j M Y, H:i')} UTC"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', at.isoformat(), told, date_format(localtime(at), form)
    )


@register.filter
def by_role(things: Iterable) -> list:
    """Return captions or images, positive ones first, and those in user-defined roles last.

    Each has a `label`: its role, with a number if an item has several in a user-defined role. Captions have
    `marked`: their text, with its distinguishing words marked.
    """
    found = sorted(things, key=lambda thing: (role_order(thing.role), thing.position))
    counts = Counter(thing.role for thing in found)
    for thing in found:
        number = f" {thing.position + 1}" if is_own(thing.role) and counts[thing.role] > 1 else ""
        thing.label = f"{role_name(thing.role, 'captions' if hasattr(thing, 'text') else 'images')}{number}"
    captions = [thing for thing in found if hasattr(thing, "text")]
    for caption, marked in zip(captions, marked_apart([one.text for one in captions]), strict=True):
        caption.marked = marked
    return found


register.filter("role_name", role_name)
register.filter("kind_name", kind_name)


@register.filter
def in_words(attributes: Attributes) -> str:
    """Return a caption's or image's attributes as people read them: `model: sd-3 · parents: 1, 2`."""
    return " · ".join(f"{role_name(name)}: {_plain(value)}" for name, value in sorted(attributes.items()))


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@register.simple_block_tag
def labelled(content: SafeString, field: BoundField, label: str = "") -> SafeString:
    """`{% labelled form.model "Model" %}Its name at the endpoint.{% endlabelled %}`: a field with its label, its errors
    and a hint. Label and hint default to the field's own."""
    context = {
        "field": field,
        "label": label or field.label,
        "hint": content if content.strip() else in_code(field.help_text),
    }
    return render_to_string("components/_labelled.html", context)


@register.simple_tag(takes_context=True)
def problems(context: Context) -> list[tuple[str, str, str]]:
    """Return each error in the page's `forms`, or its `form`, with the id and the label of its field ("" if none)."""
    forms, found = context.get("forms") or [context.get("form")], []
    for form in forms.values() if isinstance(forms, Mapping) else forms:
        if isinstance(form, BaseForm):
            found += [("", "", str(error)) for error in form.non_field_errors()]
            found += [(_place(field), str(field.label), str(error)) for field in form for error in field.errors]
    return found


def _place(field: BoundField) -> str:
    """Return the id of the field's control; if there are several, such as radio buttons, the first."""
    if field.is_hidden or field.id_for_label:
        return "" if field.is_hidden else field.id_for_label
    return (field.subwidgets[0].id_for_label if field.subwidgets else "") or field.auto_id


@register.filter
def in_code(text: object) -> SafeString:
    """Return `words`, with text between backticks as code."""
    parts = enumerate(str(text).split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in parts))
