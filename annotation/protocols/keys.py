"""The keys for a protocol file's answers. Each is shown, does only one thing, and does not look like another answer: an
answer whose label is a key has that key or none.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from annotation.protocols import schema, values
from annotation.protocols.base import Choice
from annotation.protocols.numbers import is_typed
from annotation.protocols.schema import ProtocolFile

# Keys of the judging page on every screen (static/js/judging/keys.js). In adjudication, C is Cannot judge unless an
# answer looks like it.
RESERVED = frozenset("ufhzs?؟/")
MARK = "m"  # goes to the picture that is marked
_LETTERS = "abdegijklmnopqrtvwxy"
_PLACES = "123456789"  # keys of options
_DIGITS = frozenset("0123456789")
_TYPING = _DIGITS | {"e"}  # characters in typed numbers

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Me"})  # the last includes keycaps and circles
_VARIANTS = re.compile("[\u034f\u115f\u1160\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_NUMBER = re.compile(r"[-+\u2010-\u2015\u2212]?[.,٫]?\d+(?:[.,٫\u2044/]\d+)*")
_LATIN = re.compile(r"(?:LATIN|INDICATOR) .*\bLETTER (?:SMALL CAPITAL )?([A-Z])$")
# Letters that look like one of A to Z, in lower or upper case.
_TWINS = dict(zip("авекмнорстухіјѕαβεζηικμνορτυχı", "abekmhopctyxijsabezhikmnoptyxi", strict=True)) | {"i̇": "i"}
_LONGEST = 3  # characters that a single key can type, such as لا


class KeysTaken(ValueError):
    """Raised if no key is left for the answer at `place`, or if the key it asks for does something else."""

    def __init__(self, place: int, message: str):
        super().__init__(message)
        self.place = place


def looks_like(label: str) -> tuple[str, ...]:
    """Return the keys that a label looks like, A to Z and 0 to 9 first.

    They are written as keys.js writes what a key types (NFKC, in lower case).
    """
    bare = _bare(label)
    typed = unicodedata.normalize("NFKC", bare).lower().replace("ς", "σ")
    if not bare:
        return ()
    if len(bare) > 1 and len(typed) > 1 and typed not in _TWINS:
        foreign = len(typed) <= _LONGEST and not any(one.isascii() or one.isspace() for one in typed)
        return (typed,) if foreign else ()
    number, named = _number(bare), _LATIN.search(unicodedata.name(typed, "") if len(typed) == 1 else "")
    found = [number if number in _DIGITS else "", _TWINS.get(typed, ""), named[1].lower() if named else "", typed]
    return tuple(dict.fromkeys(one for one in found if one and not (one.isdecimal() and not one.isascii())))


def given_keys(protocol: ProtocolFile) -> dict[str, list[Choice]]:
    """Return, by answer, its points and then fixed answers, its word marks, or its mark labels, with their keys; every
    layout has the first key. Options have the keys 1 to 9 in the order shown. Raises KeysTaken.

    With several answers on a screen, keys apply to the marked answer, so they must differ within each.
    """
    return {one.name: _keys_of(one, place) for place, one in enumerate(protocol.answers)}


def keys_on_screen(
    options: Sequence[str], fixed: Iterable[Sequence[str]]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return the keys of options with these texts, and of the fixed answers with those keys, each key once.

    An option has the key that its text looks like, if it is the only one. All others have the key of their place, up
    to 9, or letters if an option looks like a digit, while any are free.
    """
    looks = [looks_like(text) for text in options]
    counts = Counter(key for own in looks for key in own)
    taken, kept = set(counts), []
    for keys in fixed:
        kept.append(tuple(key for key in keys if key not in taken))
        taken.update(keys)
    letters = (letter for letter in _LETTERS if letter not in taken)
    placed = counts.keys().isdisjoint(_DIGITS)

    def with_first(keys: Sequence[str], place: int = 0) -> tuple[str, ...]:
        keys = sorted(keys, key=lambda key: not _is_plain(key) or counts[key] > 1)
        if keys and _is_plain(keys[0]) and counts[keys[0]] < 2:
            return tuple(keys)
        first = (_PLACES[place - 1 : place] if placed else next(letters, "")) if place else next(letters, "")
        return (first, *keys) if first else tuple(keys)

    own = [with_first(keys, place) for place, keys in enumerate(looks, 1)]
    return own, [with_first(keys) for keys in kept]


def _is_plain(key: str) -> bool:
    """Return whether every keyboard has the key."""
    return len(key) == 1 and key.isascii() and key.isalnum()


def _bare(label: str) -> str:
    """Return the label without invisible characters, and without punctuation around it unless that is all there is."""
    seen = "".join(one for one in label if unicodedata.category(one) not in _UNSEEN)
    seen = _VARIANTS.sub("", seen).strip()
    start, end = 0, len(seen)
    while end > start and unicodedata.category(seen[end - 1])[0] in "PZ":
        end -= 1
    while start < end and unicodedata.category(seen[start])[0] in "PZ" and not _NUMBER.match(seen, start):
        start += 1
    return seen[start:end] or seen


def _number(label: str) -> str:
    """Return the number with which a label begins, if any: 2 for "2 or more", -1, 0.5 for ½."""
    bare = _bare(label)
    if len(bare) == 1 and (number := unicodedata.numeric(bare, None)) is not None:
        return f"{number:g}"
    found = _NUMBER.match(unicodedata.normalize("NFKC", _bare(unicodedata.normalize("NFKC", bare))))
    return "".join(str(unicodedata.decimal(one, one)) for one in found[0]) if found else ""


def _keys_of(answer: schema.Answer, place: int) -> list[Choice]:
    fixed = dict(answer.marks) if isinstance(answer, schema.Words) else values.fixed_of(answer)
    on_picture = isinstance(answer, schema.Points | schema.Boxes)
    if isinstance(answer, schema.Points | schema.Boxes):
        fixed = dict(answer.labels)
    points, anchors, typed = [], {}, is_typed(answer)
    if isinstance(answer, schema.Scale) and not typed:
        points, anchors = values.points(answer), answer.anchors
    labels = {point: point for point in points} | {value: one.label for value, one in fixed.items()}
    looks: dict[str, str] = {}
    for value, label in [*labels.items(), *anchors.items()]:
        for look in looks_like(label):
            if (other := looks.setdefault(look, value)) != value:
                raise KeysTaken(place, f"{value} is called {label}, like {other}. Label it in words.")
    numbered = isinstance(answer, schema.Pick | schema.Rank | schema.Pair) and answer.of
    taken = {*RESERVED, *(_PLACES if numbered else ""), *(_TYPING if typed else ""), *(MARK if on_picture else "")}
    for look, value in looks.items():
        if look in RESERVED:
            own = "Winnow's own, as F, H, S, U, Z, ? and / are"
            raise KeysTaken(place, f"{value} looks like the key {look.upper()}, which is {own}. Label it in words.")
        if look in taken:
            raise KeysTaken(place, f"{value} looks like the key {look}, which does something else. Label it in words.")
    taken |= {"c"} - looks.keys()
    found = {value: list(fixed[value].keys) if value in fixed else [] for value in labels}
    for value, keys in found.items():
        number = _number(labels[value])
        for key in keys:
            if key in taken:
                raise KeysTaken(place, f"The key {key} of {value} does something else on this screen. Choose another.")
            if (other := looks.get(key, value)) != value:
                raise KeysTaken(place, f"The key {key} of {value} looks like the answer {other}. Choose another.")
            if number and key.isdecimal() and key != number:
                raise KeysTaken(place, f"{value} is called {number}, so {key} cannot be its key. Leave keys out.")
            taken.add(key)
    for look, value in looks.items():
        if look not in found[value]:
            found[value].append(look)
    taken |= looks.keys()
    for value in [*fixed, *points]:
        if not any(_is_plain(key) for key in found[value]):
            if not (key := _free(fixed[value].label if value in fixed else "", taken)):
                raise KeysTaken(place, f"No key is left for {value}. Give it one with keys.")
            found[value].insert(0, key)
            taken.add(key)
    return [Choice(value, anchors.get(value) or label, tuple(found[value])) for value, label in labels.items()]


def _free(label: str, taken: set[str]) -> str:
    """Return the label's first free letter, else the first free letter of all."""
    own = unicodedata.normalize("NFKD", label).casefold()
    return next((one for one in (*own, *_LETTERS) if one in _LETTERS and one not in taken), "")
