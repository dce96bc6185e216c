"""The interfaces of loaded models that score and paint. Importing this does not import torch."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from workers.contents import Contents


@dataclass(frozen=True, slots=True)
class Loaded:
    """`fingerprint`: 64 hex digits, equal for two models that give the same vectors. `precision`: float32, or float16
    if the device computes in mixed precision."""

    fingerprint: str
    precision: str
    device: str


class Encoder(Protocol):
    """A loaded model that maps contents to vectors. Both methods yield float32 arrays of shape (batch, dimensions) in
    the order given, with one row per input. Vectors have length 1, so that a dot product is their cosine; those of
    language models, classifiers and detectors have one dimension, the score itself. `reduced_to`: items per batch, if
    memory ran out before."""

    loaded: Loaded
    reduced_to: int | None

    def cut(self, text: str) -> Sequence[int] | None:
        """Return the tokens that the model reads of a caption too long for it, None if it reads all of it."""

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]: ...

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]: ...


class PairScorer(Protocol):
    """A loaded model that reads an image and a caption together. Yields float32 arrays of shape (batch, 1) in the order
    given: the log probability that they match. `reduced_to`: pairs per batch, if memory ran out before."""

    loaded: Loaded
    reduced_to: int | None

    def cut(self, text: str) -> Sequence[int] | None:
        """See Encoder.cut."""

    def scores(self, pairs: Iterable[tuple[Contents, str]]) -> Iterator[np.ndarray]: ...


class Painter(Protocol):
    """A loaded text-to-image pipeline. `settings`: what made the images besides prompts and seeds, for their
    provenance."""

    loaded: Loaded
    settings: dict[str, str]
    reduced_to: int | None

    def images(self, prompts: Iterable[tuple[str, int]], steps: int, guidance: float) -> Iterator[list[bytes | None]]:
        """Yield PNGs for prompts with their seeds, batch by batch in order; None if the pipeline's own safety checker
        withholds one."""
