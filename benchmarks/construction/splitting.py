"""Assigning items to the splits of a release or a training, so that no image is in two of them. Pure.

Items that share an image, directly or through others, are one *component* and stay together. Components are dealt in a
random order given by a hash of the seed and the component's smallest key. The result does not depend on the order of
the input.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SPLIT_NAMES = ("train", "validation", "test")
Kind = tuple[str, str]  # type, subtype
NOTHING_FIXED: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Unit:
    """An item: `key` is its id, `hashes` the content of each of its images, shown or not, each once."""

    key: str
    kind: Kind
    hashes: Collection[str]


@dataclass(frozen=True, slots=True)
class Assigned:
    """`splits` has every key; `moved` has the former split of each item that could not stay in it."""

    splits: dict[str, str]
    moved: dict[str, str]


@dataclass(slots=True)
class _Need:
    """The number of items each split lacks, scaled by the sum of the shares to an integer; negative: too many."""

    shares: Mapping[str, int]
    whole: Counter[str] = field(default_factory=Counter)
    of_kind: Counter[tuple[str, Kind]] = field(default_factory=Counter)

    def expect(self, kind: Kind) -> None:
        """Expect one more item of that kind."""
        for split, share in self.shares.items():
            self.whole[split] += share
            self.of_kind[split, kind] += share

    def take(self, split: str, kinds: Counter[Kind]) -> None:
        each = sum(self.shares.values())
        self.whole[split] -= each * kinds.total()
        for kind, count in kinds.items():
            self.of_kind[split, kind] -= each * count

    def best(self, kinds: Counter[Kind]) -> str:
        """Return the split for a component of these kinds: among splits that lack at least half of it, the one that
        lacks most of these kinds; otherwise the one that lacks most.

        With up to three splits, none deviates from its share by more items than the largest component has.
        """
        half = sum(self.shares.values()) * kinds.total() / 2
        open_to = [split for split in self.shares if self.whole[split] >= half]
        if not open_to:
            return max(self.shares, key=self.whole.__getitem__)
        return max(open_to, key=lambda split: (self._wanted(split, kinds), self.whole[split]))

    def _wanted(self, split: str, kinds: Counter[Kind]) -> int:
        return sum(self.of_kind[split, kind] * count for kind, count in kinds.items())


def assign(
    units: Iterable[Unit], shares: Mapping[str, int], seed: int, fixed: Mapping[str, str] = NOTHING_FIXED
) -> Assigned:
    """Assign items to splits. `shares` are percentages by split. `fixed` has an earlier version's splits by key: an
    item stays in its split, with its component. If that is impossible, because its component was in several splits or
    the split no longer exists, it is in `moved`."""
    ordered = {name: shares[name] for name in SPLIT_NAMES if name in shares}
    need, free = _Need(ordered), []
    splits: dict[str, str] = {}
    for component in components(units):
        for unit in component:
            need.expect(unit.kind)
        kept = {fixed[unit.key] for unit in component if unit.key in fixed} & {*ordered}
        if kept:
            _put(component, max(kept, key=SPLIT_NAMES.index), need, splits)
        else:
            free.append(component)
    for component in sorted(free, key=lambda one: (_draw(seed, one[0].key), one[0].key)):
        _put(component, need.best(_kinds(component)), need, splits)
    moved = {key: fixed[key] for key in sorted(splits) if fixed.get(key, splits[key]) != splits[key]}
    return Assigned(dict(sorted(splits.items())), moved)


def components(units: Iterable[Unit]) -> list[list[Unit]]:
    """Group items linked by shared images; components and their items are in order of keys."""
    ordered = sorted(units, key=lambda unit: unit.key)
    above = list(range(len(ordered)))  # for each unit another one of its component; itself for the first
    first: dict[str, int] = {}  # for each hash, the first unit that has it
    for place, unit in enumerate(ordered):
        for content in unit.hashes:
            one, other = _top(above, place), _top(above, first.setdefault(content, place))
            above[max(one, other)] = min(one, other)
    found: dict[int, list[Unit]] = {}
    for place, unit in enumerate(ordered):
        found.setdefault(_top(above, place), []).append(unit)
    return list(found.values())


def _top(above: list[int], place: int) -> int:
    while above[place] != place:
        above[place] = above[above[place]]
        place = above[place]
    return place


def _put(component: Sequence[Unit], split: str, need: _Need, splits: dict[str, str]) -> None:
    need.take(split, _kinds(component))
    splits.update((unit.key, split) for unit in component)


def _kinds(component: Sequence[Unit]) -> Counter[Kind]:
    return Counter(unit.kind for unit in component)


def _draw(seed: int, key: str) -> bytes:
    return hashlib.sha256(f"{seed}/{key}".encode()).digest()
