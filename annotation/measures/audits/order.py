"""The order in which an audit judges items, fixed and published as a hash before the first judgment.

Nobody can then pick the items, and anyone can check from a release that nobody did.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """`keys` in the order in which they are judged; `sha256` hashes their lines in UTF-8, each with its line feed."""

    keys: tuple[str, ...]
    seed: int
    sha256: str


def sampling_order(keys: Sequence[str], seed: int, strata: Mapping[str, str] | None = None) -> Order:
    """Order the keys by the hash of seed and key, the same on every machine.

    With `strata` (key → stratum), every beginning of the order is as close to proportional as possible: the stratum
    furthest behind comes next.
    """
    drawn = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).digest())
    if strata:
        drawn = _proportional(drawn, strata)
    return Order(tuple(drawn), seed, order_hash(drawn))


def order_hash(keys: Sequence[str]) -> str:
    return hashlib.sha256("".join(f"{key}\n" for key in keys).encode()).hexdigest()


def scores_hash(keys: Sequence[str], scores: Sequence[float]) -> str:
    """Hash the scores in order: a line of key, tab and score for each, the score as its shortest exact decimal."""
    lines = "".join(f"{key}\t{float(score)!r}\n" for key, score in zip(keys, scores, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


def _proportional(keys: Sequence[str], strata: Mapping[str, str]) -> list[str]:
    """Place each key at the middle of its part of its stratum; strata that are level follow the keys' order."""
    of: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        of[strata[key]].append(key)
    place = {key: (2 * number + 1) / (2 * len(found)) for found in of.values() for number, key in enumerate(found)}
    return sorted(keys, key=place.__getitem__)
