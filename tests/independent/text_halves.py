"""VISLA's Table 3 once more: for each triplet, in a plain loop, the positive nearer to the negative first."""

from collections.abc import Sequence

import numpy as np

from tests.independent.paper_edits import levenshtein


def text_halves(rows: Sequence[tuple[str, str, str]], vectors: Sequence[np.ndarray]) -> tuple[int, int, int]:
    """How many triplets of n are right in P1-N, in P2-N, and in both. `rows`: two positives and the negative;
    `vectors`: of each of the three, shape (n, d), each of length 1."""
    first_right = second_right = both = 0
    for (one, other, negative), u, v, w in zip(rows, *vectors, strict=True):
        p1, p2 = (u, v) if levenshtein(one, negative) <= levenshtein(other, negative) else (v, u)
        first, second = p2 @ p1 > p2 @ w, p1 @ p2 > p1 @ w
        first_right, second_right, both = first_right + first, second_right + second, both + (first and second)
    return int(first_right), int(second_right), int(both)
