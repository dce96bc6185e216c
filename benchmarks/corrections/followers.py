"""Consequences of a correction in other packages, in its transaction. They register as for imports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.models import Correction, Item

Lock = Callable[[int], object]
Follow = Callable[[Item, Sequence[Correction], str], object]


@dataclass(frozen=True)
class Follower:
    """`lock(item's id)` runs before the item is read: from then on it is not shown to anybody until the transaction
    ends, and everybody who has it is known. `follow(item, corrections, by)` runs after it is changed.
    """

    lock: Lock
    follow: Follow


_FOLLOWERS: list[Follower] = []


def followed_by(follower: Follower) -> None:
    if follower not in _FOLLOWERS:
        _FOLLOWERS.append(follower)


def lock(item: int) -> None:
    """Lock the item for a change, with everything that depends on it."""
    for one in _FOLLOWERS:
        one.lock(item)


def follow(item: Item, corrections: Sequence[Correction], by: str) -> None:
    for one in _FOLLOWERS:
        one.follow(item, corrections, by)
