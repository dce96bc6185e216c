"""What a screen's fields held before, in templates that name them in a loop."""

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def of(said: Mapping[str, str], name: str) -> str:
    """`said|of:guideline.code`"""
    return said.get(name, "")
