"""Code shared by all writers: an item's fields as in its source. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from benchmarks.records import ItemRecord, Part

LEFT_OUT = "images_left_out"  # in `meta`, after an import of only the text: role, name and any crop of each image


def image_name(record: ItemRecord, role: str) -> str:
    """Return the source's name for the item's image of that role; empty if it never had one."""
    return image_part(record, role)[0]


def image_part(record: ItemRecord, role: str) -> Part:
    """Return that name, and the crop if the item's image is one."""
    return next((part for own, part in named_images(record) if own == role), ("", None))


def named_images(record: ItemRecord) -> list[tuple[str, Part]]:
    """Return each image with its role, including those left out."""
    gone = record.meta.get(LEFT_OUT)
    left = [left_out(one) for one in gone] if isinstance(gone, list) else []  # a source may use the same name
    return [(image.role, image.part) for image in record.images] + [one for one in left if one]


def left_out(entry: object) -> tuple[str, Part] | None:
    match entry:
        case [str(role), str(name)]:
            return role, (name, None)
        case [str(role), str(name), [int(x), int(y), int(width), int(height)]]:
            return role, (name, (x, y, width, height))
    return None


def without_images(record: ItemRecord) -> ItemRecord:
    """Return the item without images, keeping their names so that it can be written as in its source."""
    named = [[image.role, image.name, *([list(image.crop)] if image.crop else [])] for image in record.images]
    return replace(record, images=(), meta={**record.meta, LEFT_OUT: named}) if named else record


def extras(meta: Mapping[str, object], known: Iterable[str] = ()) -> dict[str, object]:
    """Return extra source fields, sorted by name, because `meta` does not keep their order."""
    return {name: meta[name] for name in sorted(meta) if name not in (LEFT_OUT, *known)}
