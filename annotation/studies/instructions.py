"""Instructions: the default ones of a protocol, in every language, and how they are read.

Blank lines separate paragraphs, lines that start with "- " form a list.
"""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext, override

from annotation.models import Instructions
from annotation.protocols.base import Protocol


def default_instructions(protocol: Protocol, language: str) -> str:
    with override(language):
        return "\n".join(gettext(part) for part in protocol.instructions)


def default_translations(protocol: Protocol, apart_from: str) -> dict[str, str]:
    """Language → the default instructions in it, of every language but one."""
    others = [language for language, _ in settings.LANGUAGES if language != apart_from]
    return {language: default_instructions(protocol, language) for language in others}


def text_in(instructions: Instructions, language: str, own: str) -> tuple[str, str]:
    """The text for somebody who reads `language`, and the language that it is in: theirs, else the study's `own`."""
    there = instructions.translations.get(language, "")
    return (there, language) if there and language != own else (instructions.text, own)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph (`text`) or a list (`points`)."""

    text: str = ""
    points: tuple[str, ...] = ()


def blocks(text: str) -> list[Block]:
    """`"Read.\\n\\n- one\\n- two"` → a paragraph and a list of two points. A point may span several lines."""
    found = []
    for part in text.strip().replace("\r\n", "\n").split("\n\n"):
        before, *points = f"\n{part.strip()}".split("\n- ")
        if before.strip():
            found.append(Block(text=_line(before)))
        if points:
            found.append(Block(points=tuple(_line(point) for point in points)))
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
