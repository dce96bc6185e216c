"""Use a protocol file with a benchmark that names its parts differently: `images.picture` is its `scene`.

The file is rewritten with the benchmark's names, so that identities, tables and results use them everywhere. A stage
names such a protocol `prompt-fit@2:images.picture=scene`, from which it can be made again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols import checks, schema, values
from annotation.protocols.layout import PICTURES, TEXTS, bound_roles, drawn_by, shown_name
from annotation.protocols.schema import ProtocolFile
from benchmarks.records import NAME

Roles = Mapping[str, str]  # a role of the file with its kind → the benchmark's name for it
SIGN = ":"
_PAIR = re.compile(r"((?:images|captions|texts|lists)\.[a-z][a-z0-9_]{0,15})=([a-z][a-z0-9_]{0,15})")
_WORD = re.compile(r"[a-z][a-z0-9_]*")


class CannotMap(ValueError):
    """Raised if the roles cannot be mapped like this; the message explains why."""


def split(name: str) -> tuple[str, dict[str, str]]:
    """Return `prompt-fit@2` and its roles. KeyError if this cannot be a protocol's name."""
    base, sign, mapped = name.partition(SIGN)
    if not sign:
        return base, {}
    found = [_PAIR.fullmatch(one) for one in mapped.split(",")]
    roles = {one[1]: one[2] for one in found if one}
    if len(roles) < len(found) or name != joined(base, roles):
        raise KeyError(name)
    return base, roles


def joined(base: str, roles: Roles) -> str:
    """Invert `split`; roles that keep their names are left out."""
    changed = [f"{role}={to}" for role, to in sorted(roles.items()) if role.partition(".")[2] != to]
    return base + (SIGN + ",".join(changed) if changed else "")


def in_words(roles: Roles) -> str:
    """Return `picture → scene, prompt → text`."""
    return ", ".join(f"{role.partition('.')[2]} → {to}" for role, to in sorted(roles.items()))


def asked_as(name: str) -> str:
    """Return `prompt-fit@2 with picture → scene` for `prompt-fit@2:images.picture=scene`."""
    base, roles = split(name)
    return f"{base} with {in_words(roles)}" if roles else base


def mappable(file: ProtocolFile) -> list[str]:
    """Return the roles that can be mapped: those of the file's items, and those it gives to the next stage."""
    return list(dict.fromkeys([*file.roles, *file.carry]))


def read_roles(given: str, files: Sequence[ProtocolFile]) -> list[dict[str, str]]:
    """Return, for each file, its roles among those a manager wrote: `picture=scene, captions.foil=negative`. Raises
    CannotMap if no file has a role, or one has several of that name.
    """
    found: list[dict[str, str]] = [{} for _ in files]
    for one in filter(None, (part.strip() for part in given.split(","))):
        role, sign, to = (part.strip() for part in one.partition("="))
        if not sign or not NAME.fullmatch(to):
            raise CannotMap(f"{one}: write the protocol’s role and the benchmark’s, as in picture=scene.")
        meant = [[known for known in mappable(file) if role in (known, known.partition(".")[2])] for file in files]
        if several := next((of for of in meant if len(of) > 1), None):
            raise CannotMap(f"{one}: name the role with its kind: {', '.join(several)}.")
        if not any(meant):
            there = dict.fromkeys(known for file in files for known in mappable(file))
            raise CannotMap(f"{one}: there is no role {role}. Choose one of {', '.join(there)}.")
        for mapping, of in zip(found, meant, strict=True):
            mapping |= dict.fromkeys(of, to)
    return found


def with_roles(file: ProtocolFile, roles: Roles) -> ProtocolFile:
    """Return the file with the benchmark's names. Raises CannotMap."""
    if not roles:
        return file
    if unknown := roles.keys() - set(mappable(file)):
        raise CannotMap(f"{file.name} has no {', '.join(sorted(unknown))}. It has {', '.join(mappable(file))}.")
    _require_distinct(file, roles)
    try:
        found = ProtocolFile.model_validate(_Renaming(file, roles).renamed())
    except ValueError as error:
        raise CannotMap(f"{in_words(roles)}: {error}") from None
    for _, _, advice in checks.problems(found):
        raise CannotMap(f"With {in_words(roles)}: {advice}")
    return found


def asked_under(file: ProtocolFile, protocol: str) -> ProtocolFile:
    """Return the published file as used by a stage whose protocol has this name. Raises ValueError."""
    try:
        return with_roles(file, split(protocol)[1])
    except KeyError:
        raise ValueError(f"{protocol!r:.60} is not the name of a protocol") from None


def _require_distinct(file: ProtocolFile, roles: Roles) -> None:
    taken: dict[tuple[bool, str], str] = {}
    for role in mappable(file):
        name = roles.get(role, role.partition(".")[2])
        other = taken.setdefault((role.startswith("images."), name), role)
        if other != role and other.partition(".")[2] != role.partition(".")[2]:
            raise CannotMap(f"{other} and {role} cannot both be {name}.")


class _Renaming:
    """Rewrites the names in a file: roles with their kinds, parts of the screen, and values that are options."""

    def __init__(self, file: ProtocolFile, roles: Roles):
        self.file = file
        self.references = {role: f"{role.partition('.')[0]}.{to}" for role, to in roles.items()}

    def renamed(self) -> dict[str, Any]:
        file, data = self.file, self.file.model_dump(exclude_unset=True)
        found = {key: self._references(value) for key, value in data.items() if key not in ("ask", "title", "source")}
        found |= {key: data[key] for key in ("ask", "title", "source") if key in data}
        for kind in ("images", "captions", "texts", "lists"):
            if kind in data["item"]:
                found["item"][kind] = {self._short(f"{kind}.{name}"): n for name, n in data["item"][kind].items()}
        found["screen"] = [
            self._block(block, shown) for block, shown in zip(file.screen, data.get("screen", []), strict=True)
        ]
        for one, before in zip(found["answers"], data["answers"], strict=True):
            if one["kind"] in values.MARKED:
                one["of"] = self._part(one["of"], PICTURES)
            when = one.get("when") or {}
            for listed in (when.get("all", {}), when.get("any", {})):
                listed |= {address: self._values(address, wanted) for address, wanted in listed.items()}
            if "item" in when:
                when["item"] = {self._fact(fact): wanted for fact, wanted in before["when"]["item"].items()}
        for rule in found.get("decide", ()):
            rule |= {key: self._values(rule["answer"], rule[key]) for key in ("of", "keep") if key in rule}
            if "drop" in rule:
                rule["drop"] = self._keys(rule["answer"], rule["drop"])
        for address, measure in found.get("measure", {}).items():
            views = measure.get("views", {})
            views |= {title: self._keys(address, view) for title, view in views.items()}
            if measure.get("score"):
                measure["score"] = self._values(address, measure["score"])
        for address, right in found.get("right", {}).items():
            found["right"][address] = self._right(address, right)
        return found

    def _right(self, address: str, right: Any) -> Any:
        if not isinstance(right, dict):
            return self._values(address, right)
        if "from" in right:  # a column in the data, which annotators don't see
            meant = right.get("values", {})
            return (
                {**right, "values": {said: self._values(address, of) for said, of in meant.items()}} if meant else right
            )
        return {self._task(task): self._values(address, value) for task, value in right.items()}

    def _fact(self, fact: str) -> str:
        """Rename `images.scene`, or an attribute of it: `images.scene.model`."""
        kind, _, rest = fact.partition(".")
        name, sign, attribute = rest.partition(".")
        return self.references.get(f"{kind}.{name}", f"{kind}.{name}") + sign + attribute if rest else fact

    def _references(self, value: Any) -> Any:
        match value:
            case dict():
                return {self.references.get(key, key): self._references(one) for key, one in value.items()}
            case list():
                return [self._references(one) for one in value]
            case str():
                return self.references.get(value, value)
        return value

    def _short(self, role: str) -> str:
        return self.references.get(role, role).partition(".")[2]

    def _block(self, block: schema.Block, data: dict[str, Any]) -> dict[str, Any]:
        name, kinds = shown_name(block)
        key = next(iter(type(block).model_fields))
        drawn = drawn_by(block) if isinstance(block, schema.Picture) else []
        return {**data, key: self._part(name, kinds)} | {kind: self._part(of, TEXTS) for kind, of in drawn}

    def _part(self, name: str, kinds: Sequence[str]) -> str:
        """Rename a role of one of these kinds; a task's part or an attribute stays as it is."""
        if name in bound_roles(self.file):
            return name
        return next((self._short(f"{kind}.{name}") for kind in kinds if f"{kind}.{name}" in self.file.roles), name)

    def _options(self, address: str) -> dict[str, str]:
        """Map an answer's option names to those of the benchmark."""
        name = address.partition(".")[0]
        answer = next((one for one in self.file.answers if one.name == name), None)  # otherwise a fact about the item
        if not isinstance(answer, schema.Pick | schema.Rank | schema.Pair):
            return {}
        options = values.options_of(self.file, answer)
        return {role.partition(".")[2]: self._short(role) for role in options}

    def _values(self, address: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._values(address, one) for one in value]
        return _in(self._options(address), value) if isinstance(value, str) else value

    def _keys(self, address: str, table: dict[str, Any]) -> dict[str, Any]:
        return {_in(self._options(address), key): value for key, value in table.items()}

    def _task(self, name: str) -> str:
        """Rename a task, whose name is made of the names of its parts."""
        match self.file.tasks:
            case schema.Each(each=each):
                through = list(each.values())
            case schema.Pairs(pairs=role):
                through = [[role], [role]]
            case _:
                return name
        parts = name.split("/")
        if len(parts) != len(through):
            return name
        return "/".join(
            _in({role.partition(".")[2]: self._short(role) for role in roles}, part)
            for roles, part in zip(through, parts, strict=True)
        )


def _in(names: Mapping[str, str], value: str) -> str:
    """Rename the value, also within an order of options and before the number of a member."""
    return _WORD.sub(lambda word: names.get(word[0], word[0]), value)
