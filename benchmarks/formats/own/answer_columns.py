"""Columns of answers: where a table has what people or models answered. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own.mapping import (
    Mapped,
    NotAMapping,
    Row,
    as_text,
    cell,
    column_in,
    columns_in,
    missing,
    object_in,
)
from benchmarks.formats.table import spelled

Found = TypeVar("Found", bound=Mapped)
_ITEM = (
    re.compile(r"item(?:_?(?:id|key|name|index))?"),
    re.compile(
        r"key|(?:image|img|picture|photo|video)(?:_?(?:id|key|name|path|file|index))?|file_?name|unit|u?id|index"
    ),
    re.compile(r"(?:sample|example|instance|pair|prompt|question|text|hit|task)_?(?:id|key|name|index)"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer stands: in places, or in `voters` (value → place of those who gave it). `values`: what a value
    of the file is called by the protocol."""

    places: tuple[str, ...] = ()
    voters: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_places(self) -> tuple[str, ...]:
        return (*self.places, *self.voters.values())

    def as_json(self) -> object:
        if self.voters:
            return {"voters": dict(self.voters)}
        places = self.places[0] if len(self.places) == 1 else list(self.places)
        return {"from": places, "values": dict(self.values)} if self.values else places


def source_in(value: object, where: str) -> Source:
    if not isinstance(value, dict):
        return Source(columns_in(value, where))
    given = object_in(value, where, {"from", "values", "voters"})
    if "voters" in given:
        voters = object_in(given["voters"], f"{where}, voters", given["voters"])
        return Source(voters={name: column_in(of, f"{where}, {name}") for name, of in voters.items()})
    values = given.get("values", {})
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values.values()):
        raise NotAMapping(f"Write the values of {where} as an object of texts: {{…}}.")
    return Source(columns_in(given.get("from"), where), values=values)


def word_of(column: str) -> str:
    """Its name in small letters, without the objects in which it stands."""
    return re.sub(r"\W+", "_", spelled(column.rpartition(".")[2] or column)).strip("_")


def item_column(words: Mapping[str, str]) -> str:
    """The column that probably has the item's id, or "". `words`: `word_of` each column."""
    return next((name for pattern in _ITEM for name, word in words.items() if pattern.fullmatch(word)), "")


def text_in(row: Row, place: str) -> str:
    value = cell(row, place) if place else None
    return "" if value is None else as_text(value).strip()


def given_mapping(path: Path, text: str, read: Callable[[str], Found], log: ProblemLog) -> Found:
    """The mapping that is given for a file. Raises Unreadable, with the reason in the log."""
    try:
        return read(text)
    except NotAMapping as why:
        log.error("BAD_MAPPING", path.name, None, "", str(why))
        raise Unreadable from None


def refuse_missing(path: Path, mapping: Mapped, columns: Sequence[str], log: ProblemLog) -> None:
    """Raises Unreadable if the log has errors, of columns that the mapping names and the file lacks among them."""
    for column, advice in missing(mapping, columns).items():
        log.error("COLUMN_MISSING", path.name, None, column, f"The mapping names this column. {advice}")
    if log.count:
        raise Unreadable
