"""The value of a form field by name, for templates that name fields in a loop."""

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def field(fields: Mapping[str, str], name: str) -> str:
    """`given|field:guideline.code`: the value of that field, or ""."""
    return fields.get(name, "")
