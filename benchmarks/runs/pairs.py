"""Pairs of an image and a caption that a benchmark's scores need, for models that read both together.

The score of a pair is stored like a vector (`embeddings`), under a content made from the two.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.models import Embedding, Image, ScoringModel
from benchmarks.predictions.plan import Place, WantedScore
from benchmarks.runs import material

Wanted = Callable[[Mapping[Place, str]], list[WantedScore]]


@dataclass(frozen=True, slots=True)
class Pair:
    """`content`: the pair's; `path`: that of the image's original."""

    content: str
    path: str
    text: str


def of_pair(caption: str, image: str) -> str:
    """Return a pair's content, from those of its caption and image."""
    return hashlib.sha256(f"{image} {caption}".encode()).hexdigest()


def missing_pairs(model: ScoringModel, scope: material.Scope, wanted: Wanted) -> Iterator[Pair]:
    """Yield pairs that this model has not scored yet, in the items' order, a few hundred items in memory at a time."""
    for chunk in scope.chunks():
        asked = _asked(chunk, wanted)
        stored = Embedding.objects.filter(model=model, content__in=list(asked))
        scored = set(stored.values_list("content", flat=True))
        left = {content: parts for content, parts in asked.items() if content not in scored}
        if left:
            yield from _with_files(left, scope.texts(one.item for one in chunk))


def _asked(chunk: list[material.Material], wanted: Wanted) -> dict[str, tuple[str, str]]:
    """Return the contents of captions and images, by the content of their pair."""
    asked = {}
    for one in chunk:
        for score in wanted(one.captions):
            if not score.text and score.one in one.captions and score.other in one.images:
                caption, image = one.captions[score.one], one.images[score.other]
                asked[of_pair(caption, image)] = caption, image
    return asked


def _with_files(asked: dict[str, tuple[str, str]], by_content: Mapping[str, str]) -> Iterator[Pair]:
    shown = Image.objects.filter(sha256__in={image for _, image in asked.values()})
    paths = {image.sha256: image.original_path for image in shown.only("sha256")}
    for content, (caption, image) in asked.items():
        if caption in by_content and image in paths:  # otherwise an import has just replaced it; `compared` reports it
            yield Pair(content, paths[image], by_content[caption])
