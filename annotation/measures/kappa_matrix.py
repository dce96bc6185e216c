"""Cohen's kappa of every two of the annotators who share most items, for the matrix that a page shows. Pure."""

from collections import Counter

import numpy as np

from annotation.measures import agreement
from annotation.measures.agreement import Table
from annotation.measures.breakdowns import most_shared

SHOWN = 25  # annotators: a field of the matrix stays large enough to be read


def matrix(table: Table) -> dict:
    """JSON-able: the `annotators` that are shown, in their order, `of` how many who share an item with somebody, and
    `pairs` of them with an item in common: {first, second, value, n, reason} as measures.agreement.PairKappa.

    Shown are those with most judgments on items of which somebody else's is looked at too, counted for each other one.
    """
    shared: Counter[int] = Counter()
    for (first, second), n in most_shared(table).items():
        shared[first] += n
        shared[second] += n
    chosen = sorted(sorted(shared, key=lambda place: (-shared[place], place))[:SHOWN])
    pairs = agreement.cohen_kappas(table.part(np.isin(table.annotator, chosen)))
    return {
        "annotators": [table.annotators[place] for place in chosen],
        "of": len(shared),
        "pairs": [
            {"first": one.first, "second": one.second, "value": one.value, "n": one.n, "reason": one.reason}
            for one in pairs
        ],
    }
