"""The demo benchmark's items: captions, pictures and the truth about them, which is known because scenes are made up.

An item has a positive caption and its picture, a negative caption of one of SugarCrepe's seven types, and four
candidate pictures for the negative caption. Some candidates are right, some contradict the caption in one point, some
are damaged. File names are random and reveal nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from benchmarks.demo import claims
from benchmarks.demo.painting import jpeg
from benchmarks.demo.scenes import Scene, lay_out
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

CANDIDATES = 4
RIGHT = (0, 1, 1, 1, 2, 2, 2, 3)  # the number of right candidates is one of these: an eighth of the items has none
LICENCE, ATTRIBUTION = "CC0-1.0", "Drawn by Winnow"


@dataclass(frozen=True, slots=True)
class DemoItem:
    """An item with the scene of each of its images, by the image's name."""

    record: ItemRecord
    scenes: Mapping[str, Scene]


class DemoImages:
    """An image source for imports; a picture is drawn when it is requested."""

    def __init__(self, scenes: Mapping[str, Scene]):
        self.scenes = scenes

    @property
    def names(self) -> list[str]:
        return list(self.scenes)

    def stream(self, wanted: Iterable[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """Names with JPEG bytes, in the order of the items."""
        only = None if wanted is None else set(wanted)
        for name, scene in self.scenes.items():
            if only is None or name in only:
                yield name, jpeg(scene)


def demo_benchmark(count: int, seed: int) -> tuple[list[ItemRecord], DemoImages]:
    """The first `count` items of the seed's benchmark, and their images."""
    items = [demo_item(number, seed) for number in range(count)]
    return [item.record for item in items], DemoImages({n: s for item in items for n, s in item.scenes.items()})


def demo_item(number: int, seed: int) -> DemoItem:
    """The item of this number, counted from 0. Negatives take their types in turn, so that all are equally frequent."""
    rng = Random(f"{seed}/{number}")
    while True:
        try:
            return _random_item(f"scene-{number + 1:04d}", claims.MOVES[number % len(claims.MOVES)], rng)
        except claims.NoRoom:
            continue


def _random_item(key: str, move: tuple[str, str], rng: Random) -> DemoItem:
    pair = claims.compose(move, rng)
    candidates = _candidates(pair, rng)
    scenes = [lay_out(pair.shown, rng), *(scene for scene, _ in candidates)]
    names = [f"{rng.getrandbits(64):016x}.jpg" for _ in scenes]
    roles = ["positive"] + ["candidate"] * CANDIDATES
    record = ItemRecord(
        key=key,
        type=move[0],
        subtype=move[1],
        captions=(CaptionRecord("positive", str(pair.positive)), CaptionRecord("negative", str(pair.negative))),
        images=tuple(ImageRecord(r, n, LICENCE, ATTRIBUTION) for r, n in zip(roles, names, strict=True)),
        truth={
            "bivlc-choose": [f"candidate-{n}" for n, (_, right) in enumerate(candidates) if right] or ["none"],
            # A negative caption that only adds something leaves the positive caption true.
            "bivlc-disambiguate": ["both" if move[0] == "add" else "positive-0"],
        },
    )
    return DemoItem(record, dict(zip(names, scenes, strict=True)))


def _candidates(pair: claims.Pair, rng: Random) -> list[tuple[Scene, bool]]:
    """Four scenes in random order, each with whether the negative caption is true of it."""
    right = rng.choice(RIGHT)
    damaged = 1 if right < CANDIDATES and rng.random() < 0.4 else 0
    others = claims.contradictions(pair)
    wrong = rng.sample(others, k=min(len(others), CANDIDATES - right - damaged))
    wrong += rng.choices(others, k=CANDIDATES - right - damaged - len(wrong))
    scenes = [(_scene(pair.negative, pair, rng), True) for _ in range(right)]
    scenes += [(_scene(claim, pair, rng), False) for claim in wrong]
    scenes += [(_damage(_scene(pair.negative, pair, rng), pair.negative, rng), False) for _ in range(damaged)]
    rng.shuffle(scenes)
    return scenes


def _scene(claim: claims.Claim, pair: claims.Pair, rng: Random) -> Scene:
    """A scene of the claim, sometimes with a bystander that no caption mentions."""
    free = pair.negative.free_layers
    if free and rng.random() < 0.35:
        kind = rng.choice(rng.choice(free).kinds)
        if kind not in {part.kind for part in (*pair.negative.parts, *pair.shown.parts, *claim.parts)}:
            return lay_out(claim, rng, claims.Phrase(kind, rng.choice(claims.COLOURS)))
    return lay_out(claim, rng)


def _damage(scene: Scene, claim: claims.Claim, rng: Random) -> Scene:
    """The scene with one part of the claim hidden: smeared over, or cut away to the nearest edge of the picture."""
    part = rng.randrange(len(claim.parts))
    things = [thing for thing in scene.things if thing.part == part]
    left = max(0.0, min(thing.left for thing in things) - 0.02)
    top = max(0.0, min(thing.top for thing in things) - 0.02)
    right = min(1.0, max(thing.right for thing in things) + 0.02)
    bottom = min(1.0, max(thing.bottom for thing in things) + 0.02)
    if rng.choice(["smear", "cut"]) == "smear":
        return replace(scene, hidden=(left, top, right, bottom), damage="smear")
    cuts = ((0.0, 0.0, right, 1.0), (left, 0.0, 1.0, 1.0), (0.0, top, 1.0, 1.0))
    return replace(scene, hidden=min(cuts, key=lambda cut: (cut[2] - cut[0]) * (cut[3] - cut[1])), damage="cut")
