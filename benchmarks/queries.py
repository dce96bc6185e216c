"""Shared reads: each takes a queryset and returns one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import BooleanField, Count, Exists, IntegerField, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, JSONArray

from benchmarks.models import Benchmark, Caption, Item, ItemImage, Role
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, is_own

_BATCH = 500  # items read at a time


def with_material(items: QuerySet[Item]) -> QuerySet[Item]:
    """Items with their captions and images, in three queries whatever their number."""
    return items.prefetch_related("captions", Prefetch("item_images", ItemImage.objects.select_related("image")))


def first_item(benchmark: int | str | None) -> Item | None:
    """Return the benchmark's first item that is not withdrawn, with its material."""
    items = Item.objects.filter(benchmark=int(benchmark or 0), withdrawn=False).order_by("position")
    return next(iter(with_material(items)[:1]), None)


def first_record(benchmark: int | str | None) -> ItemRecord | None:
    item = first_item(benchmark)
    return record_of(item) if item else None


def search(items: QuerySet[Item], text: str) -> QuerySet[Item]:
    """Return items whose key or a caption contains the text, ignoring case; all for an empty text."""
    if not text:
        return items
    captions = Caption.objects.filter(item=OuterRef("pk"), text__icontains=text)
    return items.filter(Q(key__icontains=text) | Exists(captions))


OF_IMAGE = ("role", "source_name", "licence", "attribution", "round", "crop", "attributes", "format")


class Part(Protocol):
    """A caption or an image of an item."""

    @property
    def role(self) -> str: ...

    @property
    def position(self) -> int: ...


def in_record_order(part: Part) -> tuple[bool, str, int]:
    """Sort captions or images as records and exports do: by role, user-defined ones after the known ones."""
    return is_own(part.role), part.role, part.position


def record_of(item: Item) -> ItemRecord:
    """Return the item as a plain record, using only what `with_material` fetched."""
    captions = sorted(item.captions.all(), key=in_record_order)
    images = sorted(item.item_images.all(), key=in_record_order)
    return ItemRecord(
        key=item.key,
        type=item.type,
        subtype=item.subtype,
        captions=tuple(CaptionRecord(caption.role, caption.text, caption.attributes) for caption in captions),
        images=tuple(image_record(*(getattr(use, name) for name in OF_IMAGE)) for use in images),
        meta=item.meta,
        truth=item.truth,
    )


def image_record(role, name, licence, attribution, round, crop, attributes, format) -> ImageRecord:
    """Make an image record from the database's values, turning lists into tuples."""
    crop = crop and tuple(crop)
    return ImageRecord(role, name, licence, attribution, round, crop, attributes=attributes, format=format)


MATERIAL = """
SELECT item.id, item.key, item.type, item.subtype, item.meta::text,
       (SELECT json_agg(json_build_array(role, text, attributes) ORDER BY role, position)
        FROM benchmarks_caption WHERE item_id = item.id),
       (SELECT json_agg(json_build_array(role, source_name, licence, attribution, round, crop, attributes, format)
                        ORDER BY role, position)
        FROM benchmarks_itemimage JOIN benchmarks_image image ON image.id = image_id WHERE item_id = item.id)
FROM benchmarks_item item WHERE item.id = ANY(%s)
"""


def material_of(item: int) -> ItemRecord:
    """Return the item in one query, for use at every click. Without `truth`."""
    return materials_of([item])[item]


def materials(items: QuerySet[Item]) -> Iterator[tuple[int, ItemRecord]]:
    """Yield each item's id and record, in the queryset's order, in a third of the time of `with_material` and
    `record_of`. Without `truth`.
    """
    found = [*items.values_list("pk", flat=True)]
    for start in range(0, len(found), _BATCH):
        yield from materials_of(found[start : start + _BATCH]).items()


def materials_of(items: Sequence[int]) -> dict[int, ItemRecord]:
    """Return these items, in order. Without `truth`."""
    with connection.cursor() as cursor:
        cursor.execute(MATERIAL, [[*items]])
        found = {
            pk: ItemRecord(
                key,
                kind,
                subtype,
                captions=tuple(CaptionRecord(*one) for one in captions or ()),
                images=tuple(image_record(*one) for one in images or ()),
                meta=json.loads(meta),
            )
            for pk, key, kind, subtype, meta, captions, images in cursor
        }
    return {item: found[item] for item in items}


def one_in(n: int, items: QuerySet[Item]) -> QuerySet[Item]:
    """Return about every nth item, by a hash of its id; all if n is below 2."""
    drawn = RawSQL("hashint8(benchmarks_item.id) %% %s = 0", [n], BooleanField())
    return items.filter(drawn) if n > 1 else items


def shapes(items: QuerySet[Item]) -> list[tuple[ItemRecord, int]]:
    """Return each combination of parts, as a record without texts and images' names, and how many items have it."""
    captions = Caption.objects.filter(item=OuterRef("pk")).order_by("role").values("role")
    images = (
        ItemImage.objects.filter(item=OuterRef("pk"))
        .order_by("role", "position")
        .values(json=JSONArray("role", "round"))
    )
    found = items.order_by().annotate(texts=ArraySubquery(captions), pictures=ArraySubquery(images))
    counted = found.values_list("texts", "pictures").annotate(count=Count("pk")).order_by("-count", "texts", "pictures")
    return [
        (
            ItemRecord(
                "", "", "", tuple(CaptionRecord(role, "") for role in texts),
                tuple(ImageRecord(role, "", round=round) for role, round in pictures),
            ),
            count,
        )
        for texts, pictures, count in counted
    ]  # fmt: skip


def on_offer(chosen: int | str | None) -> QuerySet[Benchmark]:
    """Return the benchmarks to choose from: those not archived, and the chosen one by its id."""
    return Benchmark.objects.filter(Q(archived=False) | Q(pk=int(chosen or 0)))


def with_counts(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """Add `item_count`, in one query for any number of benchmarks."""
    items = Item.objects.filter(benchmark=OuterRef("pk")).order_by().values("benchmark")
    return benchmarks.annotate(item_count=counted(items.annotate(count=Count("pk"))))


def counted(grouped: QuerySet) -> Coalesce:
    """Return the `count` of a subquery with at most one row, as a number."""
    return Coalesce(Subquery(grouped.values("count"), output_field=IntegerField()), 0)


def kinds(items: QuerySet[Item]) -> QuerySet:
    """Return rows of type, subtype and their `count`, in alphabetical order."""
    return items.order_by("type", "subtype").values("type", "subtype").annotate(count=Count("pk"))


def rounds(benchmark: Benchmark) -> Sequence[Mapping]:
    """Return the rounds of candidates, with their numbers of `items` if there are several; none without candidates."""
    uses = ItemImage.objects.filter(item__benchmark=benchmark, role=Role.CANDIDATE)
    if not uses.filter(round__gt=1).exists():
        return [{"round": 1}] if uses.exists() else []
    return list(uses.order_by("round").values("round").annotate(items=Count("item", distinct=True)))
