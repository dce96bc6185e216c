"""Common parts of models that read only captions and give each one number: batches, padding, truncation."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from workers.contents import Contents
from workers.models import device as devices
from workers.models.halving import Halving
from workers.models.prefetch import batches
from workers.models.refusals import CannotScore

LONGEST = 512  # tokens of a caption


def no_images() -> CannotScore:
    return CannotScore("TEXT_ALONE", "This model reads only captions.")


class TextScorer(Halving):
    """A loaded model (workers.models.encoder.Encoder): vectors of one dimension. Subclasses compute them."""

    special = True  # whether the tokenizer adds its special tokens
    padding = 0  # masked, so any token will do; a tokenizer's own may be beyond the model's embedding

    def __init__(self, model: torch.nn.Module, tokenizer: Any, device: torch.device, most: int, **facts: object):
        super().__init__(most)
        self.tokenizer, self.device = tokenizer, device
        tokens = tokenizer(devices.SAMPLE, add_special_tokens=self.special)["input_ids"]
        self.loaded = devices.describe(model, device, tokens=tokens, **facts)
        self.model = model.to(device)

    def images(self, files: Iterable[Contents]) -> Iterator[np.ndarray]:
        raise no_images()

    def texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        for batch in batches(texts, self.most):
            with devices.explained("these captions"):
                yield np.concatenate(self.parts(batch, self.scores, "one caption at a time"))

    def cut(self, text: str) -> list[int] | None:
        tokens = self.tokenizer(text, add_special_tokens=self.special, verbose=False)["input_ids"]
        return tokens[:LONGEST] if len(tokens) > LONGEST else None

    def scores(self, texts: list[str]) -> np.ndarray:
        """Return scores, shape (len(texts), 1)."""
        rows = self.rows(texts)
        width = max(map(len, rows))
        ids = torch.tensor([row + [self.padding] * (width - len(row)) for row in rows], device=self.device)
        there = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=self.device)
        return devices.computed(self.device, lambda: self.numbers(ids, there))

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens that the model reads of each caption."""
        raise NotImplementedError

    def numbers(self, ids: torch.Tensor, there: torch.Tensor) -> np.ndarray:
        """Return scores; both inputs have shape (texts, tokens); `there` is 1 for tokens and 0 for padding."""
        raise NotImplementedError
