"""What screens share on which sentences are rewritten: how words are read, and the guidelines they must keep. Pure.

The guidelines are those of VISLA App. A.1, in our own words; each protocol says them of what it shows.
"""

import unicodedata
from collections.abc import Mapping, Sequence

from annotation.protocols.base import Guideline, NoAnswer, Sent
from annotation.wording import as_reason

LONGEST = 1000  # characters of a sentence that somebody wrote
HOLDS, BROKEN = "holds", "broken"

FLUENT, NEUTRAL = "fluent", "neutral"
NEUTRALLY = "People are called person, individual and the like, never he or she."


def one_line(typed: str) -> str:
    """As it is stored: without control characters and lone surrogates, which PostgreSQL's JSON cannot hold, and with
    single spaces.
    """
    kept = (one for one in typed if one.isspace() or unicodedata.category(one) not in {"Cc", "Cs"})
    return " ".join("".join(kept).split())


def written(typed: str, called: str = "The sentence") -> str:
    """Raises NoAnswer where it is empty or too long."""
    words = one_line(typed)
    if not words:
        raise NoAnswer(f"{called} is empty.")
    if len(words) > LONGEST:
        raise NoAnswer(f"{called} is longer than {LONGEST:,} characters.")
    return words


def in_words(typed: str) -> str:
    """A reason in free words, as it is stored."""
    return as_reason(one_line(typed)).rstrip()


def option_at(place: str, shown: Sequence[str]) -> str:
    """The identity of the option at a place, counted from 1. Raises NoAnswer."""
    if not (place.isascii() and place.isdecimal() and len(place) < 4 and 1 <= int(place) <= len(shown)):
        raise NoAnswer("That is not one of the sentences on this screen.")
    return shown[int(place) - 1]


def place_of(identity: str, shown: Sequence[str]) -> str:
    """The inverse of `option_at`."""
    return str(list(shown).index(identity) + 1)


def judged(sent: Sent, guidelines: Sequence[Guideline]) -> dict[str, bool]:
    """Code → whether it holds, of those that something was said of."""
    said = {one.code: sent.get(one.code) for one in guidelines}
    return {code: word == HOLDS for code, word in said.items() if word in (HOLDS, BROKEN)}


def as_fields(lines: Mapping[str, bool]) -> dict[str, str]:
    """The inverse of `judged`."""
    return {code: HOLDS if holds else BROKEN for code, holds in lines.items()}


def broken(lines: Mapping[str, bool], guidelines: Sequence[Guideline]) -> list[str]:
    """The words of the guidelines that do not hold."""
    return [one.words for one in guidelines if lines.get(one.code) is False]


def reworded(text: str) -> str:
    """What a simulated annotator makes of a sentence: another one, no longer than allowed."""
    return f"As one can see, {one_line(text)}"[:LONGEST].rstrip()
