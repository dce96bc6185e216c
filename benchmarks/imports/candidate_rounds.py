"""New candidate images for existing items of a benchmark: another round, for items dropped with the last one.

The rows repeat the items' content, so that no image goes to the wrong item; only the candidates are stored.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from django.db.models import Max

from benchmarks import bulk
from benchmarks.construction.captions import without_form
from benchmarks.formats.base import ProblemLog
from benchmarks.imports import frames
from benchmarks.imports import store as imports_store
from benchmarks.imports.images import Gathered
from benchmarks.models import Benchmark, Item, ItemImage, Role
from benchmarks.records import ItemRecord, Origin

CANDIDATE = Role.CANDIDATE.value


def candidates_only(records: list[ItemRecord]) -> list[ItemRecord]:
    """Return the records with only what will be stored."""
    return [replace(record, captions=(), images=tuple(record.images_as(CANDIDATE))) for record in records]


def check_known_items(benchmark_name: str, records: list[ItemRecord], log: ProblemLog, formatted: bool = False) -> None:
    """Check that each row is an item of the benchmark, with the same captions, type and subtype.

    `formatted`: ignore the format of captions, because it depends on the file's other captions.
    """
    alike = without_form if formatted else str
    if not Benchmark.objects.filter(name=benchmark_name).exists():
        advice = f"There is no benchmark “{benchmark_name}”. New candidates can only be added to an existing one."
        log.error("UNKNOWN_BENCHMARK", imports_store.file_names(records), None, "", advice)
        return
    stored = dict(imports_store.stored_records(benchmark_name, records))
    for number, record in enumerate(records, 1):
        origin = record.origin or Origin("", number)
        for code, column, advice in _problems(record, stored.get(record.key), benchmark_name, alike):
            log.error(code, origin.file, origin.row, column, advice)
    if any(record.meta or record.truth for record in records):
        advice = "Only the candidate images of these rows are imported, not meta, truth or further columns."
        log.drop_notes("EXTRA_COLUMN")
        log.note("NOT_TAKEN", imports_store.file_names(records), None, "", advice)


def _problems(
    record: ItemRecord, stored: ItemRecord | None, benchmark_name: str, alike: Callable[[str], str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (code, column, advice)."""
    if stored is None:
        advice = f"“{benchmark_name}” has no item “{record.key[:80]}”. Correct the id, or import it as a new item."
        yield "UNKNOWN_ID", "id", advice
        return
    for column in ("type", "subtype"):
        if getattr(record, column) != getattr(stored, column):
            yield "OTHER_CONTENT", column, f"The stored item has “{getattr(stored, column)}”. Use the same text."
    yield from _other_captions(record, stored, alike)
    if not record.images_as(CANDIDATE):
        yield "VALUE_MISSING", "candidate image", "Name the new candidate images, or remove the row."
    for role in {image.role for image in record.images} - {CANDIDATE}:
        parts = {image.part for image in stored.images_as(role)}
        if parts and not {image.part for image in record.images_as(role)} <= parts:
            advice = "The stored item has another image. Only candidates can be new. Name the same image, or none."
            yield "OTHER_CONTENT", f"{role} image", advice


def _other_captions(
    record: ItemRecord, stored: ItemRecord, alike: Callable[[str], str]
) -> Iterator[tuple[str, str, str]]:
    here, there = _by_role(record), _by_role(stored)
    for role in sorted(here.keys() | there.keys()):
        if [*map(alike, here.get(role, []))] != [*map(alike, there.get(role, []))]:
            text = "; ".join(there.get(role, []))[:120]
            advice = (
                f"The stored item has “{text}”. Use the same text."
                if text
                else "The stored item has no such caption. Remove it."
            )
            yield "OTHER_CONTENT", f"{role} caption", advice


def _by_role(record: ItemRecord) -> dict[str, list[str]]:
    found = defaultdict(list)
    for caption in record.captions:
        found[caption.role].append(caption.text)
    return dict(found)


def check_new(
    benchmark: Benchmark, records: list[ItemRecord], gathered: Gathered, log: ProblemLog, skip: bool
) -> list[ItemRecord]:
    """Log images that are already among an item's candidates: a single error if that is true of all items, or a note
    with `skip`. Return the records to store."""
    there = _contents(benchmark, records)
    same = [
        (number, record, image)
        for number, record in enumerate(records, 1)
        for image in record.images
        if gathered.sha256.get(image.part) in there[record.key]
    ]
    if same and len(same) == sum(len(record.images) for record in records):
        advice = f"These {len(records):,} items already have these candidates. There is nothing to do."
        tell = log.note if skip else log.error
        tell("ALREADY_IMPORTED", imports_store.file_names(records), None, "", advice)
        return []
    for number, record, image in same:
        origin = record.origin or Origin("", number)
        advice = f"The item already has the image “{image.name}” among its candidates. Remove it here."
        log.error("SAME_CANDIDATE", origin.file, origin.row, "candidate image", advice)
    return records


def _contents(benchmark: Benchmark, records: list[ItemRecord]) -> dict[str, set[str]]:
    """Return the contents of each item's candidates."""
    found: dict[str, set[str]] = defaultdict(set)
    for batch in imports_store.batches(records):
        uses = ItemImage.objects.filter(item__benchmark=benchmark, item__key__in=[record.key for record in batch])
        for key, sha256 in uses.filter(role=CANDIDATE).values_list("item__key", "image__sha256"):
            found[key].add(sha256)
    return found


def store(benchmark: Benchmark, records: list[ItemRecord], gathered: Gathered, step: Callable[[int], object]) -> int:
    """Add candidates in a new round after the existing ones; return how many. `step`: as in store_items."""
    ids, stored = imports_store.image_ids(gathered), 0
    for batch in imports_store.batches(records):
        asked = Item.objects.filter(benchmark=benchmark, key__in=[record.key for record in batch])
        frames.renew(asked)
        items = {item.key: item for item in asked}
        last = {
            item: (position, round)
            for item, position, round in ItemImage.objects.filter(item__in=asked, role=CANDIDATE)
            .values_list("item")
            .annotate(Max("position"), Max("round"))
        }
        rows = [row for record in batch for row in _rows(items[record.key], record, last, ids, gathered)]
        stored += len(bulk.insert(rows))
        step(sum(map(imports_store.rows_of, batch)))
    return stored


def _rows(item: Item, record: ItemRecord, last: dict, ids: dict[str, int], gathered: Gathered) -> Iterator[ItemImage]:
    position, round = last.get(item.pk, (-1, 0))
    for step, image in enumerate(record.images, 1):
        yield ItemImage(
            item=item, image_id=ids[gathered.sha256[image.part]], role=CANDIDATE, position=position + step,
            round=round + 1, source_name=image.name, crop=image.crop, licence=image.licence,
            attribution=image.attribution, attributes=dict(image.attributes),
        )  # fmt: skip
