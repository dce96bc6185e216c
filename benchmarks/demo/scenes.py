"""Scenes of a few things: what a sentence claims of one, how the claim reads in English, how a scene is laid out.

Pure. Lengths are fractions of the picture's side, y grows downwards. A scene is laid out so that what its claim says is
plain to see: things that stand to the left are wholly to the left, nothing covers anything that it should not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random


@dataclass(frozen=True, slots=True)
class Kind:
    plural: str
    width: float
    height: float


KINDS = {
    "ball": Kind("balls", 0.19, 0.19),
    "balloon": Kind("balloons", 0.16, 0.27),
    "basket": Kind("baskets", 0.32, 0.22),
    "bird": Kind("birds", 0.21, 0.15),
    "boat": Kind("boats", 0.33, 0.31),
    "box": Kind("boxes", 0.22, 0.20),
    "car": Kind("cars", 0.36, 0.19),
    "clock": Kind("clocks", 0.19, 0.19),
    "cup": Kind("cups", 0.21, 0.16),
    "fish": Kind("fish", 0.23, 0.14),
    "house": Kind("houses", 0.33, 0.36),
    "kite": Kind("kites", 0.19, 0.26),
    "lamp": Kind("lamps", 0.21, 0.31),
    "star": Kind("stars", 0.18, 0.18),
    "table": Kind("tables", 0.50, 0.29),
    "tent": Kind("tents", 0.35, 0.27),
    "tree": Kind("trees", 0.28, 0.38),
    "umbrella": Kind("umbrellas", 0.31, 0.31),
    "vase": Kind("vases", 0.17, 0.27),
}
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
CLOSE = ({"red", "orange"}, {"red", "pink"}, {"orange", "yellow"}, {"blue", "purple"}, {"purple", "pink"})
COUNTS = {1: "a", 2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class Layer:
    """Where some kinds belong. They stand on `levels[0]`, or float with their middle at one of two `levels`."""

    words: str
    kinds: tuple[str, ...]
    levels: tuple[float, ...]

    @property
    def floats(self) -> bool:
        return len(self.levels) == 2


@dataclass(frozen=True, slots=True)
class Setting:
    """`layers` from top to bottom; `scale` makes everything in it larger."""

    layers: tuple[Layer, ...]
    scale: float = 1.0

    def layer(self, kind: str) -> int:
        return next(number for number, layer in enumerate(self.layers) if kind in layer.kinds)


SETTINGS = {
    "meadow": Setting(
        (
            Layer("in the sky", ("kite", "balloon", "bird"), (0.18, 0.48)),
            Layer("on the grass", ("house", "tree", "ball", "box", "umbrella", "tent", "car", "basket"), (0.86,)),
        ),
        1.12,
    ),
    "snow": Setting(
        (
            Layer("in the sky", ("star", "balloon", "bird"), (0.18, 0.48)),
            Layer("on the snow", ("house", "tree", "ball", "box", "tent", "car"), (0.86,)),
        ),
        1.12,
    ),
    "sea": Setting(
        (
            Layer("in the sky", ("kite", "balloon", "bird"), (0.15, 0.42)),
            Layer("on the water", ("boat",), (0.62,)),
            Layer("in the water", ("fish",), (0.72, 0.89)),
        ),
        1.06,
    ),
    "room": Setting(
        (
            Layer("on the wall", ("clock", "star"), (0.15, 0.42)),
            Layer("on the floor", ("table", "basket", "box", "ball", "lamp", "vase", "cup", "umbrella"), (0.90,)),
        ),
        1.12,
    ),
    "kitchen": Setting(
        (
            Layer("on the wall", ("clock", "star"), (0.17, 0.44)),
            Layer("on the table", ("cup", "vase", "ball", "box", "lamp"), (0.87,)),
        ),
        1.5,
    ),
}
HOSTS = {"table": ("on", "under"), "basket": ("in",), "box": ("on",)}
GUESTS = {"table": ("cup", "ball", "vase", "box"), "basket": ("ball", "vase"), "box": ("ball", "cup")}
SMALLEST = 0.035  # of the picture's side: what is smaller cannot be made out
SURFACE = {"table": 0.10, "box": 0.14}  # how far below its top edge a host carries what is on it, in its heights

RELATIONS = {
    "left": "to the left of",
    "right": "to the right of",
    "above": "above",
    "below": "below",
    "on": "on",
    "under": "under",
    "in": "in",
}
REVERSE = {"left": "right", "right": "left", "above": "below", "below": "above"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """`two red balls`; without a colour it says nothing of it."""

    kind: str
    colour: str = ""
    count: int = 1
    size: str = ""  # "", "big" or "small"

    def __str__(self) -> str:
        noun = KINDS[self.kind].plural if self.count > 1 else self.kind
        words = [word for word in (self.size, self.colour, noun) if word]
        if self.count == 1:
            return " ".join(["an" if words[0][0] in "aeiou" else "a", *words])
        return " ".join([COUNTS[self.count], *words])


@dataclass(frozen=True, slots=True)
class Claim:
    """`parts[0]` stands in `relation` to `parts[1]`; a third part is only there. No relation: all are only there."""

    setting: str
    parts: tuple[Phrase, ...]
    relation: str = ""

    def with_part(self, number: int, **changes) -> "Claim":
        parts = list(self.parts)
        parts[number] = replace(parts[number], **changes)
        return replace(self, parts=tuple(parts))

    def layer(self, number: int) -> int:
        return SETTINGS[self.setting].layer(self.parts[number].kind)

    def __str__(self) -> str:
        """The caption. Only claims with a relation are ever said."""
        subject, thing, *more = self.parts
        verb = "are" if subject.count > 1 else "is"
        sentence = f"{subject} {verb} {RELATIONS[self.relation]} {thing}"
        if more:
            sentence += f", with {more[0]} {SETTINGS[self.setting].layers[self.layer(2)].words}"
        return sentence[0].upper() + sentence[1:] + "."


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing in its box. `part` is the phrase it was laid out for, None for what nobody speaks of."""

    kind: str
    colour: str
    left: float
    top: float
    width: float
    height: float
    flipped: bool = False
    part: int | None = None

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Scene:
    """`things` from back to front; `seed` decides hills, clouds and the like."""

    setting: str
    things: tuple[Thing, ...]
    seed: int
    hidden: tuple[float, float, float, float] | None = None  # the box that a broken picture does not show
    damage: str = ""  # "", "smear" or "cut"


class NoRoom(Exception):
    """This layout has no place for one more thing; another draw may have."""


def lay_out(claim: Claim, rng: Random, bystander: Phrase | None = None) -> Scene:
    """A scene in which the claim holds, beside perhaps a `bystander` that it does not speak of; NoRoom."""
    things: list[Thing] = []
    if claim.relation:
        things += _related(claim, rng)
    for number, phrase in list(enumerate(claim.parts))[2 if claim.relation else 0 :]:
        things += _alone(claim.setting, phrase, number, things, rng)
    if bystander:
        things += _alone(claim.setting, bystander, None, things, rng)
    return Scene(claim.setting, tuple(things), rng.getrandbits(32))


def _related(claim: Claim, rng: Random) -> list[Thing]:
    if claim.relation in ("above", "below"):
        return _stacked(claim, rng)
    if claim.relation in ("on", "under", "in"):
        return _hosted(claim, rng)
    return _side_by_side(claim, rng)


def _side_by_side(claim: Claim, rng: Random) -> list[Thing]:
    first = 1 if claim.relation == "right" else 0
    level = _level(claim, 0, rng)
    shift = rng.uniform(-0.02, 0.02)
    row = []
    for middle, number in zip((0.27, 0.73), (first, 1 - first), strict=True):
        row += _row(claim, number, middle + shift, level + rng.uniform(-0.012, 0.012), 0.42, rng)
    return row


def _stacked(claim: Claim, rng: Random) -> list[Thing]:
    upper, lower = (0, 1) if claim.relation == "above" else (1, 0)
    same = claim.layer(0) == claim.layer(1)
    middle = 0.5 + rng.uniform(-0.16, 0.16)
    things: list[Thing] = []
    for number, place in ((lower, 1 if same else 0), (upper, 0)):
        levels = SETTINGS[claim.setting].layers[claim.layer(number)].levels
        level = levels[place] + rng.uniform(-0.01, 0.01)
        most = levels[-1] - levels[0] - 0.04 if same else 2 * (things[0].top - level - 0.02) if things else 1.0
        things += _row(claim, number, middle + rng.uniform(-0.02, 0.02), level, 0.62, rng, most)
    return things


def _hosted(claim: Claim, rng: Random) -> list[Thing]:
    """A host on its level and its guests on, under or in it."""
    host = _row(claim, 1, 0.5 + rng.uniform(-0.18, 0.18), _level(claim, 1, rng), 0.55, rng)[0]
    room = 0.62 * host.width if host.kind != "box" else 0.9 * host.width
    middle = (host.left + host.right) / 2 + rng.uniform(-0.02, 0.02)
    if claim.relation == "on":
        guests = _row(claim, 0, middle, host.top + SURFACE[host.kind] * host.height, room, rng)
    elif claim.relation == "under":
        guests = _row(claim, 0, middle, host.bottom - 0.01, room, rng, most=0.68 * host.height)
    else:
        guests = _row(claim, 0, middle, host.top + 0.62 * host.height, room, rng)
    return [host, *guests]


def _level(claim: Claim, number: int, rng: Random) -> float:
    layer = SETTINGS[claim.setting].layers[claim.layer(number)]
    return rng.uniform(layer.levels[0], sum(layer.levels) / 2) if layer.floats else layer.levels[0]


def _row(claim, number, middle, level, room, rng, most=1.0) -> list[Thing]:
    """The part's things side by side around `middle`, no wider together than `room`, none higher than `most`."""
    phrase = claim.parts[number]
    kind = KINDS[phrase.kind]
    scale = SETTINGS[claim.setting].scale * {"big": 1.25, "small": 0.6, "": 1.0}[phrase.size] * rng.uniform(0.93, 1.05)
    scale = min(scale, room / (phrase.count * kind.width * 1.12), most / kind.height)
    floats = SETTINGS[claim.setting].layers[claim.layer(number)].floats
    width, height = kind.width * scale, kind.height * scale
    if min(width, height) < SMALLEST:
        raise NoRoom
    step = width * 1.14
    start = middle - step * (phrase.count - 1) / 2 - width / 2
    start = min(max(start, 0.03), 0.97 - step * (phrase.count - 1) - width)
    flipped = rng.random() < 0.5
    return [
        Thing(phrase.kind, phrase.colour, start + place * step, level - (height / 2 if floats else height),
              width, height, flipped, number)
        for place in range(phrase.count)
    ]  # fmt: skip


def _alone(setting: str, phrase: Phrase, number: int | None, others: Sequence[Thing], rng: Random) -> list[Thing]:
    """A part's things where they belong, clear of the others."""
    claim = Claim(setting, (phrase,))
    for _ in range(40):
        row = _row(claim, 0, rng.uniform(0.18, 0.82), _level(claim, 0, rng), 0.5, rng)
        if all(_clear(thing, other) for thing in row for other in others):
            return [replace(thing, part=number) for thing in row]
    raise NoRoom


def _clear(one: Thing, other: Thing, gap: float = 0.025) -> bool:
    beside = one.right + gap < other.left or other.right + gap < one.left
    return beside or one.bottom + gap < other.top or other.bottom + gap < one.top
