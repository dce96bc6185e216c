"""Batches that shrink when memory runs out."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from workers.models import device as devices

Made = TypeVar("Made")


class Halving:
    """A model that computes in batches. `most`: items at once; `reduced_to`: the same, once it had to be reduced."""

    def __init__(self, most: int):
        self.most = most
        self.reduced_to: int | None = None

    def parts(self, batch: Any, compute: Callable[[Any], Made], one: str) -> list[Made]:
        """Call `compute` on each part of the batch, a list or a tensor, in order. Raises CannotScore: OUT_OF_MEMORY,
        with the name of `one` item."""
        while True:
            try:
                return [compute(batch[start : start + self.most]) for start in range(0, len(batch), self.most)]
            except (RuntimeError, MemoryError) as error:
                if not devices.out_of_memory(error):
                    raise
                if self.most == 1:
                    raise devices.no_memory(one) from error
                self.most = self.reduced_to = max(1, min(self.most, len(batch)) // 2)
                torch.cuda.empty_cache()
