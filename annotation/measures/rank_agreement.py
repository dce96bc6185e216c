"""The agreement of two rankings: Kendall's tau-b (Kendall 1945), which allows ties.

tau-b = (concordant − discordant) / √((pairs − ties in one) (pairs − ties in the other)).
"""

import itertools
import math
from collections.abc import Sequence


def tau_b(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return tau-b for ranks of the same things in the same order; None if either ranking ties them all."""
    concordant, tied_one, tied_other, pairs = 0, 0, 0, 0
    for first, second in itertools.combinations(range(len(one)), 2):
        pairs += 1
        apart, also = one[first] - one[second], other[first] - other[second]
        tied_one += apart == 0
        tied_other += also == 0
        concordant += (apart * also > 0) - (apart * also < 0)
    product = (pairs - tied_one) * (pairs - tied_other)
    return concordant / math.sqrt(product) if product else None
