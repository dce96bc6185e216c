"""A part of a benchmark's items for a study to ask about: by type, parts, attributes, keys, or at random.

A study keeps its part as JSON: `types` (`replace`, or with its subtype `replace/obj`), `roles` (`images.scene` → how
many an item has, as in protocol files), `attributes` (name → values, one of which a part of the item has),
`keys`, and `sample`: how many of these items are drawn by `seed`, from the benchmark's items up to position `until`.
Keys that are left out do not restrict.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, cast

from annotation.protocols.schema import bounds, how_many
from benchmarks.naming import kind_name
from benchmarks.records import NAME


class Part(TypedDict, total=False):
    types: list[str]
    roles: dict[str, str]
    attributes: dict[str, list[str]]
    keys: list[str]
    sample: int
    seed: int
    until: int


class WrongPart(ValueError):
    """The part cannot be read; the message explains what to write."""


_ROLE = re.compile(rf"(images|texts)\.({NAME.pattern})")
_COUNT = re.compile(r"[0-9]{1,3}(\.\.[0-9]{0,3})?")
NAMED_KEYS = 5  # keys named in sentences
MOST_KEYS = 10_000  # all are read with the study


def read_roles(text: str) -> dict[str, str]:
    """Parse `images.scene=2.., texts.foil=1`. Raises WrongPart."""
    found = {}
    for name, count in _pairs(text, "images.scene=2.."):
        if not _ROLE.fullmatch(name):
            raise WrongPart(f"{name}: begin the role with images. or texts., as in images.scene=2..")
        if not _COUNT.fullmatch(count) or (bounds(count)[1] is not None and bounds(count)[1] < bounds(count)[0]):  # type: ignore[operator]
            raise WrongPart(f"{name}={count}: write how many an item has: 2, 2..4, or 2.. for two or more.")
        found[name] = count
    return found


def read_attributes(text: str) -> dict[str, list[str]]:
    """Parse `model=sd-3|dall-e-3, style=oil`. Raises WrongPart."""
    pairs = _pairs(text, "model=sd-3|dall-e-3")
    found = {name: [value.strip() for value in values.split("|")] for name, values in pairs}
    check_names(found)
    return found


def check_names(attributes: Iterable[str]) -> None:
    """Raise WrongPart unless all can be attribute names."""
    for name in attributes:
        if not NAME.fullmatch(name):
            raise WrongPart(f"{name} is not the name of an attribute. Write NAME=VALUE, as in model=sd-3|dall-e-3.")


def _pairs(text: str, example: str) -> list[tuple[str, str]]:
    pairs = [one.partition("=") for one in text.replace("\n", ",").split(",") if one.strip()]
    if wrong := [name.strip() for name, _, value in pairs if not value.strip() or not name.strip()]:
        raise WrongPart(f"{wrong[0]}: write a name and a value, as in {example}")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def read_keys(text: str) -> list[str]:
    """Return the keys, one per line; duplicate lines are allowed."""
    keys = list(dict.fromkeys(line.strip() for line in text.removeprefix("\ufeff").splitlines() if line.strip()))
    if len(keys) > MOST_KEYS:
        raise WrongPart(f"A list can have at most {MOST_KEYS:,} keys.")
    return keys


def part_of(
    *, types: Sequence[str] = (), roles: str = "", attributes: str = "", keys: str = "", sample: int | None = None
) -> Part:
    """Return the part from the input of forms and commands. Raises WrongPart."""
    found = {
        "types": list(types), "roles": read_roles(roles), "attributes": read_attributes(attributes),
        "keys": read_keys(keys), "sample": sample,
    }  # fmt: skip
    return cast(Part, {name: value for name, value in found.items() if value})


def as_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """Invert `part_of`: return its arguments."""
    return {
        "types": part.get("types", []),
        "roles": ", ".join(f"{role}={count}" for role, count in part.get("roles", {}).items()),
        "attributes": ", ".join(f"{name}={'|'.join(values)}" for name, values in part.get("attributes", {}).items()),
        "keys": "\n".join(part.get("keys", [])),
        "sample": part.get("sample"),
    }


SET_WHEN_DRAWN = ("seed", "until")
DRAWN = ("sample", *SET_WHEN_DRAWN)  # keys of a part that define how it is drawn


def in_words(part: Mapping[str, Any]) -> str:
    """`items of the type swap with 2 or more pictures as “scene”; 100 of them drawn with seed 7`; "" for all items."""
    if not part:
        return ""
    which = []
    if types := part.get("types"):
        which.append(
            f"of the type{'s' if len(types) > 1 else ''} {' or '.join(kind_name(*one.split('/')) for one in types)}"
        )
    for role, count in part.get("roles", {}).items():
        kind, _, name = role.partition(".")
        which.append(f"with {how_many(count)} {name.replace('_', ' ')} {kind}")
    for name, values in part.get("attributes", {}).items():
        which.append(f"whose {name} is {' or '.join(values)}")
    if keys := part.get("keys"):
        named = ", ".join(keys[:NAMED_KEYS]) + (" …" if len(keys) > NAMED_KEYS else "")
        which.append(f"in a list of {len(keys):,} key{'' if len(keys) == 1 else 's'} ({named})")
    words = " ".join(["items", ", ".join(which)]) if which else "the benchmark’s items"
    if sample := part.get("sample"):
        words += f"; {sample:,} of them, drawn with seed {part.get('seed', '')}".rstrip()
    return words


def in_short(part: Mapping[str, Any], total: int) -> str:
    """Return `a random 60 of 332 items` for a benchmark with `total`; "" for all items."""
    which, sample = in_words({name: part[name] for name in part if name not in DRAWN}), part.get("sample")
    if not sample:
        return which
    return f"a random {sample:,} of {f'the {which}' if which else f'{total:,} items'}"
