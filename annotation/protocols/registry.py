"""The protocols that a stage can ask: built-in ones by name, and published protocol files as `NAME@VERSION`.

A built-in one is a file of the library whose stages' own settings decide, or a module here with a form that no file can
say.
"""

import re
from collections.abc import Callable

from annotation.protocols import compile, library, visla_paraphrase, visla_triplet
from annotation.protocols.base import Protocol


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
    """`verify`, or `prompt-fit@2`. KeyError where there is no such protocol."""
    return _published(name) if VERSION_SIGN in name else PROTOCOLS[name]


def base_name(name: str) -> str:
    """`prompt-fit` of `prompt-fit@2`."""
    return name.partition(VERSION_SIGN)[0]


def name_and_version(name: str) -> tuple[str, int]:
    """`prompt-fit` and 2 of `prompt-fit@2`. KeyError if this cannot be the name of a version."""
    found = _VERSION.fullmatch(name)
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
    if name not in _compiled:
        while len(_compiled) >= _MOST_KEPT:
            _compiled.pop(next(iter(_compiled)), None)
        _compiled[name] = compile.as_protocol(library.read_stored(text, base_name(name)), name)
    return _compiled[name]


def forget_published() -> None:
    """For tests, in which the same name is published anew."""
    _compiled.clear()
