"""Claims in pairs, a positive and a hard negative made by SugarCrepe's seven moves; how a picture can miss a claim.

Pure. Every choice is drawn so that a person sees the difference: two colours that could be taken for each other never
stand against each other, sizes are told of two things of the same kind only.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from benchmarks.demo.scenes import (
    CLOSE,
    COLOURS,
    GUESTS,
    HOSTS,
    REVERSE,
    SETTINGS,
    Claim,
    NoRoom,
    Phrase,
)
from benchmarks.demo.scenes import (
    KINDS as THINGS,
)

KINDS = (
    ("replace", "obj"),
    ("replace", "att"),
    ("replace", "rel"),
    ("swap", "obj"),
    ("swap", "att"),
    ("add", "obj"),
    ("add", "att"),
)
MANY = 0.24  # things up to this width come in twos and threes
SIDES = ("left", "right")
OFF_TABLE = {"on": "under", "under": "on"}


@dataclass(frozen=True, slots=True)
class Pair:
    """`positive` is what the positive picture shows; `said` is what its caption says of that, at most as much."""

    positive: Claim
    said: Claim
    negative: Claim


def compose(kind: tuple[str, str], rng: Random) -> Pair:
    return MAKE[kind](rng)


def far(colour: str, *others: str) -> list[str]:
    """Colours that nobody takes for any of these."""
    given = {colour, *others}
    return [one for one in COLOURS if one not in given and not any(one in pair and pair & given for pair in CLOSE)]


# Claims to begin with


def _colours(rng: Random) -> tuple[str, str]:
    first = rng.choice(COLOURS)
    return first, rng.choice(far(first))


def _side(rng: Random) -> Claim:
    """Two things of one layer side by side."""
    setting, layer = _layer(rng, lambda layer: len(layer.kinds) > 1)
    one, other = rng.sample([kind for kind in layer.kinds if kind != "table"], 2)
    return _claim(setting, one, other, rng.choice(SIDES), rng)


def _stack(rng: Random) -> Claim:
    """Two floating things, one above the other."""
    setting, layer = _layer(rng, lambda layer: layer.floats and len(layer.kinds) > 1)
    one, other = rng.sample(layer.kinds, 2)
    return _claim(setting, one, other, rng.choice(("above", "below")), rng)


def _over(rng: Random) -> Claim:
    """Something that floats over, or swims under, something that stands."""
    name = rng.choice(list(SETTINGS))
    upper, lower = sorted(rng.sample(range(len(SETTINGS[name].layers)), 2))
    if lower - upper > 1:
        upper = lower - 1
    one, other = (rng.choice(SETTINGS[name].layers[number].kinds) for number in (upper, lower))
    if rng.random() < 0.5:
        return _claim(name, one, other, "above", rng)
    return _claim(name, other, one, "below", rng)


def _host(rng: Random) -> Claim:
    """Something on, under or in something else."""
    host = rng.choice(list(HOSTS))
    guest = rng.choice(GUESTS[host])
    setting = rng.choice([name for name in SETTINGS if _in_one_layer(name, host, guest)])
    return Claim(setting, _pair(guest, host, rng), rng.choice(HOSTS[host]))


def _in_one_layer(setting: str, *kinds: str) -> bool:
    return any(set(kinds) <= set(layer.kinds) for layer in SETTINGS[setting].layers)


def _layer(rng: Random, suits: Callable):
    return rng.choice([(name, x) for name, setting in SETTINGS.items() for x in setting.layers if suits(x)])


def _pair(one: str, other: str, rng: Random) -> tuple[Phrase, Phrase]:
    first, second = _colours(rng)
    return Phrase(one, first), Phrase(other, second)


def _claim(setting: str, one: str, other: str, relation: str, rng: Random) -> Claim:
    """Now and then two or three of the first."""
    first, second = _pair(one, other, rng)
    if THINGS[one].width <= MANY and rng.random() < 0.3:
        first = replace(first, count=rng.choice((2, 3)))
    return Claim(setting, (first, second), relation)


def _any(rng: Random) -> Claim:
    return rng.choice((_side, _side, _over, _stack, _host))(rng)


# SugarCrepe's seven moves


def _replace_obj(rng: Random) -> Pair:
    claim = _any(rng)
    number = rng.choice((0, 1)) if claim.relation in REVERSE else 0
    return _same(claim, claim.with_part(number, kind=rng.choice(_other_kinds(claim, number))))


def _replace_att(rng: Random) -> Pair:
    claim = _any(rng)
    number = rng.choice((0, 1))
    return _same(claim, claim.with_part(number, colour=rng.choice(_other_colours(claim, number))))


def _replace_rel(rng: Random) -> Pair:
    claim = rng.choice((_side, _stack, _host))(rng)
    return _same(claim, replace(claim, relation=opposite(claim)))


def _swap_obj(rng: Random) -> Pair:
    claim = rng.choice((_side, _side, _stack))(rng)
    return _same(claim, replace(claim, parts=claim.parts[::-1]))


def _swap_att(rng: Random) -> Pair:
    if rng.random() < 0.3:
        return _swap_size(rng)
    claim = _any(rng)
    return _same(claim, _colours_swapped(claim))


def _swap_size(rng: Random) -> Pair:
    claim = _side(rng)
    kind = rng.choice([part.kind for part in claim.parts])
    claim = claim.with_part(0, kind=kind, size="big", count=1).with_part(1, kind=kind, size="small")
    return _same(claim, claim.with_part(0, size="small").with_part(1, size="big"))


def _add_obj(rng: Random) -> Pair:
    claim = _any(rng)
    layers = free_layers(claim)
    if not layers:
        raise NoRoom
    kind = rng.choice(SETTINGS[claim.setting].layers[rng.choice(layers)].kinds)
    return _same(claim, replace(claim, parts=(*claim.parts, Phrase(kind, rng.choice(COLOURS)))))


def _add_att(rng: Random) -> Pair:
    """The positive caption leaves a colour unsaid; the negative one says another than the picture has."""
    negative = _any(rng)
    number = rng.choice((0, 1))
    positive = negative.with_part(number, colour=rng.choice(_other_colours(negative, number)))
    return Pair(positive, positive.with_part(number, colour=""), negative)


def _same(positive: Claim, negative: Claim) -> Pair:
    return Pair(positive, positive, negative)


MAKE: dict[tuple[str, str], Callable[[Random], Pair]] = dict(
    zip(KINDS, (_replace_obj, _replace_att, _replace_rel, _swap_obj, _swap_att, _add_obj, _add_att), strict=True)
)


# How a picture can miss what a claim says


def contradictions(pair: Pair) -> list[Claim]:
    """What wrong candidates show: each differs from the negative claim in one point, so that it cannot hold.

    Among them, first, is what the positive caption says.
    """
    claim = pair.negative
    found = [pair.positive, *_without_a_part(claim)]
    for number, part in enumerate(claim.parts):
        found.append(claim.with_part(number, colour=_other_colours(claim, number)[0]))
        if part.count > 1:
            found.append(claim.with_part(number, count=part.count - 1))
    if claim.layer(0) == claim.layer(1):
        found.append(replace(claim, relation=opposite(claim)))
    found.append(_colours_swapped(claim))
    return list(dict.fromkeys(found))


def opposite(claim: Claim) -> str:
    """The relation that cannot hold together with the claim's."""
    if claim.parts[1].kind == "table" and claim.relation in OFF_TABLE:
        return OFF_TABLE[claim.relation]
    return REVERSE.get(claim.relation, "left")


def free_layers(claim: Claim) -> list[int]:
    """Layers of the setting in which nothing of the claim is."""
    taken = {claim.layer(number) for number in range(len(claim.parts))}
    return [number for number in range(len(SETTINGS[claim.setting].layers)) if number not in taken]


def _without_a_part(claim: Claim) -> list[Claim]:
    """Without the third part the others keep their relation; without the first or second there is none."""
    if len(claim.parts) > 2:
        return [replace(claim, parts=claim.parts[:2])]
    return [replace(claim, parts=(part,), relation="") for part in claim.parts]


def _colours_swapped(claim: Claim) -> Claim:
    one, other = claim.parts[:2]
    return claim.with_part(0, colour=other.colour).with_part(1, colour=one.colour)


def _other_kinds(claim: Claim, number: int) -> list[str]:
    """What could stand in the same place: of the same layer, or (for a guest) borne by the same host."""
    taken = {part.kind for part in claim.parts}
    layer = SETTINGS[claim.setting].layers[claim.layer(number)].kinds
    allowed = layer if claim.relation in REVERSE else [kind for kind in GUESTS[claim.parts[1].kind] if kind in layer]
    found = [kind for kind in allowed if kind not in taken and _alike(kind, claim.parts[number])]
    if not found:
        raise NoRoom
    return found


def _alike(kind: str, part: Phrase) -> bool:
    return part.count == 1 or THINGS[kind].width <= MANY


def _other_colours(claim: Claim, number: int) -> list[str]:
    """Plainly another colour than the part has, and no other part's."""
    taken = {part.colour for part in claim.parts}
    return [colour for colour in far(claim.parts[number].colour) if colour not in taken]
