"""How far two rankings agree: Kendall's tau-b (Kendall 1945), which allows for ties.

tau-b = (concordant − discordant) / √((pairs − ties in one) (pairs − ties in the other)).
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """The mean tau-b over all pairs of rankings of one item: `n` pairs; `left_out` have none, since one ties all."""

    value: float | None
    n: int
    left_out: int


def tau_b(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Of the ranks of the same things, in the same order. None where one of the two ties them all."""
    concordant, tied_one, tied_other, pairs = 0, 0, 0, 0
    for first, second in itertools.combinations(range(len(one)), 2):
        pairs += 1
        apart, also = one[first] - one[second], other[first] - other[second]
        tied_one += apart == 0
        tied_other += also == 0
        concordant += (apart * also > 0) - (apart * also < 0)
    product = (pairs - tied_one) * (pairs - tied_other)
    return concordant / math.sqrt(product) if product else None


def mean_tau_b(rankings: Iterable[tuple[str, Mapping[str, int]]]) -> RankAgreement:
    """`rankings` are (item, option → rank). Rankings of other options than the item's first are not compared."""
    of_item: dict[str, list[Mapping[str, int]]] = defaultdict(list)
    for item, ranks in rankings:
        of_item[item].append(ranks)
    values: list[float | None] = []
    for found in of_item.values():
        options = sorted(found[0])
        same = [[ranks[option] for option in options] for ranks in found if sorted(ranks) == options]
        values += [tau_b(one, other) for one, other in itertools.combinations(same, 2)]
    defined = [value for value in values if value is not None]
    mean = math.fsum(defined) / len(defined) if defined else None
    return RankAgreement(mean, len(defined), len(values) - len(defined))
