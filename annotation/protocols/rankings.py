"""Rankings as stored: options from best to worst with `>`, and `=` between ties. Pure."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean


def tiers(ranking: str) -> list[list[str]]:
    """Return the names of a stored ranking, best first; ties are grouped."""
    return [tier.split("=") for tier in ranking.split(">")]


def ranks_of(ranking: str) -> dict[str, int]:
    """Return each option's tier, from 1 for the best."""
    return {option: rank for rank, tier in enumerate(tiers(ranking), 1) for option in tier}


def mean_ranks(rankings: Sequence[str]) -> dict[str, float]:
    """Return each option's mean rank, from 1; tied options share the mean of their ranks."""
    found: dict[str, list[float]] = {}
    for ranking in rankings:
        passed = 0
        for tier in tiers(ranking):
            for option in tier:
                found.setdefault(option, []).append(passed + (len(tier) + 1) / 2)
            passed += len(tier)
    return {option: fmean(ranks) for option, ranks in found.items()}


def weak_orders(names: Sequence[str]) -> Iterator[str]:
    """Yield every order of the names with ties, as stored, best first: `positive=second_positive>negative`."""
    for size in range(len(names), 0, -1):
        for tier in combinations(names, size):
            rest = [name for name in names if name not in tier]
            below = [f">{order}" for order in weak_orders(rest)] if rest else [""]
            yield from ("=".join(tier) + order for order in below)
