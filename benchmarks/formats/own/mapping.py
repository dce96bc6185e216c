"""Mappings from columns to the parts of an item: small JSON files, kept with the benchmark. Pure.

{"winnow": "mapping/1",
 "id": "{item_id}-{model}", "type": "category", "together": ["item_id"],
 "texts": {"positive": "caption", "option": ["a", "b", "c"],
           "question": {"from": "question", "attributes": {"parents": "dependency"}}},
 "images": {"picture": "images/{item_id}.png"}}

A place is a column's name, or a text with columns in braces, of which a part can be taken: `{id[:-2]}-img0.png`, or the
rest after another column's value: `{image_name - prompt_id}`. Names of columns inside an object are joined by a dot.
Several places, or a cell with a list, give several members of a role; an empty cell gives none. In a URL, the last part
is the image's name. All other columns go into the item's `meta`.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Protocol, Self
from urllib.parse import unquote, urlsplit

from benchmarks.formats import limits
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import nearest
from benchmarks.records import (
    NAME,
    ROLES,
    Attributes,
    CaptionRecord,
    ImageRecord,
    ItemRecord,
    Origin,
    Plain,
    role_order,
)
from workers import outside_json

VERSION = "mapping/1"
HOLE = re.compile(r"\{([^{}]+?)(?:\[(-?\d*):(-?\d*)\])?\}")  # a column, with an optional slice
LESS = " - "  # {a - b}: a without a leading b
MOST_PLACES = 50  # of a role
LONGEST_STEM = 100  # characters of a file's name used in its items' ids
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
LISTED = re.compile(r"\s*\[.*\]\s*", re.DOTALL)
PLAIN = ("id", "type", "subtype")
Row = Mapping[str, Any]


class NotAMapping(ValueError):
    """The message explains what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Part:
    """The place of a role's members; `attributes`: name → place."""

    places: tuple[str, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> object:
        places = self.places[0] if len(self.places) == 1 else list(self.places)
        return {"from": places, "attributes": dict(self.attributes)} if self.attributes else places


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """`id`: a place; without one, an item has its file's name and a number. `together`: rows with equal values in these
    columns are one item. `literal`, for a known format: a cell is one member as it is, even if it looks like a list."""

    texts: Mapping[str, Part] = field(default_factory=dict)
    images: Mapping[str, Part] = field(default_factory=dict)
    id: str = ""
    type: str = ""
    subtype: str = ""
    together: tuple[str, ...] = ()
    literal: bool = False

    @property
    def parts(self) -> Iterator[Part]:
        yield from self.texts.values()
        yield from self.images.values()

    def places(self) -> Iterator[str]:
        yield from filter(None, (self.id, self.type, self.subtype, *self.together))
        for part in self.parts:
            yield from (*part.places, *part.attributes.values())

    def as_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("id", "type", "subtype")}
        roles = {kind: {role: part.as_json() for role, part in getattr(self, kind).items()} for kind in KINDS}
        found = {**plain, "together": list(self.together), **roles}
        return {"winnow": VERSION} | {name: value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read it from JSON. Raises NotAMapping."""
        given = mapping_in(value, VERSION, {*PLAIN, TOGETHER, *KINDS})
        plain: dict[str, Any] = {name: column_in(given[name], name) for name in PLAIN if name in given}
        texts, images = (_parts(given.get(kind, {}), kind) for kind in KINDS)
        if not (texts or images):
            raise NotAMapping("Name at least one column in “texts” or “images”.")
        return cls(texts, images, together=columns_in(given.get("together", []), "together"), **plain)


KINDS = ("texts", "images")
TOGETHER = "together"


def read_mapping(text: str) -> ColumnMapping:
    """Read a mapping from text. Raises NotAMapping."""
    return ColumnMapping.from_json(mapping_json(text))


def mapping_json(text: str) -> object:
    """Parse a mapping's JSON. Raises NotAMapping."""
    try:
        return outside_json.read(text)
    except ValueError as error:
        raise NotAMapping(f"Correct the JSON of the mapping: {str(error)[:200]}.") from None


def mapping_in(value: object, version: str, known: Iterable[str]) -> dict[str, Any]:
    """Return the object of a mapping of this version. Raises NotAMapping."""
    given = object_in(value, "the mapping", {"winnow", *known})
    if given.get("winnow") != version:
        raise NotAMapping(f'Begin the mapping with "winnow": "{version}".')
    return given


def object_in(value: object, where: str, known: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotAMapping(f"Write {where} as an object: {{…}}.")
    known = sorted(known)
    if unknown := next((name for name in value if name not in known), None):
        near = nearest(unknown, known)
        advice = f"Did you mean “{near}”?" if near else f"There are: {', '.join(known)}."
        raise NotAMapping(f"“{unknown[:80]}” is not known in {where}. {advice}")
    return value


def column_in(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise NotAMapping(f"Write {where} as the name of a column, in quotes.")
    return value


def columns_in(value: object, where: str) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    if len(found) > MOST_PLACES:
        raise NotAMapping(f"Name at most {MOST_PLACES} columns in {where}.")
    return tuple(column_in(one, where) for one in found)


def _parts(value: object, kind: str) -> dict[str, Part]:
    if not isinstance(value, dict):
        raise NotAMapping(f"Write {kind} as an object of roles: {{…}}.")
    found = sorted(value.items(), key=lambda one: role_order(one[0]))
    return {_named(role, kind): _part(given, f"{kind}, {role}") for role, given in found}


def _named(name: str, where: str) -> str:
    if not NAME.fullmatch(name):
        most = limits.MAX_ROLE
        raise NotAMapping(
            f"Write “{name[:40]}” in {where} with only lower-case letters, digits and _, and at most {most} characters."
        )
    return name


def _part(value: object, where: str) -> Part:
    if not isinstance(value, dict):
        return Part(columns_in(value, where))
    given = object_in(value, where, {"from", "attributes"})
    attributes = given.get("attributes", {})
    if not isinstance(attributes, dict):
        raise NotAMapping(f"Write the attributes of {where} as an object: {{…}}.")
    named = {_named(name, where): column_in(place, f"{where}, {name}") for name, place in attributes.items()}
    return Part(columns_in(given.get("from"), where), named)


def columns_of(place: str, columns: Iterable[str]) -> list[str]:
    """Return the columns in a place: itself, or those in braces."""
    known = {*columns}
    if place in known or not HOLE.search(place):
        return [place]
    holes = [hole[1] for hole in HOLE.finditer(place)]
    return [name for hole in holes for name in ([hole] if hole in known else hole.split(LESS, 1))]


class Mapped(Protocol):
    """A mapping of any kind of rows."""

    def places(self) -> Iterator[str]: ...

    def as_json(self) -> dict[str, Any]: ...


def missing(mapping: Mapped, columns: Sequence[str]) -> dict[str, str]:
    """Return the mapped columns that the file lacks, each with advice."""
    found = {}
    for place in mapping.places():
        for name in columns_of(place, columns):
            if name not in columns:
                near = nearest(name, columns)
                there = f"The file has {', '.join(columns[:12])}{' …' if len(columns) > 12 else ''}."
                found[name] = f"Did you mean “{near}”?" if near else there
    return found


def cell(row: Row, place: str) -> Any:
    """Return the value of a place; None if it, or a column in its braces, is empty."""
    if place in row or not HOLE.search(place):
        value = row[place] if place in row else _inside(row, place)
        return None if isinstance(value, str) and not value.strip() else value
    values = {hole[1]: _rest(row, *hole[1].split(LESS, 1)) for hole in HOLE.finditer(place)}
    return None if None in values.values() else HOLE.sub(lambda hole: _cut(as_text(values[hole[1]]), hole), place)


def _rest(row: Row, place: str, beginning: str = "") -> Any:
    """Return the value of a place, without the value of `beginning` and the separator between the two."""
    if not beginning or f"{place}{LESS}{beginning}" in row:
        return cell(row, f"{place}{LESS}{beginning}" if beginning else place)
    whole, first = cell(row, place), cell(row, beginning)
    if whole is None or first is None:
        return None
    return as_text(whole).removeprefix(as_text(first)).lstrip("_-/. ")


def _inside(row: Row, place: str) -> Any:
    """Return the value of `outer.inner`; the outer name may itself contain dots."""
    for name, value in row.items():
        if isinstance(value, dict) and place.startswith(f"{name}."):
            return cell(value, place.removeprefix(f"{name}."))
    return None


def _cut(value: str, hole: re.Match[str]) -> str:
    start, end = (int(one) if one and one != "-" else None for one in hole.group(2, 3))
    return value[start:end]


def as_text(value: object) -> str:
    """Return a value as the file wrote it, as far as known: 3, 0.5, true, text unchanged, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def members(value: object) -> list[Any]:
    """Return the members in a cell: its list, a list written as text (`["a", "b"]`, `['a', 'b']`), or itself."""
    if isinstance(value, str) and LISTED.fullmatch(value):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(found, list) and all(isinstance(one, str | int | float | None) for one in found):
                return [one for one in found if one not in (None, "")]
    if isinstance(value, list):
        return [one for one in value if one not in (None, "")]
    return [] if value is None else [value]


def items(rows: Iterable[tuple[Origin, Row]], mapping: ColumnMapping, log: ProblemLog) -> Iterator[ItemRecord]:
    """Yield the items of the rows. Rows with the same values in `together` must be adjacent."""
    seen: set[tuple[str, ...]] = set()
    counts: Counter[str] = Counter()
    addresses: dict[str, list[str]] = {}
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
            advice = f"Images of this name are at {first[:200]} and {others[0][:200]}: their items get the same image."
            log.note("SAME_NAME", name, None, "", f"{advice} If they differ, name files as in {{id}}.jpg.")


def own_key(origin: Origin, counts: Counter[str]) -> str:
    """Return an item's id if the mapping has none: its file's name and a number."""
    file = PurePosixPath(origin.file).stem[:LONGEST_STEM]
    counts[file] += 1
    return f"{file}-{counts[file]}"


def _keyed(rows: Iterable[tuple[Origin, Row]], mapping: ColumnMapping) -> Iterator[tuple[tuple[str, ...], Origin, Row]]:
    for number, (origin, row) in enumerate(rows):
        own = tuple(as_text(row.get(name)) for name in mapping.together) if mapping.together else (str(number),)
        yield own, origin, row


def item(
    rows: Sequence[tuple[Origin, Row]], mapping: ColumnMapping, key: str, addresses: dict[str, list[str]] | None = None
) -> ItemRecord:
    """Make an item of one row, or of several that belong together, whose common values are kept once. `key`: used if no
    column is its id. Adds the images' URLs to `addresses`, by name."""
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
    """Remove repeated values, comparing attributes too."""
    kept: list[Any] = []
    for one in found:
        if not any(one == other and one.attributes == other.attributes for other in kept):
            kept.append(one)
    return kept


def _captions(row: Row, mapping: ColumnMapping) -> Iterator[CaptionRecord]:
    for role, value, attributes in _found(row, mapping.texts, mapping.literal):
        yield CaptionRecord(role, as_text(value), attributes)


def _images(row: Row, mapping: ColumnMapping, addresses: dict[str, list[str]]) -> Iterator[ImageRecord]:
    for role, value, attributes in _found(row, mapping.images, mapping.literal):
        name = as_text(value)
        if ADDRESS.match(name) and not mapping.literal:
            address, name = name, unquote(urlsplit(name).path).rpartition("/")[2]
            if address not in (known := addresses.setdefault(name, [])):
                known.append(address)
        yield ImageRecord(role, name, attributes=attributes)


def _found(row: Row, parts: Mapping[str, Part], literal: bool) -> Iterator[tuple[str, object, Attributes]]:
    """Yield (role, value, attributes) of every member; an attribute with one value per member is distributed."""
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
    """Collect the unmapped columns: the value that all rows share, or the list of theirs."""
    used = {name for place in mapping.places() for name in columns_of(place, rows[0])}
    kept = [name for name in rows[0] if name not in used]
    found = {name: [row.get(name) for row in rows] for name in kept}
    return {name: said[0] if all(one == said[0] for one in said) else said for name, said in found.items()}
