"""Data that a protocol file takes from an item itself: its right answers, and the values that define groups. Pure.

A column is any place of the row that the item came from, as in a mapping of columns: a further column of its file
(`label`), one inside an object (`answer.text`), part of one (`{identifier[:-2]}`). The names of the item's roles are
columns too, for its texts and the names of its images, and so are `id`, `type` and `subtype`, which Winnow knows by
these names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from annotation.protocols import option_sets, schema, values
from annotation.protocols.base import ITEM, RIGHT, Attributes, UnsuitableItem
from annotation.protocols.measuring import is_set
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.own.mapping import as_text, cell, columns_of
from benchmarks.records import ItemRecord

_SPELLINGS = ({"yes", "true", "1", "y", "t", "correct", "right"}, {"no", "false", "0", "n", "f", "incorrect", "wrong"})
_BETWEEN = re.compile(r"\s*[,;|]\s*")  # several right options in a text
_AROUND = " .,:;()[]\"'"  # around a letter or word given as the answer: “(B)”, “Yes.”


def asks_items(file: ProtocolFile) -> bool:
    """Return whether the file needs more of an item than annotators see: attributes, or the item's own values."""
    return bool(file.item.attributes) or bool(columns(file))


def columns(file: ProtocolFile) -> list[str]:
    """Return the columns that the file names."""
    over = [column for group in file.group.values() if isinstance(group, schema.Over) for column in group.over or ()]
    return list(dict.fromkeys([*(right.column for right in rights(file).values()), *over]))


def roles(file: ProtocolFile) -> list[str]:
    """Return the roles that columns can name, or whose members are options that can be right."""
    options = [role.partition(".")[2] for name in rights(file) for role in _roles(file, file.answer(name))]
    named = [name.partition(".")[0] for column in columns(file) for name in columns_of(column, ())]
    return sorted({*options, *named})


def rights(file: ProtocolFile) -> dict[str, schema.ByItem]:
    """Return where items have the right value, by answer."""
    return {name: right for name, right in file.right.items() if isinstance(right, schema.ByItem)}


def attributes_of(file: ProtocolFile, item: ItemRecord) -> Attributes:
    """Return the attributes of the item and its parts that the file uses, without right answers that are not values of
    the answer: such an item has no task (`require_right_answers`).
    """
    found: dict[str, Mapping[str, Any]] = dict(item.attributes())
    if named := {*file.item.attributes, *columns(file)}:
        row = _row(item)
        said = {name: value for name in sorted(named) if (value := cell(row, name)) not in (None, "")}
        right = {name: value for name, of in rights(file).items() if (value := _right(file, name, of, row, item))}
        found |= {key: of for key, of in ((ITEM, said), (RIGHT, right)) if of}
    return found


def require_right_answers(file: ProtocolFile, item: ItemRecord) -> None:
    """Raise UnsuitableItem unless the item has a right answer that can be given."""
    for name, of in rights(file).items():
        said = cell(row := _row(item), of.column)
        if said is None or not as_text(said).strip():
            lacks = f"item {item.key} has no {of.column}, which the right answer to {name} is taken from"
            remedy = "fill in this column, or leave the item out of the study"
            raise UnsuitableItem(f"{lacks}; {remedy}", f"a column “{of.column}”")
        if not _right(file, name, of, row, item):
            known = [*dict.fromkeys(_known(file, name, item).values())]
            needs = f"one of {', '.join(known[:20])} in “{of.column}”"
            example = f"{{from: {of.column}, values: {{{as_text(said)[:40]!r}: {known[0] if known else '…'}}}}}"
            lacks = f"item {item.key} has {as_text(said)[:80]!r} in {of.column}, which is not an answer to {name}"
            raise UnsuitableItem(
                f"{lacks}; correct it, or say which of {', '.join(known[:20])} it means: {example}", needs
            )


def with_right_answers(file: ProtocolFile, item: ItemRecord, number: int) -> ItemRecord:
    """Return a made-up item whose data give an answer, chosen by its number, in each column that the file names.
    Answers that share a column share it."""
    meta: dict[str, object] = {**item.meta}
    for name, of in rights(file).items():
        said = [*of.values, *_known(file, name, item)]
        meta.setdefault(of.column, said[number % len(said)] if said else "")
    return replace(item, meta=meta)


def _row(item: ItemRecord) -> dict[str, Any]:
    """Return values by column; the item's fields come before the names of roles."""
    parts: dict[str, list[str]] = {}
    for role, value in chain(
        ((one.role, one.text) for one in item.captions), ((one.role, one.name) for one in item.images)
    ):
        parts.setdefault(role, []).append(value)
    alone = {role: found[0] if len(found) == 1 else found for role, found in parts.items()}
    return {**alone, **item.fields()}


def _right(file: ProtocolFile, name: str, of: schema.ByItem, row: Mapping[str, Any], item: ItemRecord) -> str:
    """Return the answer's value in the item's data, or ""; for a pick of many those in a list, or in a text separated
    by commas or semicolons.
    """
    value = cell(row, of.column)
    if value is None:
        return ""
    if not is_set(file.answer(name)):
        alone = value[0] if isinstance(value, list) and len(value) == 1 else value
        return _meant(file, name, of, as_text(alone).strip(), item)
    several = value if isinstance(value, list) else _BETWEEN.split(as_text(value))
    found = [_meant(file, name, of, as_text(one).strip(), item) for one in several]
    return option_sets.as_label(found) if all(found) else ""


def _meant(file: ProtocolFile, name: str, of: schema.ByItem, said: str, item: ItemRecord) -> str:
    if said in of.values:
        return of.values[said]
    known, word = _known(file, name, item), said.casefold().strip(_AROUND)
    if found := known.get(said.casefold()) or known.get(word):
        return found
    for spelled in _SPELLINGS:
        meant = {known[one] for one in spelled if one in known}
        if word in spelled and len(meant) == 1:
            return meant.pop()
    members = list(_members(file, name, item))
    place = ord(word) - ord("a") if len(word) == 1 else len(members)
    return members[place][0] if 0 <= place < len(members) else ""


def _known(file: ProtocolFile, name: str, item: ItemRecord) -> dict[str, str]:
    """Map possible data, in lower case, to the value: names of values, then their labels, then options' texts."""
    answer = file.answer(name)
    fixed, members = values.fixed_of(answer), list(_members(file, name, item))
    points = {one: one for one in values.points(answer)} if isinstance(answer, schema.Scale) else {}
    anchors = answer.anchors if isinstance(answer, schema.Scale) else {}
    pairs = [
        *((value, value) for value in (*points, *fixed, *(member for member, _ in members))),
        *((one.label, value) for value, one in fixed.items()),
        *((label, value) for value, label in anchors.items()),
        *((text, member) for member, text in members),
    ]
    found: dict[str, str] = {}
    for said, value in pairs:
        found.setdefault(said.strip().casefold(), value)
    return found


def _members(file: ProtocolFile, name: str, item: ItemRecord) -> Iterator[tuple[str, str]]:
    """Yield the name of each option of the item, and its text or image name."""
    answer = file.answer(name)
    for role in _roles(file, answer):
        kind, _, own = role.partition(".")
        parts: Sequence[str] = (
            [one.name for one in item.images_as(own)]
            if kind == "images"
            else [one.text for one in item.captions if one.role == own]
        )
        names = [own] if values.is_alone(file, role) else [f"{own}-{place}" for place in range(len(parts))]
        yield from zip(names, parts, strict=False)


def _roles(file: ProtocolFile, answer: schema.Answer) -> Sequence[str]:
    return values.options_of(file, answer) if isinstance(answer, schema.Pick | schema.Pair) else []
