"""The properties of labels on which agreement depends: order, values, and how many could be chosen. Pure."""

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.measures.types import Array, Figures


@dataclass(frozen=True, slots=True)
class LabelScale:
    """The labels' `places` from low to high and their `values` as numbers (L each); None if unknown.

    Places count every step between them, even steps whose labels are not in the table. If some labels are not on the
    scale, such as “cannot judge”, `kept` has the columns of the others (L of them); None if all are on it. `choices` is
    how many labels could have been chosen, if known.
    """

    places: Array | None
    values: Array | None
    kept: Array | None = None
    choices: int = 0


def label_scale(
    labels: Sequence[str], order: Sequence[str] = (), aside: Container[str] = (), choices: int = 0
) -> LabelScale:
    """Make a scale: numbers in numerical order, other labels in that of `order`; those `aside` are not on it.

    Raises KeyError with a label that is not in `order`.
    """
    kept = [place for place, label in enumerate(labels) if label not in aside]
    if len(kept) < len(labels):
        on = label_scale([labels[place] for place in kept], order, choices=choices)
        return replace(on, kept=np.array(kept, dtype=int))
    values = labels_as_numbers(labels)
    if order:
        place_of = {label: place for place, label in enumerate(order)}
        return LabelScale(np.array([place_of[label] for label in labels], dtype=int), values, choices=choices)
    return LabelScale(None if values is None else np.argsort(np.argsort(values)), values, choices=choices)


def labels_as_numbers(labels: Sequence[str]) -> Array | None:
    """Return labels as numbers; None if one is not a number or is too large for exact differences. “1_0” is a name."""
    if any("_" in label for label in labels):
        return None
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return values if np.isfinite(np.square(values.max(initial=0) - values.min(initial=0))) else None


def categories(offered: Collection[str] | None, labels: Collection[str]) -> Figures:
    """Return the number of labels (`n`) for measures that depend on it, and which labels: those `offered` and any other
    given, or if unknown, those `given`.
    """
    if not offered:
        return {"n": len(labels), "are": "given"}
    return {"n": len({*offered, *labels}), "are": "offered"}
