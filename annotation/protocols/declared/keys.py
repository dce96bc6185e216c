"""The keys of a declared protocol's answers: every one is shown, none does two things, and none looks like another
answer: what is called by a digit has that key or none, and everything else that is not numbered has letters.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.protocols.declared import schema, values
from annotation.protocols.declared.schema import ProtocolFile

# Of the judging page, on every screen (static/js/judging/keys.js).
RESERVED = frozenset("ufhzs?c")
_LETTERS = "abdegijklmnopqrtvwxy"
_PLACES = "123456789"  # of options


class KeysTaken(ValueError):
    """An answer has no key left, or asks for one that does something else. `place` is that of the answer."""

    def __init__(self, place: int, message: str):
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class ChoiceKeys:
    """A point of a scale, a fixed answer, or a mark of words."""

    value: str
    label: str
    keys: tuple[str, ...]


def given_keys(protocol: ProtocolFile) -> dict[str, list[ChoiceKeys]]:
    """Answer → its points and then its fixed answers with their keys. Options have the keys 1 to 9 in the order shown.
    Raises KeysTaken.

    With several answers on a screen, keys are those of the answer that is marked; so they must differ within each.
    """
    return {one.name: _keys_of(one, place) for place, one in enumerate(protocol.answers)}


def keys_on_screen(options: Sequence[str], fixed: Iterable[Sequence[str]]) -> tuple[list[str], list[tuple[str, ...]]]:
    """The keys of options with these texts, and of the fixed answers that have those keys: the options' places, unless
    the text of one is a digit. Then that is its key if no other has this text, and the others have letters.
    """
    given = [tuple(keys) for keys in fixed]
    looks = [look if (look := _look(text)).isdecimal() else "" for text in options]
    if not any(looks):
        return [str(place) for place in range(1, len(options) + 1)], given
    taken = {*RESERVED, *looks}
    kept = [tuple(key for key in keys if key not in looks) for keys in given]
    taken |= {key for keys in kept for key in keys}
    own = [look if looks.count(look) == 1 else "" for look in looks]
    letters = (letter for letter in _LETTERS if letter not in taken)
    return [key or next(letters) for key in own], [keys or (next(letters),) for keys in kept]


def _look(label: str) -> str:
    """The key that a label looks like, if any: that of its only character."""
    label = label.strip()
    if len(label) != 1:
        return ""
    digit = unicodedata.digit(label, None)
    return label.casefold() if digit is None else str(digit)


def _keys_of(answer: schema.Answer, place: int) -> list[ChoiceKeys]:
    fixed = dict(answer.marks) if isinstance(answer, schema.Words) else values.fixed_of(answer)
    points, anchors = (values.points(answer), answer.anchors) if isinstance(answer, schema.Scale) else ([], {})
    labels = {point: point for point in points} | {value: one.label for value, one in fixed.items()}
    looks: dict[str, str] = {}
    for value, label in labels.items():
        if (look := _look(label)) and (other := looks.setdefault(look, value)) != value:
            raise KeysTaken(place, f"{value} is called {label}, as {other} is. Label it in words.")
    numbered = isinstance(answer, schema.Pick | schema.Rank | schema.Pair) and answer.of
    taken = {*RESERVED, *(_PLACES if numbered else "")}
    for look, value in looks.items():
        if look.isdecimal() and look in taken:
            raise KeysTaken(place, f"{value} looks like the key {look}, which does something else. Label it in words.")
    found: dict[str, tuple[str, ...]] = {}
    for value, one in fixed.items():
        own = _look(one.label)
        for key in one.keys:
            if key in taken:
                raise KeysTaken(place, f"The key {key} of {value} does something else on this screen. Choose another.")
            if (other := looks.get(key, value)) != value:
                raise KeysTaken(place, f"The key {key} of {value} looks like the answer {other}. Choose another.")
            if own.isdecimal() and key.isdecimal() and key != own:
                raise KeysTaken(place, f"{value} is called {own}, so {key} cannot be its key. Leave keys out.")
            taken.add(key)
        if one.keys:
            found[value] = tuple(one.keys)
    found |= {value: (look,) for look, value in looks.items() if value not in found and look not in taken}
    taken |= looks.keys()
    for value, label in [*((value, one.label) for value, one in fixed.items()), *((point, "") for point in points)]:
        if value not in found:
            if not (key := _free(label, taken)):
                raise KeysTaken(place, f"No key is left for {value}. Give it one with keys.")
            found[value] = (key,)
            taken.add(key)
    return [ChoiceKeys(value, anchors.get(value) or label, found[value]) for value, label in labels.items()]


def _free(label: str, taken: set[str]) -> str:
    """The first letter of the label that is free, else the first free letter of all."""
    return next((one for one in (*label.casefold(), *_LETTERS) if one in _LETTERS and one not in taken), "")
