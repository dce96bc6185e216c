"""What follows a correction in other packages, in its transaction. They register, as they do for imports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.models import Correction, Item

Lock = Callable[[int], object]
Follow = Callable[[Item, Sequence[Correction], str], object]


@dataclass(frozen=True)
class Follower:
    """`lock(item's id)` runs before the item is read: afterwards nobody is shown it until the end of the transaction,
    and whoever was has been seen. `follow(item, corrections, by)` runs after it is changed.
    """

    lock: Lock
    follow: Follow


_FOLLOWERS: list[Follower] = []


def followed_by(follower: Follower) -> None:
    if follower not in _FOLLOWERS:
        _FOLLOWERS.append(follower)


def lock(item: int) -> None:
    """Lock the item for a change, with all that follows from it."""
    for one in _FOLLOWERS:
        one.lock(item)


def follow(item: Item, corrections: Sequence[Correction], by: str) -> None:
    for one in _FOLLOWERS:
        one.follow(item, corrections, by)
