"""A protocol's default instructions in every language, and the differences between two versions."""

import re

from django.conf import settings
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info, gettext, override

from annotation.models import Instructions
from annotation.protocols.base import Protocol
from benchmarks.differences import differences, marked

# By code, in English: managers may read no other, and lack its letters.
LANGUAGES = {code: str(get_language_info(code)["name"]) for code, _ in settings.LANGUAGES}
CONTINUED = re.compile(r"(?<=[^\n])\n(?! *(?:- |\n|\Z)) *")  # a line that continues in the next one


def default_instructions(protocol: Protocol, language: str) -> str:
    """Return the protocol's instructions in a language, with each paragraph and point on one line."""
    with override(language):
        return CONTINUED.sub(" ", "\n".join(gettext(part) for part in protocol.instructions))


def default_translations(protocol: Protocol, apart_from: str) -> dict[str, str]:
    """Return the default instructions by language, for every language but one."""
    return {code: default_instructions(protocol, code) for code in LANGUAGES if code != apart_from}


def text_in(instructions: Instructions, language: str, own: str) -> tuple[str, str]:
    """Return the text for somebody who reads `language`, and its language: theirs, else the study's `own`."""
    there = instructions.translations.get(language, "")
    return (there, language) if there and language != own else (instructions.text, own)


def texts(instructions: Instructions, own: str) -> dict[str, str]:
    """Return the texts by language, the study's `own` first."""
    return {own: instructions.text, **{code: text for code, text in instructions.translations.items() if code != own}}


# Versions


def changed_languages(before: Instructions, after: Instructions, own: str) -> list[tuple[str, SafeString]]:
    """Return each language whose text differs between two versions, with the marked differences."""
    was, now = texts(before, own), texts(after, own)
    pairs = [(code, was.get(code, ""), now.get(code, "")) for code in LANGUAGES]
    return [(code, marked(differences(one, other))) for code, one, other in pairs if one != other]
