"""Pairs of claims that captions make about a scene: a positive one and a hard negative by one of SugarCrepe's moves.

Every choice makes the difference visible to a person: similar colours are never contrasted, and "big" and "small" are
used only for two things of the same kind.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from benchmarks.demo.shapes import SPRITES

MOVES = (
    ("replace", "obj"), ("replace", "att"), ("replace", "rel"), ("swap", "obj"), ("swap", "att"), ("add", "obj"),
    ("add", "att"),
)  # fmt: skip
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
CLOSE = ({"red", "orange"}, {"red", "pink"}, {"orange", "yellow"}, {"blue", "purple"}, {"purple", "pink"})
PLURALS = {"box": "boxes", "fish": "fish"}  # of the others, with an s
COUNTS = {1: "a", 2: "two", 3: "three"}
MANY = 0.24  # things up to this width can be two or three
RELATIONS = {
    "left": "to the left of", "right": "to the right of", "above": "above", "below": "below", "on": "on",
    "under": "under", "in": "in",
}  # fmt: skip
REVERSE = {"left": "right", "right": "left", "above": "below", "below": "above"}
OFF_TABLE = {"on": "under", "under": "on"}
HOSTS = {"table": ("on", "under"), "basket": ("in",), "box": ("on",)}
GUESTS = {"table": ("cup", "ball", "vase", "box"), "basket": ("ball", "vase"), "box": ("ball", "cup")}


class NoRoom(Exception):
    """The claims or the layout drawn at random are impossible; another draw may succeed."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Where kinds of things belong: they stand on one level, or float with their middle between two `levels`."""

    words: str
    kinds: tuple[str, ...]
    levels: tuple[float, ...]

    @property
    def floats(self) -> bool:
        return len(self.levels) == 2


SETTINGS = {  # layers from top to bottom
    "meadow": (
        Layer("in the sky", ("kite", "balloon", "bird"), (0.18, 0.48)),
        Layer("on the grass", ("house", "tree", "ball", "box", "umbrella", "tent", "car", "basket"), (0.86,)),
    ),
    "snow": (
        Layer("in the sky", ("star", "balloon", "bird"), (0.18, 0.48)),
        Layer("on the snow", ("house", "tree", "ball", "box", "tent", "car"), (0.86,)),
    ),
    "sea": (
        Layer("in the sky", ("kite", "balloon", "bird"), (0.15, 0.42)),
        Layer("on the water", ("boat",), (0.62,)),
        Layer("in the water", ("fish",), (0.72, 0.89)),
    ),
    "room": (
        Layer("on the wall", ("clock", "star"), (0.15, 0.42)),
        Layer("on the floor", ("table", "basket", "box", "ball", "lamp", "vase", "cup", "umbrella"), (0.90,)),
    ),
    "kitchen": (
        Layer("on the wall", ("clock", "star"), (0.17, 0.44)),
        Layer("on the table", ("cup", "vase", "ball", "box", "lamp"), (0.87,)),
    ),
}
PLACES = [(setting, layer) for setting, layers in SETTINGS.items() for layer in layers]


@dataclass(frozen=True, slots=True)
class Phrase:
    """For example `two red balls`. Without a colour or a size, it claims nothing about it."""

    kind: str
    colour: str = ""
    count: int = 1
    size: str = ""  # "", "big" or "small"

    def __str__(self) -> str:
        noun = PLURALS.get(self.kind, f"{self.kind}s") if self.count > 1 else self.kind
        words = " ".join(word for word in (self.size, self.colour, noun) if word)
        return f"{'an' if self.count == 1 and words[0] in 'aeiou' else COUNTS[self.count]} {words}"


@dataclass(frozen=True, slots=True)
class Claim:
    """`parts[0]` is in `relation` to `parts[1]`; a third part is present. Without a relation, all are just present."""

    setting: str
    parts: tuple[Phrase, ...]
    relation: str = ""

    def with_part(self, number: int, **changes: Any) -> "Claim":
        parts = list(self.parts)
        parts[number] = replace(parts[number], **changes)
        return replace(self, parts=tuple(parts))

    def layer(self, number: int) -> Layer:
        return layer_of(self.setting, self.parts[number].kind)

    @property
    def free_layers(self) -> list[Layer]:
        """Layers of the setting in which nothing of the claim is."""
        taken = [self.layer(number) for number in range(len(self.parts))]
        return [layer for layer in SETTINGS[self.setting] if layer not in taken]

    def __str__(self) -> str:
        """The caption of a claim that has a relation."""
        subject, thing, *more = self.parts
        sentence = f"{subject} {'are' if subject.count > 1 else 'is'} {RELATIONS[self.relation]} {thing}"
        if more:
            sentence += f", with {more[0]} {self.layer(2).words}"
        return sentence[0].upper() + sentence[1:] + "."


@dataclass(frozen=True, slots=True)
class Pair:
    """The positive picture shows `shown`. Its caption claims `positive`: the same, or less of it."""

    shown: Claim
    positive: Claim
    negative: Claim


def layer_of(setting: str, kind: str) -> Layer:
    return next(layer for layer in SETTINGS[setting] if kind in layer.kinds)


def compose(move: tuple[str, str], rng: Random) -> Pair:
    """A random pair made by one of `MOVES`, a type and a subtype of SugarCrepe; or NoRoom."""
    if move == ("replace", "rel"):
        claim = _random_claim(("beside", "stacked", "hosted"), rng)
        return Pair(claim, claim, replace(claim, relation=_opposite(claim)))
    if move == ("swap", "obj"):
        claim = _random_claim(("beside", "beside", "stacked"), rng)
        return Pair(claim, claim, replace(claim, parts=claim.parts[::-1]))
    if move == ("swap", "att") and rng.random() < 0.3:
        claim = _beside(("left", "right"), rng)
        kind = rng.choice([part.kind for part in claim.parts])
        claim = claim.with_part(0, kind=kind, size="big", count=1).with_part(1, kind=kind, size="small")
        return Pair(claim, claim, claim.with_part(0, size="small").with_part(1, size="big"))

    claim = _random_claim(("beside", "beside", "layered", "stacked", "hosted"), rng)
    if move == ("swap", "att"):
        return Pair(claim, claim, _swap_colours(claim))
    if move == ("add", "obj"):
        kind = rng.choice(_choice(claim.free_layers, rng).kinds)
        return Pair(claim, claim, replace(claim, parts=(*claim.parts, Phrase(kind, rng.choice(COLOURS)))))
    number = 0 if move == ("replace", "obj") and claim.relation not in REVERSE else rng.choice((0, 1))
    if move == ("replace", "obj"):
        return Pair(claim, claim, claim.with_part(number, kind=_choice(_other_kinds(claim, number), rng)))
    changed = claim.with_part(number, colour=rng.choice(_other_colours(claim, number)))
    if move == ("replace", "att"):
        return Pair(claim, claim, changed)
    return Pair(changed, changed.with_part(number, colour=""), claim)  # ("add", "att")


def contradictions(pair: Pair) -> list[Claim]:
    """Claims for wrong candidates: first that of the positive picture, then claims that each contradict the negative
    one in a single point."""
    claim = pair.negative
    found = [pair.shown]
    if len(claim.parts) > 2:
        found.append(replace(claim, parts=claim.parts[:2]))
    else:
        found += [replace(claim, parts=(part,), relation="") for part in claim.parts]
    for number, part in enumerate(claim.parts):
        found.append(claim.with_part(number, colour=_other_colours(claim, number)[0]))
        if part.count > 1:
            found.append(claim.with_part(number, count=part.count - 1))
    if claim.layer(0) == claim.layer(1):
        found.append(replace(claim, relation=_opposite(claim)))
    return list(dict.fromkeys([*found, _swap_colours(claim)]))


def distinct_colours(colour: str) -> list[str]:
    """Colours that nobody mistakes for this one."""
    return [other for other in COLOURS if other != colour and {other, colour} not in CLOSE]


def _random_claim(layouts: tuple[str, ...], rng: Random) -> Claim:
    layout = rng.choice(layouts)
    if layout == "beside":
        return _beside(("left", "right"), rng)
    if layout == "stacked":
        return _beside(("above", "below"), rng)
    if layout == "hosted":
        host = rng.choice(list(HOSTS))
        guest = rng.choice(GUESTS[host])
        setting, _ = rng.choice([place for place in PLACES if {host, guest} <= set(place[1].kinds)])
        return Claim(setting, _phrases(guest, host, rng), rng.choice(HOSTS[host]))
    setting = rng.choice(list(SETTINGS))  # "layered": one in each of two neighbouring layers
    _, lower = sorted(rng.sample(range(len(SETTINGS[setting])), 2))
    kinds = [rng.choice(layer.kinds) for layer in SETTINGS[setting][lower - 1 : lower + 1]]
    if rng.random() < 0.5:
        return _related(setting, kinds[0], kinds[1], "above", rng)
    return _related(setting, kinds[1], kinds[0], "below", rng)


def _beside(relations: tuple[str, str], rng: Random) -> Claim:
    """Two things of one layer; only those that float can be above or below each other."""
    floating = "above" in relations
    setting, layer = rng.choice([p for p in PLACES if len(p[1].kinds) > 1 and (p[1].floats or not floating)])
    one, other = rng.sample([kind for kind in layer.kinds if kind != "table"], 2)
    return _related(setting, one, other, rng.choice(relations), rng)


def _related(setting: str, one: str, other: str, relation: str, rng: Random) -> Claim:
    claim = Claim(setting, _phrases(one, other, rng), relation)
    if SPRITES[one].width <= MANY and rng.random() < 0.3:
        return claim.with_part(0, count=rng.choice((2, 3)))
    return claim


def _phrases(one: str, other: str, rng: Random) -> tuple[Phrase, Phrase]:
    colour = rng.choice(COLOURS)
    return Phrase(one, colour), Phrase(other, rng.choice(distinct_colours(colour)))


def _opposite(claim: Claim) -> str:
    """A relation that cannot hold together with the claim's."""
    if claim.parts[1].kind == "table" and claim.relation in OFF_TABLE:
        return OFF_TABLE[claim.relation]
    return REVERSE.get(claim.relation, "left")


def _swap_colours(claim: Claim) -> Claim:
    one, other = claim.parts[:2]
    return claim.with_part(0, colour=other.colour).with_part(1, colour=one.colour)


def _other_kinds(claim: Claim, number: int) -> list[str]:
    """Kinds that could be in the same place: of the same layer, or guests of the same host."""
    part, others = claim.parts[number], {part.kind for part in claim.parts}
    kinds = claim.layer(number).kinds
    if claim.relation not in REVERSE:
        kinds = tuple(kind for kind in GUESTS[claim.parts[1].kind] if kind in kinds)
    return [kind for kind in kinds if kind not in others and (part.count == 1 or SPRITES[kind].width <= MANY)]


def _other_colours(claim: Claim, number: int) -> list[str]:
    """Colours distinct from the part's that no other part has."""
    taken = {part.colour for part in claim.parts}
    return [colour for colour in distinct_colours(claim.parts[number].colour) if colour not in taken]


def _choice(options: list[Any], rng: Random) -> Any:
    if not options:
        raise NoRoom
    return rng.choice(options)
