"""Releases for training. `annotation` registers how to find them, as it registers import listeners."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Benchmark


@dataclass(frozen=True, slots=True)
class ReleasedSplit:
    """A frozen release: `title` is its name and version, `splits` its splits. `lines()` reads its items, lines of
    items.jsonl, each with its `split`; the image chosen as the negative has `chosen`."""

    title: str
    benchmark: int
    splits: tuple[str, ...]
    lines: Callable[[], Iterator[Mapping[str, Any]]]


Find = Callable[[Any], Iterator[ReleasedSplit]]
_FINDERS: list[Find] = []


def find_with(find: Find) -> None:
    """Register `find(user)`, which yields all frozen releases; with a user, those that this user may see."""
    if find not in _FINDERS:
        _FINDERS.append(find)


def releases(user=None) -> Iterator[ReleasedSplit]:
    for find in _FINDERS:
        yield from find(user)


def to_train_on(benchmark: Benchmark, user=None) -> list[ReleasedSplit]:
    """Return the benchmark's releases that have a training side."""
    return [one for one in releases(user) if one.benchmark == benchmark.pk and "train" in one.splits]
