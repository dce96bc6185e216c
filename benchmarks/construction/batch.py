"""The result of a construction: the items made, and the rows dropped with their reasons. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")


class Dropped(Exception):
    """The source cannot be used. The reason is a phrase shared by many sources, so that it can be counted."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(reason)


@dataclass(slots=True)
class Batch(Generic[Made]):
    """`made` is in the order of the sources; `dropped` has the other sources' numbers and reasons."""

    made: list[Made] = field(default_factory=list)
    dropped: list[tuple[int, str]] = field(default_factory=list)

    @property
    def read(self) -> int:
        return len(self.made) + len(self.dropped)


def construct(sources: Iterable[tuple[int, Source]], make: Callable[[Source], Made]) -> Batch[Made]:
    """Apply `make` to every numbered source; those that raise Dropped are counted under their reason."""
    batch: Batch[Made] = Batch()
    for number, source in sources:
        try:
            batch.made.append(make(source))
        except Dropped as dropped:
            batch.dropped.append((number, dropped.reason))
    return batch
