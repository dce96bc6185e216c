"""Stored encodings: content that has been encoded once is never encoded again.

A content is an image's original bytes or a caption's text, identified by SHA-256; models have fingerprints.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from django.db.models import CharField, Exists, F, Func, OuterRef, QuerySet

from benchmarks.models import Caption, Embedding, Image, ItemImage, ScoringModel

FLOATS = np.dtype("<f4")


class Content(Func):
    """`of_text`, computed by the database."""

    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


def of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def missing_images(model: ScoringModel, uses: QuerySet[ItemImage]) -> QuerySet[Image]:
    """Return the images in these uses that this model has not encoded yet."""
    found = Image.objects.filter(pk__in=uses.values("image")).annotate(content=F("sha256")).order_by("pk")
    return found.exclude(encoded(model))


def missing_texts(model: ScoringModel, captions: QuerySet[Caption]) -> QuerySet:
    """Return the same for captions, each text once: rows of `text` and its `content`."""
    found = captions.annotate(content=Content("text")).order_by("content").values("text", "content").distinct()
    return found.exclude(encoded(model))


def encoded(model: ScoringModel) -> Exists:
    return Exists(Embedding.objects.filter(model=model, content=OuterRef("content")))


def keep(model: ScoringModel, contents: Sequence[str], cuts: Sequence[str] = (), *, vectors: np.ndarray) -> None:
    """Store vectors (float32, of shape (len(contents), dimensions)) with their `Embedding.cut`, by default none.
    Vectors stored by another run in the meantime are kept.
    """
    rows = [
        Embedding(model=model, content=content, vector=vector.tobytes(), cut=cut)
        for content, vector, cut in zip(contents, vectors.astype(FLOATS), cuts or [""] * len(contents), strict=True)
    ]
    Embedding.objects.bulk_create(rows, ignore_conflicts=True)


def fill(
    model: ScoringModel, rows: Iterable[tuple[str, object, str]], encode: Callable[[Iterator], Iterable[np.ndarray]]
) -> Iterator[int]:
    """Encode rows of a content, its input to the model, and its `Embedding.cut`. Vectors are stored batch by batch, and
    survive any later failure. Yields the size of each batch.
    """
    taken: list[tuple[str, str]] = []  # ahead of the vectors: a model reads some batches in advance

    def noted() -> Iterator:
        for content, thing, cut in rows:
            taken.append((content, cut))
            yield thing

    for vectors in encode(noted()):
        done, taken[:] = taken[: len(vectors)], taken[len(vectors) :]
        keep(model, *zip(*done, strict=True), vectors=vectors)
        yield len(done)


def known(model: ScoringModel, contents: Iterable[str]) -> set[str]:
    """Return the contents that this model has encoded."""
    return set(Embedding.objects.filter(model=model, content__in=set(contents)).values_list("content", flat=True))


def cuts(model: ScoringModel, contents: Iterable[str]) -> dict[str, str]:
    """Return `Embedding.cut` by content, for contents whose caption is too long for this model."""
    found = Embedding.objects.filter(model=model, content__in=set(contents)).exclude(cut="")
    return dict(found.values_list("content", "cut"))


def vectors(model: ScoringModel, contents: Iterable[str]) -> dict[str, np.ndarray]:
    """Return vectors by content, shape (dimensions,); missing ones are left out."""
    found = Embedding.objects.filter(model=model, content__in=set(contents)).values_list("content", "vector")
    return {content: np.frombuffer(vector, FLOATS) for content, vector in found}
