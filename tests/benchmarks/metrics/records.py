"""Records of items from tables of scores, made as Winnow makes them of a model's stored answers."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.metrics.base import Typed
from benchmarks.predictions import stored
from benchmarks.predictions.kinds import Kind


def records_of(
    kind: Kind, names: Sequence[str], rows, types: Sequence[str] = (), captions: Mapping[str, str] | None = None
) -> list[Typed]:
    """`rows`: n items' scores, a column for each of the `names`. `captions`: those of every item, by role."""
    table = np.asarray(rows, dtype=float)
    places = range(len(table))
    columns = {
        name: stored.Column(places, of.tolist(), [None] * len(of)) for name, of in zip(names, table.T, strict=True)
    }
    kinds = {place: (types[place] if types else "", "") for place in places}
    return stored.records(columns, kinds, kind, dict.fromkeys(places, captions or {}))
