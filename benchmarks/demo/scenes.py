"""Places things in a scene so that a claim plainly holds, and nothing covers what it should not.

Lengths are shares of the picture's side, and y grows downwards.
"""

from dataclasses import dataclass, replace
from random import Random

from benchmarks.demo.claims import Claim, Layer, NoRoom, Phrase
from benchmarks.demo.shapes import SPRITES

SMALLEST = 0.035  # smaller things cannot be made out
SURFACE = {"table": 0.10, "box": 0.14}  # how far below its top edge a host carries its guests, as a share of its height
SCALES = {"kitchen": 1.5, "sea": 1.06}  # of the other settings, 1.12
SIZES = {"big": 1.25, "small": 0.6, "": 1.0}


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing in its box. `part` is the number of its phrase in the claim; a bystander's comes after those."""

    kind: str
    colour: str
    left: float
    top: float
    width: float
    height: float
    flipped: bool = False
    part: int = 0

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Scene:
    """`things` from back to front; `seed` decides the backdrop's hills, clouds and the like."""

    setting: str
    things: tuple[Thing, ...]
    seed: int
    hidden: tuple[float, float, float, float] | None = None  # left, top, right and bottom of what is not visible
    damage: str = ""  # "", "smear" or "cut"


def lay_out(claim: Claim, rng: Random, bystander: Phrase | None = None) -> Scene:
    """A random scene in which the claim holds, with a `bystander` that it does not mention if given; or NoRoom."""
    if bystander:
        claim = replace(claim, parts=(*claim.parts, bystander))
    stacked, hosted = claim.relation in ("above", "below"), claim.relation in ("on", "under", "in")
    layout = _stacked if stacked else _hosted if hosted else _side_by_side
    things = layout(claim, rng) if claim.relation else []
    for number in range(2 if claim.relation else 0, len(claim.parts)):
        things += _alone(claim, number, things, rng)
    return Scene(claim.setting, tuple(things), rng.getrandbits(32))


def _side_by_side(claim: Claim, rng: Random) -> list[Thing]:
    order = (1, 0) if claim.relation == "right" else (0, 1)
    level, shift = _level(claim.layer(0), rng), rng.uniform(-0.02, 0.02)
    things = []
    for middle, number in zip((0.27, 0.73), order, strict=True):
        things += _row(claim, number, middle + shift, level + rng.uniform(-0.012, 0.012), 0.42, rng)
    return things


def _stacked(claim: Claim, rng: Random) -> list[Thing]:
    upper, lower = (0, 1) if claim.relation == "above" else (1, 0)
    same = claim.layer(0) == claim.layer(1)
    middle = 0.5 + rng.uniform(-0.16, 0.16)
    things: list[Thing] = []
    for number, place in ((lower, 1 if same else 0), (upper, 0)):
        levels = claim.layer(number).levels
        level = levels[place] + rng.uniform(-0.01, 0.01)
        tallest = levels[-1] - levels[0] - 0.04 if same else 2 * (things[0].top - level - 0.02) if things else 1.0
        things += _row(claim, number, middle + rng.uniform(-0.02, 0.02), level, 0.62, rng, tallest)
    return things


def _hosted(claim: Claim, rng: Random) -> list[Thing]:
    """The host, and its guests on, under or in it."""
    host = _row(claim, 1, 0.5 + rng.uniform(-0.18, 0.18), _level(claim.layer(1), rng), 0.55, rng)[0]
    room = (0.9 if host.kind == "box" else 0.62) * host.width
    middle = (host.left + host.right) / 2 + rng.uniform(-0.02, 0.02)
    if claim.relation == "under":
        return [host, *_row(claim, 0, middle, host.bottom - 0.01, room, rng, 0.68 * host.height)]
    depth = SURFACE[host.kind] if claim.relation == "on" else 0.62
    return [host, *_row(claim, 0, middle, host.top + depth * host.height, room, rng)]


def _level(layer: Layer, rng: Random) -> float:
    return rng.uniform(layer.levels[0], sum(layer.levels) / 2) if layer.floats else layer.levels[0]


def _row(
    claim: Claim, number: int, middle: float, level: float, room: float, rng: Random, tallest: float = 1.0
) -> list[Thing]:
    """The part's things side by side around `middle`, together no wider than `room`, none higher than `tallest`."""
    phrase = claim.parts[number]
    sprite = SPRITES[phrase.kind]
    scale = SCALES.get(claim.setting, 1.12) * SIZES[phrase.size] * rng.uniform(0.93, 1.05)
    scale = min(scale, room / (phrase.count * sprite.width * 1.12), tallest / sprite.height)
    width, height = sprite.width * scale, sprite.height * scale
    if min(width, height) < SMALLEST:
        raise NoRoom
    step = width * 1.14
    start = middle - step * (phrase.count - 1) / 2 - width / 2
    start = min(max(start, 0.03), 0.97 - step * (phrase.count - 1) - width)
    top = level - (height / 2 if claim.layer(number).floats else height)
    flipped = rng.random() < 0.5
    return [
        Thing(phrase.kind, phrase.colour, start + place * step, top, width, height, flipped, number)
        for place in range(phrase.count)
    ]


def _alone(claim: Claim, number: int, others: list[Thing], rng: Random) -> list[Thing]:
    """The part's things where they belong, clear of the others."""
    for _ in range(40):
        row = _row(claim, number, rng.uniform(0.18, 0.82), _level(claim.layer(number), rng), 0.5, rng)
        if all(_are_apart(thing, other) for thing in row for other in others):
            return row
    raise NoRoom


def _are_apart(one: Thing, other: Thing, gap: float = 0.025) -> bool:
    beside = one.right + gap < other.left or other.right + gap < one.left
    return beside or one.bottom + gap < other.top or other.bottom + gap < one.top
