"""A benchmark's questions for a model: the kind of evaluation, and the scores for each item. Pure.

A score's name is its metric's, `s(c0,i1)`; what it compares is a pair of places, a caption and an image or another
caption. A place is a role and a position: ("negative", 0).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.metrics import aro, bivlc, sugarcrepe, visla
from benchmarks.metrics import hard_positive as hard
from benchmarks.predictions.kinds import ARO, BIVLC, HARD_POSITIVE, KINDS, SUGARCREPE, VISLA

Place = tuple[str, int]
C0, C1, P2 = ("positive", 0), ("negative", 0), ("second_positive", 0)
CAPTION_ROLES = ("positive", "negative", "second_positive")
IMAGE_ROLES = ("positive", "negative")


@dataclass(frozen=True, slots=True)
class WantedScore:
    """A score: `name`, of the caption at `one` with the image, or if `text` the caption, at `other`."""

    name: str
    one: Place
    other: Place
    text: bool = False


def _of_images(names: Iterable[str], captions: Iterable[Place]) -> list[WantedScore]:
    """Return scores of these captions with the positive image."""
    return [WantedScore(name, caption, C0) for name, caption in zip(names, captions, strict=True)]


TEXTS = [
    WantedScore(name, *pair, text=True) for name, pair in zip(visla.TEXTS, ((C0, P2), (C0, C1), (P2, C1)), strict=True)
]
NEGATIVES = [("negative", number) for number in range(aro.PERMUTATIONS)]
WANTED: dict[str, list[WantedScore]] = {
    BIVLC.name: [
        WantedScore(name, caption, image)
        for name, (caption, image) in zip(bivlc.SCORES, ((C0, C0), (C0, C1), (C1, C0), (C1, C1)), strict=True)
    ],
    VISLA.name: TEXTS + _of_images(visla.IMAGES, (C0, P2, C1)),
    HARD_POSITIVE.name: _of_images(hard.SCORES, (C0, P2, C1)),
    SUGARCREPE.name: _of_images(sugarcrepe.SCORES, (C0, C1)),
    ARO.name: _of_images(aro.SCORES, (C0, C1)),
}
ORDER = _of_images(aro.ORDER_SCORES, (C0, *NEGATIVES))  # for an item with this many negative captions


def kind_of(source: str, captions: Iterable[str], images: Iterable[str]) -> str:
    """Return the kind of evaluation for a benchmark: by the format of its first import, with or without “-parquet”; for
    any other format by its items' roles.
    """
    named = {kind.format: name for name, kind in KINDS.items() if name in WANTED}
    if found := named.get(source.removesuffix("-parquet")):
        return found
    if "second_positive" in set(captions):
        return VISLA.name
    return BIVLC.name if {*images} & {"negative", "candidate"} else SUGARCREPE.name


def wanted_scores(kind: str, captions: Mapping[Place, str]) -> list[WantedScore]:
    """Return the scores for an item with these captions."""
    return ORDER if kind == ARO.name and len(captions) > aro.PERMUTATIONS else WANTED[kind]


def compares_captions(kind: str) -> bool:
    """Return whether captions are compared with each other, which a sentence encoder can do."""
    return any(score.text for score in WANTED[kind])
