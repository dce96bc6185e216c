"""The plot of a training's curve."""

from collections.abc import Mapping
from typing import Any

from django import template

from benchmarks.training import plot

register = template.Library()


@register.filter
def curve_panels(curve: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """`plot.panels` of a job's or a trained model's curve."""
    return plot.panels(curve or {})
