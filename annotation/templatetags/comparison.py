"""How differences are written."""

from django import template

from annotation.templatetags.figures import NOTHING, exact

register = template.Library()


@exact(register)
def points(difference: float | None) -> str:
    """Percentage points with their sign."""
    return NOTHING if difference is None else f"{100 * difference:+.1f}".replace("-", "−")
