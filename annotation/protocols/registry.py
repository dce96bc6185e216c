"""The protocols that a stage can use: built-in ones by name, and published protocol files as `NAME@VERSION`.

A built-in protocol is a file of the library whose stages' own settings decide, or a module here with a form that a file
cannot express. The library's other files keep their own names until a study publishes them. If a benchmark names roles
differently, its names follow the protocol's (`roles`).
"""

import re
from collections.abc import Callable

from annotation.protocols import compile, library, roles, visla_paraphrase, visla_triplet
from annotation.protocols.base import Protocol
from annotation.protocols.schema import ProtocolFile


def _from_library(*names: str) -> list[Protocol]:
    return [compile.as_protocol(library.shipped(name), name, decides=False) for name in names]


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        *_from_library("bivlc-choose", "bivlc-disambiguate", "bivlc-i2t", "bivlc-t2i", "verify"),
        visla_paraphrase.PROTOCOL,
        visla_triplet.PROTOCOL,
        *_from_library("hard-positive-rank", "sugarcrepe-compare"),
    )
}
VERSION_SIGN = "@"
_VERSION = re.compile(rf"(.+){VERSION_SIGN}([1-9][0-9]{{0,8}})")  # not 01, which would be a second name for 1

FindText = Callable[[str, int], str]  # name and version of a published file → its text; raises KeyError


def _nothing_published(name: str, version: int) -> str:
    raise KeyError(f"{name}{VERSION_SIGN}{version}")


_find_text: FindText = _nothing_published


def find_published_with(find: FindText) -> None:
    """Set the function that finds published files' texts; the app does this when it starts."""
    global _find_text
    _find_text = find


def protocol_named(name: str) -> Protocol:
    """Return the protocol called `verify`, `prompt-fit@2` or `prompt-fit@2:images.picture=scene`. Raises KeyError."""
    if roles.SIGN in name:
        return _mapped(name)
    if VERSION_SIGN in name:
        return _published(name)
    return PROTOCOLS.get(name) or _unpublished(name)


def title_of(name: str) -> str:
    return protocol_named(name).title


def built_in(name: str) -> Protocol:
    """Return `verify`, with its roles mapped if the name maps them. KeyError if there is no such built-in protocol."""
    return protocol_named(name) if roles.split(name)[0] in PROTOCOLS else PROTOCOLS[name]


def base_name(name: str) -> str:
    """Return `prompt-fit` for `prompt-fit@2`, whatever its roles are mapped to."""
    return name.partition(roles.SIGN)[0].partition(VERSION_SIGN)[0]


def is_unpublished(name: str) -> bool:
    """Return whether this is a library file that a study must publish first."""
    return VERSION_SIGN not in name and base_name(name) not in PROTOCOLS


def name_and_version(name: str) -> tuple[str, int]:
    """Return `prompt-fit` and 2 for `prompt-fit@2`, whatever its roles are mapped to. KeyError if this cannot name a
    version.
    """
    found = _VERSION.fullmatch(roles.split(name)[0])
    if found is None:
        raise KeyError(name)
    return found[1], int(found[2])


def is_known(name: str) -> bool:
    try:
        protocol_named(name)
    except KeyError:
        return False
    return True


_MOST_KEPT = 512
_compiled: dict[str, Protocol] = {}  # a published version never changes


def _published(name: str) -> Protocol:
    if found := _compiled.get(name):
        return found
    return keep_published(name, _find_text(*name_and_version(name)))


def keep_published(name: str, text: str) -> Protocol:
    """Cache and return the protocol published under this name with this text."""
    return _compiled.get(name) or _keep(name, library.read_stored(text, base_name(name)))


def _unpublished(name: str) -> Protocol:
    return _compiled.get(name) or _keep(name, library.shipped(name))


def _mapped(name: str) -> Protocol:
    """Return the protocol with mapped roles. KeyError if the roles cannot be mapped like this."""
    if found := _compiled.get(name):
        return found
    base, mapping = roles.split(name)
    asked = protocol_named(base)
    if asked.made_from is None:  # protocols in code don't declare roles
        raise KeyError(name)
    try:
        return _keep(name, roles.with_roles(asked.made_from, mapping), decides=asked.file is not None)
    except roles.CannotMap:
        raise KeyError(name) from None


def _keep(name: str, file: ProtocolFile, decides: bool = True) -> Protocol:
    while len(_compiled) >= _MOST_KEPT:
        _compiled.pop(next(iter(_compiled)), None)
    return _compiled.setdefault(name, compile.as_protocol(file, name, decides))


def forget_published() -> None:
    """Forget published protocols, for tests that publish the same name again."""
    _compiled.clear()
