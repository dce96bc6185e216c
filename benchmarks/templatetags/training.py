"""The plot of a training curve."""

from collections.abc import Mapping
from typing import Any

from django import template

from benchmarks.training import plot

register = template.Library()


@register.filter
def curve_panels(curve: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return `plot.panels` for a job's or a trained model's curve."""
    return plot.panels(curve or {})
