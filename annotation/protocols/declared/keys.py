"""The keys of a declared protocol's answers: every one is shown, and none does two things."""

from dataclasses import dataclass

from annotation.protocols.declared import schema, values
from annotation.protocols.declared.schema import ProtocolFile

# Of the judging page, on every screen (static/js/judging/keys.js).
RESERVED = frozenset("ufhzs?c")


class KeysTaken(ValueError):
    """An answer has no key left, or asks for one that does something else. `place` is that of the answer."""

    def __init__(self, place: int, message: str):
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class FixedKeys:
    value: str
    label: str
    keys: tuple[str, ...]


def given_keys(protocol: ProtocolFile) -> dict[str, list[FixedKeys]]:
    """Answer → its fixed answers with their keys. Options have the keys 1 to 9 in the order shown. Raises KeysTaken.

    With several answers on a screen, keys are those of the answer that is marked; so they must differ within each.
    """
    return {one.name: _keys_of(one, place) for place, one in enumerate(protocol.answers)}


def point_keys(scale: schema.Scale) -> list[str]:
    """The key of each point, from low to high: its own digit if all have one, else those of their places."""
    points = values.points(scale)
    return points if all(len(one) == 1 for one in points) else [str(place % 10) for place in range(1, len(points) + 1)]


def _keys_of(answer: schema.Answer, place: int) -> list[FixedKeys]:
    fixed = values.fixed_of(answer)
    if isinstance(answer, schema.Words):
        fixed = dict(answer.marks)
    taken = set(RESERVED)
    if isinstance(answer, schema.Pick | schema.Rank | schema.Pair | schema.Words) and getattr(answer, "of", None):
        taken |= set("123456789")
    if isinstance(answer, schema.Scale):
        taken |= set("0123456789")
    for value, one in fixed.items():
        for key in one.keys:
            if key in taken:
                raise KeysTaken(place, f"The key {key} of {value} does something else on this screen. Choose another.")
            taken.add(key)
    found = []
    for value, one in fixed.items():
        keys = tuple(one.keys) or _free(one.label, taken)
        if not keys:
            raise KeysTaken(place, f"No key is left for {value}. Give it one with keys.")
        taken.update(keys)
        found.append(FixedKeys(value, one.label, keys))
    return found


def _free(label: str, taken: set[str]) -> tuple[str, ...]:
    """The first letter of the label that is free, else the first free key of all."""
    ours = [one for one in label.casefold() if one.isascii() and one.isalnum()]
    return next(((one,) for one in [*ours, *"0abdegijklmnopqrtvwxy"] if one not in taken), ())
