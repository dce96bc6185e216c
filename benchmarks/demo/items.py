"""The demo benchmark: drawn scenes with captions, hard negatives and candidates, the truth known by how they are made.

Pure, and the same for the same seed. An item has a positive caption and its picture, a negative caption of one of
SugarCrepe's seven kinds, and four candidate pictures for the negative caption: of these some are right, some show
something else in one point, some are broken. Names of files are random and tell nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from benchmarks.demo import claims as negatives
from benchmarks.demo.painting import jpeg
from benchmarks.demo.scenes import SETTINGS, Claim, NoRoom, Phrase, Scene, Thing, lay_out
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

CANDIDATES = 4
RIGHT = (0, 1, 1, 1, 2, 2, 2, 3)  # how many candidates are right, drawn from this; an eighth of the items has none
LICENCE, ATTRIBUTION = "CC0-1.0", "Drawn by Winnow"


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """An item with the scene of each of its images, by the image's name."""

    record: ItemRecord
    scenes: Mapping[str, Scene]


class DrawnImages:
    """An image source whose pictures are drawn when they are read."""

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


def drawn_benchmark(count: int, seed: int) -> tuple[list[ItemRecord], DrawnImages]:
    items = [drawn_item(number, seed) for number in range(count)]
    return [item.record for item in items], DrawnImages({n: s for item in items for n, s in item.scenes.items()})


def drawn_item(number: int, seed: int) -> DrawnItem:
    """The item's kind of negative goes round with its number, so that all seven come equally often."""
    rng = Random(f"{seed}/{number}")
    kind = negatives.KINDS[number % len(negatives.KINDS)]
    while True:
        try:
            return _drawn_item(f"scene-{number + 1:04d}", kind, rng)
        except NoRoom:
            continue


def _drawn_item(key: str, kind: tuple[str, str], rng: Random) -> DrawnItem:
    pair = negatives.compose(kind, rng)
    candidates = _candidates(pair, rng)
    pictures = [lay_out(pair.positive, rng), *(scene for scene, _ in candidates)]
    names = [f"{rng.getrandbits(64):016x}.jpg" for _ in pictures]
    right = [f"candidate-{place}" for place, (_, holds) in enumerate(candidates) if holds]
    roles = ["positive"] + ["candidate"] * CANDIDATES
    record = ItemRecord(
        key=key,
        type=kind[0],
        subtype=kind[1],
        captions=(CaptionRecord("positive", str(pair.said)), CaptionRecord("negative", str(pair.negative))),
        images=tuple(ImageRecord(r, n, LICENCE, ATTRIBUTION) for r, n in zip(roles, names, strict=True)),
        truth={
            "bivlc-choose": right or ["none"],
            "bivlc-disambiguate": ["both" if kind[0] == "add" else "positive-0"],  # what only adds leaves all else true
        },
    )
    return DrawnItem(record, dict(zip(names, pictures, strict=True)))


def _candidates(pair: negatives.Pair, rng: Random) -> list[tuple[Scene, bool]]:
    """Four scenes in random order, each with whether the negative caption holds in it."""
    right = rng.choice(RIGHT)
    broken = 1 if right < CANDIDATES and rng.random() < 0.4 else 0
    others = negatives.contradictions(pair)
    wrong = rng.sample(others, k=min(len(others), CANDIDATES - right - broken))
    wrong += rng.choices(others, k=CANDIDATES - right - broken - len(wrong))
    scenes = [(_scene(pair.negative, pair, rng), True) for _ in range(right)]
    scenes += [(_scene(claim, pair, rng), False) for claim in wrong]
    scenes += [(_broken(_scene(pair.negative, pair, rng), rng), False) for _ in range(broken)]
    rng.shuffle(scenes)
    return scenes


def _scene(claim: Claim, pair: negatives.Pair, rng: Random) -> Scene:
    """With something else beside it, now and then: what is not spoken of does not matter."""
    free = negatives.free_layers(pair.negative)
    if free and rng.random() < 0.35:
        kind = rng.choice(SETTINGS[claim.setting].layers[rng.choice(free)].kinds)
        if kind not in {part.kind for part in (*pair.negative.parts, *pair.positive.parts, *claim.parts)}:
            return lay_out(claim, rng, Phrase(kind, rng.choice(negatives.COLOURS)))
    return lay_out(claim, rng)


def _broken(scene: Scene, rng: Random) -> Scene:
    """One part of what the caption names is not to be seen: smeared over, or cut away to the picture's edge."""
    part = rng.choice(sorted({thing.part for thing in scene.things if thing.part is not None}))
    left, top, right, bottom = _around([thing for thing in scene.things if thing.part == part])
    damage = rng.choice(["smear", "cut"])
    if damage == "cut":
        edges: list[Callable] = [
            lambda: (0.0, 0.0, right, 1.0),
            lambda: (left, 0.0, 1.0, 1.0),
            lambda: (0.0, top, 1.0, 1.0),
        ]
        hidden = min((edge() for edge in edges), key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    else:
        hidden = (left, top, right, bottom)
    return replace(scene, hidden=hidden, damage=damage)


def _around(things: list[Thing], margin: float = 0.02) -> tuple[float, float, float, float]:
    left, top = min(thing.left for thing in things), min(thing.top for thing in things)
    right, bottom = max(thing.right for thing in things), max(thing.bottom for thing in things)
    return max(0, left - margin), max(0, top - margin), min(1, right + margin), min(1, bottom + margin)
