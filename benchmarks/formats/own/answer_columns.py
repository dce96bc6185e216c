"""Columns of answers: where people's or models' answers are in a table. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own.choices import Choice
from benchmarks.formats.own.mapping import (
    NotAMapping,
    Row,
    as_text,
    cell,
    column_in,
    columns_in,
    mapping_in,
    mapping_json,
    missing,
    object_in,
)
from benchmarks.formats.own.rows import every_column, sampled
from benchmarks.formats.table import spelled

FEW_ROWS, LONGEST_ID, MOST_ID_COLUMNS = 20, 100, 12  # searched for ids that span several columns
JOINTS = ("/", "-", "_", ":", ".", " ")
_ITEM = (
    re.compile(r"item(?:_?(?:id|key|name|index))?"),
    re.compile(
        r"key|(?:image|img|picture|photo|video)(?:_?(?:id|key|name|path|file|index))?|file_?name|unit|u?id|index"
    ),
    re.compile(r"(?:sample|example|instance|pair|prompt|question|text|hit|task)_?(?:id|key|name|index)"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer is found: in places, or in `voters` (value → place of those who gave it). `values`: the
    protocol's name for a value in the file."""

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


class Place(Protocol):
    """Where one of a mapping's answers or attributes is found."""

    @property
    def all_places(self) -> tuple[str, ...]: ...

    def as_json(self) -> object: ...


@dataclass(frozen=True, slots=True)
class AnswerMapping:
    """The meaning of the columns in a table of answers. Its fields are those of `PLAIN`, each a place, and of `NAMED`:
    name → where it is found, as read by the function."""

    item: str = ""
    VERSION: ClassVar[str]
    PLAIN: ClassVar[tuple[str, ...]]
    NAMED: ClassVar[Mapping[str, Callable[[object, str], Place]]]

    def places(self) -> Iterator[str]:
        yield from filter(None, (getattr(self, name) for name in self.PLAIN))
        for name in self.NAMED:
            for of in getattr(self, name).values():
                yield from of.all_places

    def as_json(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self.PLAIN}
        found |= {name: {key: of.as_json() for key, of in getattr(self, name).items()} for name in self.NAMED}
        return {"winnow": self.VERSION} | {name: value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, value: object, whole: bool = True) -> Self:
        """Read it from JSON. Raises NotAMapping, also if `whole` and something is missing."""
        given = mapping_in(value, cls.VERSION, {*cls.PLAIN, *cls.NAMED})
        found: dict[str, Any] = {name: column_in(given[name], name) for name in cls.PLAIN if name in given}
        for name, read in cls.NAMED.items():
            of = given.get(name, {})
            if not isinstance(of, dict):
                raise NotAMapping(f"Write {name} as an object: {{…}}.")
            found[name] = {key: read(one, f"{name}, {key}") for key, one in of.items()}
        made = cls(**found)
        if whole and (lacks := made.lacks()):
            raise NotAMapping(lacks)
        return made

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read it from text. Raises NotAMapping."""
        return cls.from_json(mapping_json(text))

    def lacks(self) -> str:
        """Return what is missing for reading a file with it; "" if nothing is."""
        raise NotImplementedError

    def by_column(self, columns: Iterable[str]) -> list[Choice]:
        """Return each column's meaning; additional places, such as an id in several columns, come first."""
        found = {place: name for name in self.PLAIN if (place := getattr(self, name))}
        for name in self.NAMED:
            for key, of in getattr(self, name).items():
                found |= dict.fromkeys(of.all_places, f"{name}.{key}")
                voters = of.voters if isinstance(of, Source) else {}
                found |= {place: f"{name}.{key}={value}" for value, place in voters.items()}
        names = list(columns)
        return [Choice(one, found.get(one, "")) for one in [*(one for one in found if one not in names), *names]]

    @classmethod
    def chosen(cls, found: Iterable[Choice], values: Iterable[tuple[str, str, str]] = ()) -> Self:
        """Return the mapping for these choices. `values`: (answer, value in the file, the answer's own value). Raises
        NotAMapping."""
        made: dict[str, Any] = {"winnow": cls.VERSION, **{name: {} for name in cls.NAMED}}
        for one in found:
            name, _, key = one.what.partition(".")
            key, _, voted = key.partition("=")
            if name in cls.PLAIN:
                if name in made:
                    raise NotAMapping(f"Two columns are the {name}: “{made[name]}” and “{one.place}”. Choose one.")
                made[name] = one.place
            elif voted:
                made[name].setdefault(key, {}).setdefault("voters", {})[voted] = one.place
            elif name in cls.NAMED:
                made[name].setdefault(key or word_of(one.place), {}).setdefault("from", []).append(one.place)
        for what, value, meant in values:
            name, _, key = what.partition(".")
            if meant and "from" in made.get(name, {}).get(key, {}):
                made[name][key].setdefault("values", {})[value] = meant
        for group in (made[name] for name in cls.NAMED):
            plain = {key: of["from"] for key, of in group.items() if [*of] == ["from"]}
            group |= {key: of[0] if len(of) == 1 else of for key, of in plain.items()}
        return cls.from_json(made)


def word_of(column: str) -> str:
    """Return the column's name in lower case, without enclosing objects."""
    return re.sub(r"\W+", "_", spelled(column.rpartition(".")[2] or column)).strip("_")


def item_column(words: Mapping[str, str], sample: Sequence[Row] = (), keys: frozenset[str] = frozenset()) -> str:
    """Return the place that probably has the item's id: one whose values are the items' `keys`, or by its name; "" if
    there is none. `words`: `word_of` each column."""
    by_name = next((name for pattern in _ITEM for name, word in words.items() if pattern.fullmatch(word)), "")
    rows = sample[:FEW_ROWS]
    short = [name for name in words if all(len(text_in(row, name)) <= LONGEST_ID for row in rows)][:MOST_ID_COLUMNS]
    joined = (f"{{{one}}}{sign}{{{other}}}" for one, other in permutations(short, 2) for sign in JOINTS)
    places = dict.fromkeys(filter(None, (by_name, *words, *joined))) if keys else {}
    fits = {one: sum(text_in(row, one) in keys for row in rows) for one in places}
    best = max(fits, key=lambda one: fits[one], default="")
    return best if best and 2 * fits[best] > len(rows) else by_name


Found = TypeVar("Found", bound=AnswerMapping)


def text_in(row: Row, place: str) -> str:
    value = cell(row, place) if place else None
    return "" if value is None else as_text(value).strip()


def understood(
    path: Path, given: str, kind: type[Found], guess: Callable[[Sequence[str], Sequence[Row]], Found], log: ProblemLog
) -> tuple[Found, list[str]]:
    """Return a file's mapping, `given` as JSON or guessed from its columns and first rows, and its columns. Raises
    Unreadable, with the reason in the log."""
    sample = sampled(path, log)
    names = every_column(sample)
    try:
        return kind.from_text(given) if given else guess(names, sample), names
    except NotAMapping as why:
        log.error("BAD_MAPPING", path.name, None, "", str(why))
        raise Unreadable from None


def refuse_missing(path: Path, mapping: AnswerMapping, columns: Sequence[str], log: ProblemLog) -> None:
    """Raise Unreadable if the log has errors, including mapped columns that the file lacks."""
    for column, advice in missing(mapping, columns).items():
        log.error("COLUMN_MISSING", path.name, None, column, f"The mapping names this column. {advice}")
    if log.count:
        raise Unreadable
