"""Instructions: the default ones of a protocol, in every language, and the differences between two versions."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, override

from annotation.models import Instructions
from annotation.protocols.base import Protocol

LANGUAGES = dict(settings.LANGUAGES)
CONTINUED = re.compile(r"(?<=[^\n])\n(?! *(?:- |\n|\Z)) *")  # a line that goes on in the next one
WORDS = re.compile(r"\s*(?:[\u2e80-\u9fff]|(?:(?![\u2e80-\u9fff])[\w'’-])+|\S)|\s+")  # with the space before them
ALIKE = 0.5  # of the words; lines that have less in common are shown whole, since fragments of both cannot be read
SAME, REMOVED, ADDED = "same", "removed", "added"
Part = tuple[str, str]  # SAME, REMOVED or ADDED, and its text


def default_instructions(protocol: Protocol, language: str) -> str:
    """The protocol's instructions in a language, each paragraph and each point on one line."""
    with override(language):
        return CONTINUED.sub(" ", "\n".join(gettext(part) for part in protocol.instructions))


def default_translations(protocol: Protocol, apart_from: str) -> dict[str, str]:
    """Language → the default instructions in it, of every language but one."""
    return {code: default_instructions(protocol, code) for code in LANGUAGES if code != apart_from}


def text_in(instructions: Instructions, language: str, own: str) -> tuple[str, str]:
    """The text for somebody who reads `language`, and the language that it is in: theirs, else the study's `own`."""
    there = instructions.translations.get(language, "")
    return (there, language) if there and language != own else (instructions.text, own)


def texts(instructions: Instructions, own: str) -> dict[str, str]:
    """Language → text, the study's `own` first."""
    return {own: instructions.text, **{code: text for code, text in instructions.translations.items() if code != own}}


# Versions


def changed_languages(before: Instructions, after: Instructions, own: str) -> list[tuple[str, SafeString]]:
    """Each language whose text differs between two versions, with the marked differences."""
    was, now = texts(before, own), texts(after, own)
    pairs = [(code, was.get(code, ""), now.get(code, "")) for code in LANGUAGES]
    return [(code, marked(differences(one, other))) for code, one, other in pairs if one != other]


def differences(before: str, after: str) -> list[Part]:
    """What stayed, was removed and was added, in reading order: by lines first, then by words where lines differ."""
    return list(_compared(before.splitlines(keepends=True), after.splitlines(keepends=True), _words))


def _words(before: Sequence[str], after: Sequence[str]) -> Iterator[Part]:
    was, now = WORDS.findall("".join(before)), WORDS.findall("".join(after))
    if SequenceMatcher(None, was, now).ratio() < ALIKE:
        return _replaced(before, after)
    return _compared(was, now, _replaced)


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[Part]:
    yield REMOVED, "".join(before)
    yield ADDED, "".join(after)


def _compared(before: Sequence[str], after: Sequence[str], within: Callable) -> Iterator[Part]:
    for kind, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "replace":
            yield from within(before[i:j], after[k:m])
        elif kind == "equal":
            yield SAME, "".join(after[k:m])
        else:
            yield (REMOVED, "".join(before[i:j])) if kind == "delete" else (ADDED, "".join(after[k:m]))


def marked(parts: Sequence[Part]) -> SafeString:
    """The parts as HTML: `ins` and `del`, which screen readers announce in words."""
    tags: Mapping[str, str] = {
        SAME: "{}",
        REMOVED: '<del><span class="visually-hidden">removed: </span>{}</del>',
        ADDED: '<ins><span class="visually-hidden">added: </span>{}</ins>',
    }
    return format_html_join("", "{}", ((format_html(tags[kind], text),) for kind, text in parts if text))
