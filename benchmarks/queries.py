"""Reads that are used twice: each takes a queryset and returns one."""

from django.db.models import QuerySet

from benchmarks.models import Item
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord


def with_material(items: QuerySet[Item]) -> QuerySet[Item]:
    """Items with their captions and images, in three queries whatever their number."""
    return items.prefetch_related("captions", "item_images__image")


def record_of(item: Item) -> ItemRecord:
    """The item as a plain record. Reads only what `with_material` fetched."""
    captions = sorted(item.captions.all(), key=lambda caption: (caption.role, caption.position))
    images = sorted(item.item_images.all(), key=lambda use: (use.role, use.position))
    return ItemRecord(
        key=item.key,
        type=item.type,
        subtype=item.subtype,
        captions=tuple(CaptionRecord(caption.role, caption.text) for caption in captions),
        images=tuple(ImageRecord(use.role, use.source_name, use.licence, use.attribution) for use in images),
        meta=item.meta,
        truth=item.truth,
    )
