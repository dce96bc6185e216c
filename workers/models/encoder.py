"""The interface of a loaded model, and loading one. Importing this does not import torch."""

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np

from workers.contents import Contents
from workers.models.model_name import ModelName, PipelineName, check_device
from workers.models.refusals import CannotScore

MODULES = {
    "open_clip": "workers.models.clip",
    "sentence": "workers.models.sentences",
    "language": "workers.models.language",
    "classifier": "workers.models.classifier",
    "detector": "workers.models.detector",
    "vqa": "workers.models.vqa",
    "itm": "workers.models.itm",
}
INSTALL = "Install them with `make models` (or `pip install -r requirements/models.lock`), then start the worker again."
QUIET = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "true"}


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
        """Return the tokens that the model reads of a caption that is too long for it, None if it reads all of it."""

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]: ...

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]: ...


class PairScorer(Protocol):
    """A loaded model that reads an image and a caption together. Yields float32 arrays of shape (batch, 1) in the order
    given: how well they fit, as a log probability. `reduced_to`: pairs per batch, if memory ran out before."""

    loaded: Loaded
    reduced_to: int | None

    def cut(self, text: str) -> Sequence[int] | None:
        """As of an Encoder."""

    def scores(self, pairs: Iterable[tuple[Contents, str]]) -> Iterator[np.ndarray]: ...


class Painter(Protocol):
    """A loaded text-to-image pipeline. `settings`: what made the images besides prompts and seeds, for their
    provenance."""

    loaded: Loaded
    settings: dict[str, str]
    reduced_to: int | None

    def images(self, prompts: Iterable[tuple[str, int]], steps: int, guidance: float) -> Iterator[list[bytes | None]]:
        """PNGs of prompts with their seeds, batch by batch in their order; None if the pipeline's own safety checker
        withholds one."""


def load(model_name: ModelName, device: str = "auto") -> Encoder | PairScorer:
    """Load a model. Raises CannotScore with one sentence: TORCH_MISSING, MODEL_UNKNOWN, MODEL_UNREACHABLE,
    WEIGHTS_WRONG, QUICKGELU_MISMATCH, DEVICE_MISSING, OUT_OF_MEMORY."""
    return _module(MODULES[model_name.kind], device).load(model_name, device)


def load_painter(pipeline: PipelineName, device: str = "auto") -> Painter:
    """Load a pipeline. Raises CannotScore like `load`."""
    return _module("workers.models.painter", device).load(pipeline, device)


def _module(name: str, device: str) -> ModuleType:
    check_device(device)
    for variable, value in QUIET.items():
        os.environ.setdefault(variable, value)  # law 8: download, but send no telemetry
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = f"The packages for models are not installed here ({error.name or error})."
        raise CannotScore("TORCH_MISSING", f"{missing} {INSTALL}") from error
