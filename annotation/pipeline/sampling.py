"""Draw a stage's items by its seed, so that the same study set up again gets the same items."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from annotation.models import Kind, Stage
from annotation.pipeline.ranks import random_rank
from benchmarks.models import Item


def draw_sample(taker: Stage, items: Iterable[int]) -> list[int]:
    """Return `taker.sample` of the items by its seed, or all; items drawn before stay in.

    If stratified, each type and subtype has its share, by largest remainders. With `each`, that many of every type, or
    all of a smaller type.
    """
    if taker.sample is None:
        return list(items)
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "key", "type", "subtype")
    there = set(taker.tasks.filter(kind=Kind.JUDGE).values_list("item", flat=True))
    drawn = sorted(rows, key=lambda row: (row[0] not in there, random_rank("sample", taker.seed, row[1])))
    types = sorted({row[2] for row in drawn}) if taker.sample_each else [None]
    groups = [[row for row in drawn if type in (None, row[2])] for type in types]
    chosen = {pk for group in groups for pk in _first(group, taker.sample, taker.stratify)}
    return [row[0] for row in drawn if row[0] in chosen]


def _first(drawn: Sequence[tuple], size: int, stratify: bool) -> Iterable[int]:
    """Return this many of the rows, in their order; if stratified, by type and subtype."""
    if size >= len(drawn) or not stratify:
        return [row[0] for row in drawn[:size]]
    quota = apportion(Counter(row[2:] for row in drawn), size)
    chosen = []
    for row in drawn:
        if quota[row[2:]] > 0:
            quota[row[2:]] -= 1
            chosen.append(row[0])
    return chosen


def apportion(sizes: Mapping, total: int) -> dict:
    """Return whole shares of `total` in proportion to `sizes` that add up to it, by largest remainder (Hamilton)."""
    whole = sum(sizes.values())
    exact = {name: total * size / whole for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(sizes, key=lambda name: (shares[name] - exact[name], str(name)))
    for name in by_rest[: total - sum(shares.values())]:
        shares[name] += 1
    return shares
