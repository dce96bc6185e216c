"""An independent reader of the demo's captions: parses the English and looks at where things are.

It knows nothing of how scenes are made, only their things, the kinds, colours and boxes of these, and the hidden part.
"""

import re
from itertools import product

NUMBERS = {"a": 1, "an": 1, "two": 2, "three": 3}
SINGULAR = {"boxes": "box", "fish": "fish"}  # others: without the s
PHRASE = r"(a|an|two|three) (?:(big|small) )?(?:(red|orange|yellow|green|blue|purple|pink) )?(\w+)"
CAPTION = re.compile(
    rf"{PHRASE} (?:is|are) (to the left of|to the right of|above|below|on|under|in) {PHRASE}"
    rf"(?:, with {PHRASE} (?:in|on) the \w+)?\."
)


def holds(caption: str, scene) -> bool:
    """Whether everything that the caption says can be seen in the scene."""
    groups = CAPTION.fullmatch(caption[0].lower() + caption[1:]).groups()
    subject, relation, thing, extra = groups[:4], groups[4], groups[5:9], groups[9:]
    seen = [thing for thing in scene.things if visible(thing, scene.hidden)]
    pairs = product(groups_named(subject, seen), groups_named(thing, seen))
    related = any(
        all(is_related(relation, one, other) for one, other in product(ones, others))
        for ones, others in pairs
        if not set(ones) & set(others) and sizes_hold(subject[1], ones, others)
    )
    return related and (not extra[0] or bool(groups_named(extra, seen)))


def groups_named(phrase, seen) -> list[tuple]:
    """The groups of things that a phrase can name: any one thing, or all of them if the phrase has a number."""
    number, _, colour, noun = phrase
    kind = noun if NUMBERS[number] == 1 else SINGULAR.get(noun, noun[:-1])
    found = [thing for thing in seen if thing.kind == kind and colour in (None, thing.colour)]
    if NUMBERS[number] == 1:
        return [(thing,) for thing in found]
    return [tuple(found)] if len(found) == NUMBERS[number] else []


def visible(thing, hidden) -> bool:
    if hidden is None:
        return True
    left, top, right, bottom = hidden
    width = max(0, min(thing.right, right) - max(thing.left, left))
    height = max(0, min(thing.bottom, bottom) - max(thing.top, top))
    return width * height < 0.2 * thing.width * thing.height


def sizes_hold(size, ones, others) -> bool:
    """Sizes are used of two things of which one is clearly larger than the other."""
    if size is None:
        return True
    factor = ones[0].width / others[0].width
    return factor > 1.4 if size == "big" else factor < 1 / 1.4


def is_related(relation: str, one, other) -> bool:
    if relation in ("to the right of", "below"):
        one, other = other, one
    if relation.startswith("to the"):
        level = abs((one.top + one.bottom) - (other.top + other.bottom)) / 2
        return one.right < other.left and level < 0.2
    middle = (one.left + one.right) / 2
    if relation in ("above", "below"):
        return one.bottom < other.top and abs(middle - (other.left + other.right) / 2) < 0.3
    if not other.left < middle < other.right:
        return False
    deep = (one.bottom - other.top) / other.height  # 0: its foot is at the other's top edge, 1: at its bottom edge
    if relation == "under":
        return one.left > other.left and one.right < other.right and one.top > other.top + 0.15 * other.height
    return one.top < other.top and (0 < deep < 0.2 if relation == "on" else 0.4 < deep < 1)
