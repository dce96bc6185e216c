"""What a construction made and what it dropped, row by row, with the reasons. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")


class Dropped(Exception):
    """Nothing can be made of this source. The reason is a phrase that many sources share, so that it can be counted."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(reason)


@dataclass(slots=True)
class Batch(Generic[Made]):
    """`made` is in the order of the sources; `dropped` has the number of each other source and its reason."""

    made: list[Made] = field(default_factory=list)
    dropped: list[tuple[int, str]] = field(default_factory=list)

    @property
    def reasons(self) -> Counter[str]:
        """How many sources were dropped for each reason."""
        return Counter(reason for _, reason in self.dropped)

    @property
    def read(self) -> int:
        return len(self.made) + len(self.dropped)


def construct(sources: Iterable[tuple[int, Source]], make: Callable[[Source], Made]) -> Batch[Made]:
    """`make` of every numbered source; what raises Dropped is counted under its reason."""
    batch: Batch[Made] = Batch()
    for number, source in sources:
        try:
            batch.made.append(make(source))
        except Dropped as dropped:
            batch.dropped.append((number, dropped.reason))
    return batch
