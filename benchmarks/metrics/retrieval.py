"""Recall at 1 and at 5, from images to captions and from captions to images; an image may have several captions. Pure.

As reported for COCO and Flickr30k (ARO, Tables 3 and 6; Hard Positive Truth, Table 10). A query from an image is right
at k if one of its own captions is among the first k captions; from a caption, if its image is among the first k images.
A tie is not right: anything scored as high as the best own one is ranked before it. Own captions do not compete with
each other. All shares are between 0 and 1.

An image's captions are separate queries, and the interval treats them as independent, which they are not quite: if
images have several, the truth may lie further out.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from benchmarks.metrics import base
from benchmarks.metrics.base import Figure, Group

PLACES = (1, 5)
DIRECTIONS = ("i2t", "t2i")
MEASURES = tuple(f"{direction}_r{place}" for direction in DIRECTIONS for place in PLACES)
BLOCK = 256  # rows of the table compared at once
Array = np.ndarray


class BadInput(ValueError):
    """The scores cannot be compared; the message explains why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Query:
    """`before`: the number of wrong candidates scored at least as high as the best correct one. `own`: the number of
    correct `candidates`."""

    direction: str
    before: int
    own: int
    candidates: int
    type: str = ""
    subtype: str = ""

    def chance(self, place: int) -> float:
        """Return the probability that random scores put a correct candidate among the first `place`."""
        wrong = self.candidates - self.own
        return 1 - math.comb(wrong, place) / math.comb(self.candidates, place) if place <= self.candidates else 1.0


def queries(
    scores: Array | Sequence[Any], own: Sequence[int], types: Sequence[str] = (), subtypes: Sequence[str] = ()
) -> list[Query]:
    """Return a query for each image, then for each caption. `scores`: shape (images, captions), s(image, caption).
    `own`: for each caption the index of its image. `types` and `subtypes`: one for each image, or none; a caption has
    those of its image.

    Raises BadInput for NaN, a wrong shape, an index without an image, or an image without a caption.
    """
    table = _table(scores)
    images, captions = table.shape
    of = _own(own, images, captions)
    kinds = list(zip(_labels(types, images, "types"), _labels(subtypes, images, "subtypes"), strict=True))
    counts = np.bincount(of, minlength=images)
    by_image, by_caption = _before(table, of)
    found = [
        Query("i2t", before, count, captions, *kind)
        for before, count, kind in zip(by_image.tolist(), counts.tolist(), kinds, strict=True)
    ]
    return found + [
        Query("t2i", before, 1, images, *kinds[image]) for before, image in zip(by_caption.tolist(), of, strict=True)
    ]


def _table(scores: Any) -> Array:
    """Return the table as a float array, without copying one that already is, because such tables are large."""
    if not (isinstance(scores, np.ndarray) and scores.dtype.kind == "f" and scores.ndim == 2):
        try:
            scores = np.asarray(scores, dtype=float)
        except (TypeError, ValueError):
            raise BadInput("The scores are not a table of numbers: images by captions.") from None
    if scores.ndim != 2:
        raise BadInput(f"The scores must have shape (n, n), images by captions, but have {scores.shape}.")
    if np.isnan(scores).any():
        place = ", ".join(map(str, np.argwhere(np.isnan(scores))[0].tolist()))
        raise BadInput(f"s(image, caption) is NaN at place {place} (from 0) and cannot be compared. Leave it out.")
    return cast(Array, scores)


def _labels(given: Sequence[str], n: int, name: str) -> list[str]:
    """Return n texts; empty ones if none were given."""
    if len(given) not in (0, n):
        raise BadInput(f"There are {len(given):,} {name} for {n:,} images; give one for each, or none.")
    return list(given) if len(given) else [""] * n


def _own(own: Sequence[int], images: int, captions: int) -> Array:
    of = np.asarray(own)
    if of.shape != (captions,) or (captions and of.dtype.kind not in "iu"):
        raise BadInput(f"`own` must be a whole number, its image's position, for each of the {captions:,} captions.")
    if captions and not 0 <= of.min() <= of.max() < images:
        raise BadInput(f"`own` names a place without an image; there are {images:,} images, numbered from 0.")
    if lacking := sorted({*range(images)} - {*of.tolist()}):
        raise BadInput(f"The image at place {lacking[0]} has no caption; each needs one.")
    return of.astype(int)


def _before(table: Array, of: Array) -> tuple[Array, Array]:
    """Return, for each image and each caption, the number of wrong candidates ranked before the best correct one."""
    images, captions = table.shape
    right = table[of, np.arange(captions)]
    by_image, by_caption = np.zeros(images, dtype=int), np.zeros(captions, dtype=int)
    for start in range(0, images, BLOCK):
        rows = np.arange(start, min(start + BLOCK, images))
        part, wrong = table[rows], of[None, :] != rows[:, None]
        best = np.where(wrong, -np.inf, part).max(axis=1, initial=-np.inf)
        by_image[rows] = ((part >= best[:, None]) & wrong).sum(axis=1)
        by_caption += ((part >= right[None, :]) & wrong).sum(axis=0)
    return by_image, by_caption


def recalls(found: Iterable[Query]) -> dict[str, Figure]:
    """Return i2t_r1, i2t_r5, t2i_r1, t2i_r5; `chance` is the mean of the queries'."""
    asked: dict[str, list[Query]] = {direction: [] for direction in DIRECTIONS}
    for query in found:
        asked[query.direction].append(query)
    return {
        f"{direction}_r{place}": base.figure((query.before < place for query in own), _chance(own, place))
        for direction, own in asked.items()
        for place in PLACES
    }


def _chance(found: list[Query], place: int) -> float:
    return math.fsum(query.chance(place) for query in found) / len(found) if found else 0.0


def by_type(found: Iterable[Query]) -> list[Group]:
    """Group queries by their images' types, and then subtypes; candidates are those of all types."""
    return base.by_type(found, recalls)
