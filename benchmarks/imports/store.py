"""The rows of an import: find those that already exist, and write the new ones, in one transaction."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeVar

from django.db.models import Max

from benchmarks import bulk, queries
from benchmarks.formats.base import ProblemLog
from benchmarks.imports.images import Gathered
from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin
from workers.archives.archive import Source

BATCH = 1000
CORRECT = "Correct the item (existing=“update” in the Python client), or remove this row"
Part = TypeVar("Part", CaptionRecord, ImageRecord)


def check_against_stored(benchmark_name: str, records: list[ItemRecord], log: ProblemLog) -> None:
    """Log each id that the benchmark already has; a single error if it has everything."""
    stored = dict(stored_records(benchmark_name, records))
    if records and all(record.key in stored and _same_content(record, stored[record.key]) for record in records):
        advice = f"“{benchmark_name}” already has these {len(records):,} items. There is nothing to do."
        log.error("ALREADY_IMPORTED", file_names(records), None, "", advice)
        return
    for number, record in enumerate(records, 1):
        if record.key in stored:
            origin = record.origin or Origin("", number)
            same = _same_content(record, stored[record.key])
            content, remedy = ("the same", "Remove this row") if same else ("other", CORRECT)
            advice = f"“{benchmark_name}” already has an item “{record.key}”, with {content} content. {remedy}."
            log.error("DUPLICATE_ID", origin.file, origin.row, "id", advice)


def without_stored(
    benchmark_name: str, records: list[ItemRecord], source: Source | None, log: ProblemLog
) -> list[ItemRecord]:
    """Return the records of items that the benchmark does not have with the same content, with a note about the others.
    Log each of these for which `source` has a different image of that name."""
    stored = dict(stored_records(benchmark_name, records))
    same = {r.key: r for r in records if r.key in stored and _same_content(r, stored[r.key])}
    names = [image.part[0] for record in same.values() for image in record.images]
    given = {name: hashlib.sha256(data).hexdigest() for name, data in source.stream(names)} if source else {}
    for batch in batches(list(same.values())):
        uses = ItemImage.objects.filter(item__benchmark__name=benchmark_name, item__key__in=[r.key for r in batch])
        kept = {
            (key, name): sha256 for key, name, sha256 in uses.values_list("item__key", "source_name", "image__sha256")
        }
        for record in batch:
            for image in record.images:
                name, crop = image.part
                if crop is None and given.get(name, "") not in ("", kept[record.key, image.name]):
                    origin = record.origin or Origin("", 0)
                    advice = f"Item “{record.key}” has another picture “{name}”. Correct the item, or remove this row."
                    log.error("OTHER_CONTENT", origin.file, origin.row, f"{image.role} image", advice)
    if same:
        advice = f"“{benchmark_name}” already has {len(same):,} of these items, with the same content. Skipped."
        log.note("ALREADY_IMPORTED", file_names(records), None, "id", advice)
    return [record for record in records if record.key not in same]


def file_names(records: list[ItemRecord]) -> str:
    return ", ".join(dict.fromkeys(record.origin.file for record in records if record.origin))[:200]


def stored_records(benchmark_name: str, records: list[ItemRecord]) -> Iterator[tuple[str, ItemRecord]]:
    for batch in batches(records):
        keys = [record.key for record in batch]
        for item in queries.with_material(Item.objects.filter(benchmark__name=benchmark_name, key__in=keys)):
            yield item.key, queries.record_of(item)


def _same_content(one: ItemRecord, other: ItemRecord) -> bool:
    """Return whether two records have the same content, whatever their origin and the order of their roles."""
    return _content(one) == _content(other)


def _content(record: ItemRecord) -> tuple:
    captions = sorted(record.captions, key=lambda caption: caption.role)
    images = sorted(record.images, key=lambda image: image.role)
    rest = json.dumps([dict(record.meta), dict(record.truth)], sort_keys=True)
    return record.key, record.type, record.subtype, captions, images, rest


def batches(rows: list) -> Iterator[list]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def store_images(gathered: Gathered) -> list[Image]:
    """Save the rows of images that are still new, and return them; their files must move."""
    new = list(gathered.new.values())
    taken = set()
    for batch in batches(new):
        taken |= set(Image.objects.filter(sha256__in=[i.sha256 for i in batch]).values_list("sha256", flat=True))
    return bulk.insert(image for image in new if image.sha256 not in taken)


def rows_of(record: ItemRecord) -> int:
    """Count the rows for the record: the item, its captions and its uses of images."""
    return 1 + len(record.captions) + len(record.images)


def store_items(
    benchmark: Benchmark, records: list[ItemRecord], gathered: Gathered, step: Callable[[int], object]
) -> None:
    """Add items after the existing ones, in the records' order, with captions and uses of images. `step` is called with
    the number of rows just stored.
    """
    last = benchmark.items.aggregate(last=Max("position"))["last"]
    positions = count(0 if last is None else last + 1)
    ids = image_ids(gathered)
    for batch in batches(records):
        items = bulk.insert(
            Item(
                benchmark=benchmark, key=record.key, position=next(positions), type=record.type,
                subtype=record.subtype, meta=dict(record.meta), truth=dict(record.truth),
            )
            for record in batch
        )  # fmt: skip
        pairs = list(zip(items, batch, strict=True))
        bulk.insert(_captions(pairs))
        bulk.insert(_item_images(pairs, ids, gathered))
        step(sum(map(rows_of, batch)))


def image_ids(gathered: Gathered) -> dict[str, int]:
    """Map sha256 to the id of every image that the import names."""
    ids: dict[str, int] = {}
    for batch in batches(list(set(gathered.sha256.values()))):
        ids.update(Image.objects.filter(sha256__in=batch).values_list("sha256", "id"))
    return ids


def _with_positions(things: Iterable[Part]) -> Iterator[tuple[int, Part]]:
    """Yield (position within its role, thing)."""
    counters: dict[str, Iterator[int]] = {}
    for thing in things:
        yield next(counters.setdefault(thing.role, count())), thing


def _captions(pairs: list[tuple[Item, ItemRecord]]) -> Iterator[Caption]:
    for item, record in pairs:
        for position, caption in _with_positions(record.captions):
            yield Caption(
                item=item, role=caption.role, position=position, text=caption.text, attributes=dict(caption.attributes)
            )


def _item_images(pairs: list[tuple[Item, ItemRecord]], ids: dict, gathered: Gathered) -> Iterator[ItemImage]:
    for item, record in pairs:
        for position, image in _with_positions(record.images):
            yield ItemImage(
                item=item, image_id=ids[gathered.sha256[image.part]], role=image.role, position=position,
                source_name=image.name, crop=image.crop, licence=image.licence, attribution=image.attribution,
                attributes=dict(image.attributes),
            )  # fmt: skip
