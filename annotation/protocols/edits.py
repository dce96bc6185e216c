"""Code shared by screens for rewriting sentences: how texts are read, and the guidelines they must follow. Pure.

The guidelines are those of VISLA App. A.1, in our own words; each protocol adapts them to what it shows.
"""

import unicodedata
from collections.abc import Mapping, Sequence

from annotation.protocols.base import Guideline, InvalidAnswer, SubmittedFields
from annotation.wording import clean_reason, gettext_noop

_LONGEST = 1000  # characters in a written sentence
_HOLDS, BROKEN = "holds", "broken"

FLUENT, NEUTRAL = "fluent", "neutral"
NEUTRAL_STATEMENT = gettext_noop("People are called person, individual and so on, never he or she.")


def one_line(typed: str) -> str:
    """Return the text as it is stored: without control characters and lone surrogates, which PostgreSQL's JSON cannot
    hold, and with single spaces.
    """
    kept = (one for one in typed if one.isspace() or unicodedata.category(one) not in {"Cc", "Cs"})
    return " ".join("".join(kept).split())


def checked_sentence(typed: str, called: str = gettext_noop("The sentence")) -> str:
    """Return the sentence as it is stored. Raises InvalidAnswer if it is empty or too long."""
    words = one_line(typed)
    if not words:
        raise InvalidAnswer(gettext_noop("%(sentence)s is empty."), sentence=called)
    if len(words) > _LONGEST:
        raise InvalidAnswer(gettext_noop("%(sentence)s is longer than 1,000 characters."), sentence=called)
    return words


def clean_comment(typed: str) -> str:
    """Return a free-text reason as it is stored."""
    return clean_reason(one_line(typed)).rstrip()


def option_at_place(place: str, shown: Sequence[str]) -> str:
    """Return the identity of the option at a place, counted from 1. Raises InvalidAnswer."""
    if not (place.isascii() and place.isdecimal() and len(place) < 4 and 1 <= int(place) <= len(shown)):
        raise InvalidAnswer(gettext_noop("That is not one of the sentences on this screen."))
    return shown[int(place) - 1]


def place_of_option(identity: str, shown: Sequence[str]) -> str:
    """Invert `option_at_place`."""
    return str(list(shown).index(identity) + 1)


def guideline_answers(sent: SubmittedFields, guidelines: Sequence[Guideline]) -> dict[str, bool]:
    """Return whether each marked guideline holds, by code."""
    said = {one.code: sent.get(one.code) for one in guidelines}
    return {code: word == _HOLDS for code, word in said.items() if word in (_HOLDS, BROKEN)}


def guideline_fields(lines: Mapping[str, bool]) -> dict[str, str]:
    """Invert `guideline_answers`."""
    return {code: _HOLDS if holds else BROKEN for code, holds in lines.items()}


def broken_guidelines(lines: Mapping[str, bool], guidelines: Sequence[Guideline]) -> list[str]:
    """Return the guidelines that do not hold: as faults if annotators tick faults, else as statements."""
    return [one.fault or one.words for one in guidelines if lines.get(one.code) is False]


def simulated_edit(text: str) -> str:
    """Return a simulated annotator's edit of a sentence, no longer than allowed."""
    return f"As one can see, {one_line(text)}"[:_LONGEST].rstrip()
