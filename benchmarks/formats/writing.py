"""What the inverses of the readers share: how an item is told as its source told it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from benchmarks.records import ItemRecord

LEFT_OUT = "images_left_out"  # in `meta`, after an import of the text alone: the role and name of each image


def image_name(record: ItemRecord, role: str) -> str:
    """What the source calls the item's image of that role; empty where it never had one."""
    named = [[image.role, image.name] for image in record.images]
    return next((name for own, name in [*named, *record.meta.get(LEFT_OUT, [])] if own == role), "")


def without_images(record: ItemRecord) -> ItemRecord:
    """Its text alone. The names stay, so that the item can be written as its source had it."""
    named = [[image.role, image.name] for image in record.images]
    return replace(record, images=(), meta={**record.meta, LEFT_OUT: named}) if named else record


def extras(meta: Mapping[str, object], known: Iterable[str] = ()) -> dict[str, object]:
    """What the source said beyond the fields that its format has, by name: the order of `meta` is not kept."""
    return {name: meta[name] for name in sorted(meta) if name not in (LEFT_OUT, *known)}
