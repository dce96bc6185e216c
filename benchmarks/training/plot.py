"""A training curve as coordinates of a plot with two panels: the loss and the validation accuracy. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

WIDE, HIGH = 640, 120  # size of a panel, in units of its view box
LINES = 12  # most rows of the table


def panels(curve: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return panels with a `title`, `points` in SVG syntax, the `last` value with its `x` and `y`, and the values at
    the `top` and `bottom`; none if there are no values yet."""
    steps = max(1, curve.get("steps", 1))
    found = [
        ("Loss", "loss", curve.get("losses", [])),
        ("Validation accuracy", "accuracy", curve.get("accuracies", [])),
    ]
    return [_panel(title, kind, values, steps) for title, kind, values in found if values]


def _panel(title: str, kind: str, values: Sequence[Sequence[float]], steps: int) -> dict[str, Any]:
    top = 1.0 if kind == "accuracy" else max(value for _, value in values)
    points = [(round(WIDE * step / steps, 1), round(HIGH * (1 - value / (top or 1)), 1)) for step, value in values]
    return {
        "title": title, "kind": kind, "points": " ".join(f"{x},{y}" for x, y in points), "x": points[-1][0],
        "y": points[-1][1], "last": values[-1][1], "top": top, "steps": steps, "rows": thinned(values),
    }  # fmt: skip


def thinned(values: Sequence[Sequence[float]]) -> list[dict[str, float]]:
    """Return at most `LINES` rows of a table, evenly spaced, including the last one."""
    every = -(-len(values) // LINES)
    return [{"step": step, "value": value} for step, value in reversed(values[::-1][::every])]
