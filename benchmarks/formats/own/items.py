"""Items from the rows of a table, by a mapping. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.mapping import ADDRESS, PLAIN, ColumnMapping, Part, Row, as_text, cell, columns_of, members
from benchmarks.records import ROLES, Attributes, CaptionRecord, ImageRecord, ItemRecord, Origin, Plain

LONGEST_STEM = 100  # characters of a file's name in the id of its items
Addresses = dict[str, list[str]]  # by the last part, which is the image's name


def items(rows: Iterable[tuple[Origin, Row]], mapping: ColumnMapping, log: ProblemLog) -> Iterator[ItemRecord]:
    """The items of the rows. Rows with the same values in `together` must follow one another."""
    seen: set[tuple[str, ...]] = set()
    counts: Counter[str] = Counter()
    addresses: Addresses = {}
    for key, group in groupby(_keyed(rows, mapping), key=lambda one: one[0]):
        found = [(origin, row) for _, origin, row in group]
        if mapping.together:
            if key in seen:
                origin = found[0][0]
                advice = f"Sort the rows by {', '.join(mapping.together)}: rows of one item must follow one another."
                log.error("WRONG_VALUE", origin.file, origin.row, ", ".join(mapping.together), advice)
            seen.add(key)
        made = item(found, mapping, own_key(found[0][0], counts), addresses)
        there = {caption.role for caption in made.captions}
        if lacking := [role for role in mapping.texts if role in ROLES and role not in there]:
            of = ", ".join(place for role in lacking for place in mapping.texts[role].places)
            log.gap("INCOMPLETE_ROW", found[0][0].file, found[0][0].row, of, f"The {lacking[0]} caption is missing.")
        else:
            yield made
    for name, (first, *others) in addresses.items():
        if others:
            advice = f"Images of this name are at {first[:200]} and {others[0][:200]}: their items get the same one."
            log.note("SAME_NAME", name, None, "", f"{advice} If they differ, name files as in {{id}}.jpg.")


def own_key(origin: Origin, counts: Counter[str]) -> str:
    """The id of an item if the mapping names none: its file's name and a number."""
    file = PurePosixPath(origin.file).stem[:LONGEST_STEM]
    counts[file] += 1
    return f"{file}-{counts[file]}"


def _keyed(rows: Iterable[tuple[Origin, Row]], mapping: ColumnMapping) -> Iterator[tuple[tuple[str, ...], Origin, Row]]:
    for number, (origin, row) in enumerate(rows):
        own = tuple(as_text(row.get(name)) for name in mapping.together) if mapping.together else (str(number),)
        yield own, origin, row


def item(
    rows: Sequence[tuple[Origin, Row]], mapping: ColumnMapping, key: str, addresses: Addresses | None = None
) -> ItemRecord:
    """The item of one row, or of several that belong together: what all of them say is said once. `key`: if no column
    is its id. Adds the images' addresses to `addresses`, by name."""
    origin, first = rows[0]
    texts = [one for _, row in rows for one in _captions(row, mapping)]
    images = [one for _, row in rows for one in _images(row, mapping, {} if addresses is None else addresses)]
    several = len(rows) > 1
    plain = {name: cell(first, getattr(mapping, name)) if getattr(mapping, name) else None for name in PLAIN}
    return ItemRecord(
        key=key if plain["id"] is None else as_text(plain["id"]),
        type="" if plain["type"] is None else as_text(plain["type"]),
        subtype="" if plain["subtype"] is None else as_text(plain["subtype"]),
        captions=tuple(_once(texts) if several else texts),
        images=tuple(_once(images) if several else images),
        meta=_meta([row for _, row in rows], mapping),
        origin=origin,
    )


def _once(found: Iterable[Any]) -> list[Any]:
    """Without those that an earlier one equals, attributes included."""
    kept: list[Any] = []
    for one in found:
        if not any(one == other and one.attributes == other.attributes for other in kept):
            kept.append(one)
    return kept


def _captions(row: Row, mapping: ColumnMapping) -> Iterator[CaptionRecord]:
    for role, value, attributes in _found(row, mapping.texts, mapping.literal):
        yield CaptionRecord(role, as_text(value), attributes)


def _images(row: Row, mapping: ColumnMapping, addresses: Addresses) -> Iterator[ImageRecord]:
    for role, value, attributes in _found(row, mapping.images, mapping.literal):
        name = as_text(value)
        if ADDRESS.match(name) and not mapping.literal:
            address, name = name, unquote(urlsplit(name).path).rpartition("/")[2]
            if address not in (known := addresses.setdefault(name, [])):
                known.append(address)
        yield ImageRecord(role, name, attributes=attributes)


def _found(row: Row, parts: Mapping[str, Part], literal: bool) -> Iterator[tuple[str, object, Attributes]]:
    """(role, value, attributes) of every member; an attribute with as many values as members gives each its own."""
    for role, part in parts.items():
        found = [one for place in part.places for one in ([row[place]] if literal else members(cell(row, place)))]
        said = {name: members(cell(row, place)) for name, place in part.attributes.items()}
        for number, member in enumerate(found):
            yield role, member, {name: _said(values, number, len(found)) for name, values in said.items() if values}


def _said(values: list[Plain], number: int, of: int) -> Plain | list[Plain]:
    if len(values) == of:
        return values[number]
    return values[0] if len(values) == 1 else values


def _meta(rows: Sequence[Row], mapping: ColumnMapping) -> dict[str, Any]:
    """What no part of the mapping takes: the value that all rows share, or the list of theirs."""
    used = {name for place in mapping.places() for name in columns_of(place, rows[0])}
    kept = [name for name in rows[0] if name not in used]
    found = {name: [row.get(name) for row in rows] for name in kept}
    return {name: said[0] if all(one == said[0] for one in said) else said for name, said in found.items()}
