"""What the inverses of the readers share: how an item is told as its source told it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from benchmarks.records import ItemRecord, Part

LEFT_OUT = "images_left_out"  # in `meta`, after an import of the text alone: role, name and any crop of each image


def image_name(record: ItemRecord, role: str) -> str:
    """What the source calls the item's image of that role; empty where it never had one."""
    return image_part(record, role)[0]


def image_part(record: ItemRecord, role: str) -> Part:
    """That name, and the crop where the item's image is one."""
    return next((part for own, part in named_images(record) if own == role), ("", None))


def named_images(record: ItemRecord) -> list[tuple[str, Part]]:
    """The role of each image and which it is, of those too that were left out."""
    gone = record.meta.get(LEFT_OUT)
    left = [left_out(one) for one in gone] if isinstance(gone, list) else []  # a source may use our name for its own
    return [(image.role, image.part) for image in record.images] + [one for one in left if one]


def left_out(entry: object) -> tuple[str, Part] | None:
    match entry:
        case [str(role), str(name)]:
            return role, (name, None)
        case [str(role), str(name), [int(x), int(y), int(width), int(height)]]:
            return role, (name, (x, y, width, height))
    return None


def without_images(record: ItemRecord) -> ItemRecord:
    """Its text alone. The names stay, so that the item can be written as its source had it."""
    named = [[image.role, image.name, *([list(image.crop)] if image.crop else [])] for image in record.images]
    return replace(record, images=(), meta={**record.meta, LEFT_OUT: named}) if named else record


def extras(meta: Mapping[str, object], known: Iterable[str] = ()) -> dict[str, object]:
    """What the source said beyond the fields that its format has, by name: the order of `meta` is not kept."""
    return {name: meta[name] for name in sorted(meta) if name not in (LEFT_OUT, *known)}
