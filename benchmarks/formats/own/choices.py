"""A mapping of items column by column, for a page to show and submit. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.formats.own.mapping import KINDS, PLAIN, TOGETHER, VERSION, ColumnMapping, NotAMapping, columns_of


@dataclass(frozen=True, slots=True)
class Choice:
    """One column's meaning: `what` is "text" or "image", with a role, or "id", "type", "subtype", "together" or ""."""

    place: str
    what: str = ""
    role: str = ""


def choices(mapping: ColumnMapping, columns: Sequence[str]) -> list[Choice] | None:
    """Return the mapping, column by column; None if it cannot be expressed so."""
    found = {place: (what[:-1], role) for what in KINDS for role, part in getattr(mapping, what).items()
             for place in part.places}  # fmt: skip
    found |= {place: (name, "") for name in PLAIN if (place := getattr(mapping, name))}
    found |= dict.fromkeys(mapping.together, (TOGETHER, ""))
    by_column = {columns_of(place, columns)[0]: place for place in found if len(columns_of(place, columns)) == 1}
    if len(by_column) < len(found) or any(part.attributes for part in mapping.parts) or len(mapping.together) > 1:
        return None
    return [Choice(by_column.get(name, name), *found.get(by_column.get(name, name), ("", ""))) for name in columns]


def chosen(found: Iterable[Choice]) -> ColumnMapping:
    """Return the mapping for these choices. Raises NotAMapping."""
    value: dict[str, Any] = {"winnow": VERSION, "texts": {}, "images": {}}
    for one in found:
        if one.what in PLAIN:
            if one.what in value:
                raise NotAMapping(f"Two columns are the {one.what}: “{value[one.what]}” and “{one.place}”. Choose one.")
            value[one.what] = one.place
        elif one.what == TOGETHER:
            value |= {TOGETHER: [one.place], "id": one.place}
        elif one.what:
            if not one.role:
                raise NotAMapping(f"Give the role of “{one.place}”: positive, negative, or a word of your own.")
            value[f"{one.what}s"].setdefault(one.role, []).append(one.place)
    return ColumnMapping.from_json(value)
