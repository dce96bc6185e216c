"""Return the value of a form field by name, for templates that name fields in a loop."""

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def field(fields: Mapping[str, str], name: str) -> str:
    """Return the value of that field, or "": `given|field:guideline.code`."""
    return fields.get(name, "")
