"""How figures are written on pages."""

from django import template

register = template.Library()


@register.filter
def duration(seconds: float) -> str:
    """`40 s`, `3 min 20 s`, `2 h 5 min`: what a person wants to know of a wait."""
    seconds = max(0, round(seconds))
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"
