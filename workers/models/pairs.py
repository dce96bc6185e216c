"""Common parts of models that score an image and a caption together: loading, batches, memory."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from PIL.Image import Image, fromarray

from workers.contents import Contents
from workers.models import device as devices
from workers.models.halving import Halving
from workers.models.pictures import picture
from workers.models.prefetch import prefetched
from workers.models.refusals import CannotScore

BATCH = {"cpu": 4, "mps": 4, "cuda": 32}  # pairs; fewer if memory runs out
DEPTH = {"cpu": 0, "mps": 1, "cuda": 2}  # batches of images decoded ahead


class Pairs(Halving):
    """A loaded model (workers.models.encoder.PairScorer). Subclasses prepare inputs and compute log probabilities."""

    def __init__(self, model: torch.nn.Module, device: torch.device, **facts):
        super().__init__(BATCH[device.type])
        self.model, self.device = model, device
        sample = self.inputs([sample_image()], [devices.SAMPLE])
        seen = {name: _digest(value) for name, value in sample.items() if isinstance(value, torch.Tensor)}
        self.loaded = devices.describe(model, device, sample=seen, **facts)
        model.to(device)

    def cut(self, text: str) -> list[int] | None:
        """Return None: nothing is truncated, unless a subclass does so."""
        return None

    def inputs(self, images: list[Image], texts: list[str]) -> dict:
        """Return the model's keyword arguments, on the CPU."""
        raise NotImplementedError

    def log_probabilities(self, inputs: dict) -> torch.Tensor:
        """Return log probabilities, shape (pairs,)."""
        raise NotImplementedError

    def scores(self, pairs: Iterable[tuple[Contents, str]]) -> Iterator[np.ndarray]:
        read = lambda pair: (picture(pair[0]), pair[1])  # noqa: E731
        for batch in prefetched(read, pairs, self.most, devices.cores(), DEPTH[self.device.type]):
            with devices.explained("these pairs"):
                yield np.concatenate(self.parts(batch, self.part, "one pair at a time"))

    def part(self, part: list[tuple[Image, str]]) -> np.ndarray:
        inputs = self.inputs([image for image, _ in part], [text for _, text in part])
        placed = {name: value.to(self.device) if hasattr(value, "to") else value for name, value in inputs.items()}
        found = devices.computed(self.device, lambda: self.log_probabilities(placed).float().cpu().numpy())
        if not devices.finite(found):
            raise CannotScore("WEIGHTS_WRONG", "The model returns no numbers for some pairs; its weights are damaged.")
        return found[:, None]


def sample_image() -> Image:
    """Return a fixed gradient, wider than high, so that resizing and cropping show in the fingerprint."""
    values = np.arange(48 * 64 * 3, dtype=np.uint32).reshape(48, 64, 3) % 251
    return fromarray(values.astype(np.uint8))


def _digest(value: torch.Tensor) -> str:
    facts = f"{value.dtype} {tuple(value.shape)}".encode()
    return hashlib.sha256(facts + value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()
