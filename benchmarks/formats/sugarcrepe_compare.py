"""Hard negatives from two origins side by side, each in SugarCrepe's files, to ask which origin is better.

Rows of a subset are matched by image and caption. An item has the positive caption and two negative ones, the first
origin's and the second's; `meta` has the origins' names and each row's own key, in that order.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from benchmarks.formats import sides, sugarcrepe
from benchmarks.formats.base import JSON_OBJECT, SPLIT, Format, ProblemLog, Shape
from benchmarks.formats.writing import image_name
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

SIDES = ("first", "second")
ORIGINS = ("SUGARCREPE", "ARO+CREPE")
WANTED = tuple(f"{subset}.json" for subset in sugarcrepe.SUBSETS)


def read_items(
    path: Path, log: ProblemLog, second: Path | None = None, origins: tuple[str, str] = ORIGINS
) -> Iterator[ItemRecord]:
    for file, *halves in sides.halves(path, second, SIDES, WANTED, log):
        name = Path(file).stem
        first_rows, second_rows = (
            [] if half.data is None else list(sugarcrepe.subset(name, half.data, half.title, log)) for half in halves
        )
        absent = [half.title for half in halves if half.data is None]
        if absent:
            count = len(first_rows) + len(second_rows)
            log.gap("ONE_SIDED", absent[0], None, "", "Only the other side has this file.", count)
        else:
            for one, other in matched(first_rows, second_rows, (halves[0].title, halves[1].title), log):
                note_same(one, other, log)
                yield record(name, one, other, origins)


def matched(
    first: list[ItemRecord], second: list[ItemRecord], titles: tuple[str, str], log: ProblemLog
) -> Iterator[tuple[ItemRecord, ItemRecord]]:
    """Match rows of both sides by image and caption; if a side has several such rows, in their order."""
    waiting: dict[tuple[str, str], deque[ItemRecord]] = defaultdict(deque)
    for other in second:
        waiting[place(other)].append(other)
    for one in first:
        if waiting[place(one)]:
            yield one, waiting[place(one)].popleft()
        else:
            say_one_sided(one, titles[1], log)
    alone = {id(other) for left in waiting.values() for other in left}
    for other in second:
        if id(other) in alone:
            say_one_sided(other, titles[0], log)


def place(row: ItemRecord) -> tuple[str, str]:
    return row.images[0].name, row.caption("positive")


def say_one_sided(row: ItemRecord, title: str, log: ProblemLog) -> None:
    origin = origin_of(row)
    log.gap("ONE_SIDED", origin.file, origin.row, "caption", f"No row of {title} has this image and caption.")


def note_same(one: ItemRecord, other: ItemRecord, log: ProblemLog) -> None:
    if one.caption("negative") == other.caption("negative"):
        origin, there = origin_of(one), origin_of(other)
        advice = f"Row {there.row} of {there.file} has the same text, so neither can be better."
        log.note("SAME_NEGATIVE", origin.file, origin.row, "negative caption", advice)


def origin_of(row: ItemRecord) -> Origin:
    return row.origin or Origin("", 0)


def record(name: str, one: ItemRecord, other: ItemRecord, origins: tuple[str, str]) -> ItemRecord:
    negatives = (CaptionRecord("negative", row.caption("negative")) for row in (one, other))
    further = [dict(row.meta) for row in (one, other)]
    meta = {"origins": list(origins), "rows": [row.key.removeprefix(f"{name}-") for row in (one, other)]}
    return replace(
        one,
        captions=(CaptionRecord("positive", one.caption("positive")), *negatives),
        meta={**meta, **({"further": further} if any(further) else {})},
    )


def write(records: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """Write both sides, each in SugarCrepe's files under `first/` and `second/`, in the first side's order."""
    items = list(records)
    for place, side in enumerate(SIDES):
        for name, content in sugarcrepe.write(alone(item, place) for item in items):
            yield f"{side}/{name}", content


def alone(item: ItemRecord, place: int) -> ItemRecord:
    """Return the item as a SugarCrepe row, with the negative caption of one origin."""
    negatives = [caption for caption in item.captions if caption.role == "negative"]
    meta = cast("Mapping[str, Any]", item.meta)
    return replace(
        item,
        key=f"{sugarcrepe.subset_of(item)}-{meta['rows'][place]}",
        captions=(CaptionRecord("positive", item.caption("positive")), negatives[place]),
        images=(ImageRecord("positive", image_name(item, "positive")),),
        meta=meta["further"][place] if "further" in meta else {},
    )


FORMAT = Format(
    name="sugarcrepe-compare",
    title="Two origins of negatives (JSON)",
    accepts="SugarCrepe's files twice, from two origins; or a .zip with the folders first and second.",
    endings=(".zip", ".json"),
    reader=read_items,
    several=True,
    sides=SIDES,
    origins=ORIGINS,
    split={
        "image": SPLIT["image"],
        "caption": SPLIT["caption"],
        "negative_caption": "caption:negative",
        "other_negative_caption": "caption:negative-1",
        "origins": "meta:origins",
        "type": "type",
        "subtype": "subtype",
        "id": "key",
    },
    writer=write,
    shape=Shape(JSON_OBJECT, (sugarcrepe.FIELDS,), WANTED),
    example=sugarcrepe.EXAMPLE,
)
