"""The protocols that a stage can ask: built-in ones by name, and published protocol files as `NAME@VERSION`.

A built-in one is a file of the library whose stages' own settings decide, or a module here with a form that no file can
say. The library's other files have their own names too until a study publishes them. Roles that a benchmark calls
otherwise follow the name (`roles`).
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
_VERSION = re.compile(rf"(.+){VERSION_SIGN}([1-9][0-9]{{0,8}})")  # not 01, which would be another name of 1

FindText = Callable[[str, int], str]  # name and version of a published file → its text; raises KeyError


def _nothing_published(name: str, version: int) -> str:
    raise KeyError(f"{name}{VERSION_SIGN}{version}")


_find_text: FindText = _nothing_published


def find_published_with(find: FindText) -> None:
    """Where the texts of published files are found; the app says so at its start."""
    global _find_text
    _find_text = find


def protocol_named(name: str) -> Protocol:
    """`verify`, `prompt-fit@2`, or `prompt-fit@2:images.picture=scene`. KeyError where there is no such protocol."""
    if roles.SIGN in name:
        return _mapped(name)
    if VERSION_SIGN in name:
        return _published(name)
    return PROTOCOLS.get(name) or _unpublished(name)


def title_of(name: str) -> str:
    return protocol_named(name).title


def built_in(name: str) -> Protocol:
    """`verify`, with its roles mapped if the name says so. KeyError where there is no such protocol here."""
    return protocol_named(name) if roles.split(name)[0] in PROTOCOLS else PROTOCOLS[name]


def base_name(name: str) -> str:
    """`prompt-fit` of `prompt-fit@2`, whatever its roles are mapped to."""
    return name.partition(roles.SIGN)[0].partition(VERSION_SIGN)[0]


def is_unpublished(name: str) -> bool:
    """Whether this is a file of the library that a study must publish first."""
    return VERSION_SIGN not in name and base_name(name) not in PROTOCOLS


def name_and_version(name: str) -> tuple[str, int]:
    """`prompt-fit` and 2 of `prompt-fit@2`, whatever its roles are mapped to. KeyError if this cannot be the name of a
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
    """The protocol that is published under this name with this text, which is then not looked for again."""
    return _compiled.get(name) or _keep(name, library.read_stored(text, base_name(name)))


def _unpublished(name: str) -> Protocol:
    return _compiled.get(name) or _keep(name, library.shipped(name))


def _mapped(name: str) -> Protocol:
    """KeyError where the roles cannot be mapped like this."""
    if found := _compiled.get(name):
        return found
    base, mapping = roles.split(name)
    asked = protocol_named(base)
    if asked.made_from is None:  # no file says what its roles are
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
    """For tests, in which the same name is published anew."""
    _compiled.clear()
