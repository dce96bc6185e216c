"""Cross-encoders with a head for image-text matching, named by a folder or a transformers hub id.

The score of a pair is the natural logarithm of P(match). Close to 1, logarithms still distinguish pairs that would tie
as float32 probabilities.
"""

from collections.abc import Callable

import torch
from PIL.Image import Image
from transformers import AutoConfig, AutoProcessor, BlipForImageTextRetrieval

from workers.models import device as devices
from workers.models.checkpoints import checked
from workers.models.model_name import ModelName
from workers.models.pairs import Pairs
from workers.models.refusals import CannotScore

Head = Callable[[torch.nn.Module, dict], torch.Tensor]
MATCH = 1  # the index of “match” in the head's two outputs
HEADS: dict[str, tuple[type, Head]] = {  # by architecture name in the config
    "BlipForImageTextRetrieval": (BlipForImageTextRetrieval, lambda model, inputs: model(**inputs).itm_score)
}


def load(model_name: ModelName, device: str) -> "Matching":
    where = devices.chosen(device)
    with devices.loading(model_name.title):
        config = AutoConfig.from_pretrained(model_name.name, trust_remote_code=False)
        named = next((name for name in config.architectures or () if name in HEADS), "")
        if not named:
            made_for = " ".join(config.architectures or ()) or "of no stated kind"
            advice = f"it is {made_for}. Choose one whose config names a {' or '.join(HEADS)}."
            raise CannotScore("WEIGHTS_WRONG", f"“{model_name.title}” has no image-text-matching head: {advice}")
        model_class, head = HEADS[named]
        processor = AutoProcessor.from_pretrained(model_name.name, trust_remote_code=False)
        return Matching(checked(model_class, model_name.name, model_name.title), processor, head, where)


class Matching(Pairs):
    """A loaded model (workers.models.encoder.PairScorer)."""

    def __init__(self, model: torch.nn.Module, processor, head: Head, device: torch.device):
        self.processor, self.head = processor, head
        super().__init__(model, device)

    def inputs(self, images: list[Image], texts: list[str]) -> dict:
        return dict(self.processor(images=images, text=texts, padding=True, truncation=True, return_tensors="pt"))

    def cut(self, text: str) -> list[int] | None:
        tokens, read = (
            self.processor.tokenizer(text, truncation=cut, verbose=False)["input_ids"] for cut in (False, True)
        )
        return read if len(tokens) > len(read) else None

    def log_probabilities(self, inputs: dict) -> torch.Tensor:
        return torch.log_softmax(self.head(self.model, inputs).float(), dim=-1)[:, MATCH]
